"""The built site on a server of its own, and a headless Chromium that looks at it."""

import functools
import http.server
import os
import shutil
import threading

import pytest

from tests.conftest import product

PROGRAMS = ('chromium-headless-shell', 'chromium', 'google-chrome')
NO_BROWSER = 'no Chromium (%s) is on PATH: tools/install.sh browser installs Debian\'s' % ', '.join(PROGRAMS)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope='session')
def site(paths):
    """The folder of the built site (str)."""
    return os.path.dirname(product(os.path.join(paths.build, 'site', 'index.html'), 'site'))


@pytest.fixture(scope='session')
def address(site):
    """Where the site is served (str)."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=site))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield 'http://127.0.0.1:%d/' % server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope='session')
def browser():
    """A browser (playwright's)."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        # Its sandbox can't be had by root, nor in many containers; the pages are ours.
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        yield browser
        browser.close()
