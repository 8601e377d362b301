"""The site's files: links lead somewhere, nothing comes from elsewhere, each public name has its place."""

import glob
import html.parser
import json
import os
import re
import subprocess
import urllib.parse

import pytest

pytest.importorskip('mkdocs', reason='in build/site-env: `make test-site`')

from tools.environments import ROOT
from tools.site import api, hooks, pages

PYPY = os.path.join(ROOT, 'build', 'pypy-env', 'bin', 'python')
# Of each public name what it has, for a class its public names.
PUBLIC = '''
import json, sqpyte
from pypy_module import public
found = {name: getattr(sqpyte, name) for name in public.__all__}
print(json.dumps({name: [inside for inside in dir(value) if not inside.startswith("_") and
                         not hasattr(Exception, inside)] if isinstance(value, type) else []
                  for name, value in found.items() if not name.startswith("SQLITE_")}))
'''


class Reader(html.parser.HTMLParser):
    """Reads a page.

    Attributes:
        links: where it leads (list of str).
        parts: what a browser loads for it (list of str).
        anchors: the places in it that can be led to (set of str).
        text: what can be read (list of str).
    """

    def __init__(self, path):
        super().__init__()
        self.links, self.parts, self.anchors, self.text = [], [], {''}, []
        with open(path, encoding='utf-8') as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ('id', 'name') if found.get(name)}
        if tag == 'a' and 'href' in found:
            self.links.append(found['href'])
        elif tag == 'link' and found.get('rel') not in ('canonical', 'next', 'prev') and 'href' in found:
            self.parts.append(found['href'])
        elif 'src' in found:
            self.parts.append(found['src'])

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope='session')
def read(site):
    """By its name each page (dict of Reader)."""
    paths = glob.glob(os.path.join(site, '**', '*.html'), recursive=True)
    return {os.path.relpath(path, site): Reader(path) for path in paths}


def test_every_link_leads_somewhere(read, site):
    links, wrong = 0, []
    for name, page in read.items():
        for link in page.links + page.parts:
            target = urllib.parse.urlsplit(link)
            if target.scheme in ('http', 'https', 'mailto'):
                continue
            path = urllib.parse.unquote(target.path)
            # The page that a server shows for one that isn't there may be anywhere: its links begin at the root.
            folder = '' if path.startswith('/') else os.path.dirname(name)
            other = os.path.normpath(os.path.join(folder, path.lstrip('/'))) if path else name
            links += 1
            if other == '.':
                other = 'index.html'
            known = read[other].anchors if other in read else {''}
            if not os.path.isfile(os.path.join(site, other)) or urllib.parse.unquote(target.fragment) not in known:
                wrong.append('%s: %s' % (name, link))
    assert wrong == [] and links > 1000


def test_all_parts_are_the_sites_own(read):
    assert {part for page in read.values() for part in page.parts if '//' in part} == set()


def test_every_page_is_in_the_navigation(read):
    expected = {page.replace('.md', '.html') for page in pages.titles()}
    assert set(read) == expected | {'404.html'}


def test_each_public_name_has_its_place(read):
    found = json.loads(subprocess.run([PYPY, '-c', PUBLIC], stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout)
    anchors = {anchor for name, page in read.items() if name.startswith('reference/') for anchor in page.anchors}
    listed = set(re.findall(r'`(\w+)`', pages.CONSTANTS))
    missing = [name for name in found if 'sqpyte.' + name not in anchors and name not in listed]
    ours = [name for name, page in pages.REFERENCE.items() for name in page[2]]
    # The exceptions' classes are a Connection's attributes, too.
    missing += ['%s.%s' % (name, inside) for name in found if name in ours for inside in found[name]
                if 'sqpyte.%s.%s' % (name, inside) not in anchors and inside not in found
                and inside not in ''.join(read[place(name)].text)]
    assert missing == [] and {'connect', 'explain'} < set(found)
    assert 'execute' in found['Connection'] and 'sqpyte.Connection.set_authorizer' in anchors


def place(name):
    """The page (str) of the reference that describes a name."""
    return next(page for page, what in pages.REFERENCE.items() if name in what[2]).replace('.md', '.html')


def test_signatures_are_those_of_the_sources(read):
    def text(name):
        return ''.join(''.join(read['reference/%s.html' % name].text).split())

    assert 'explain(connection,sql,/)' in text('tiers')
    assert 'configure(*,vm=None,threshold=None,memory=None,inline=None,without=None,)' in text('tiers')
    assert 'execute(sql,parameters=(),/)' in text('connections')
    assert 'uri=False,*,autocommit=LEGACY_TRANSACTION_CONTROL,)' in text('connections')


@pytest.mark.parametrize('page, text, expected', [
    ('index.md', '[docs/vm.md](docs/vm.md#x)', '[The VM](vm.md#x)'),
    ('index.md', '[its names](docs/environment.md)', '[its names](environment.md)'),
    ('architecture.md', '[CONTRIBUTING.md](../CONTRIBUTING.md)', '[Contributing](contributing.md)'),
    ('storage.md', '[x.h](../core/validity.h)', 'x.h'),
    ('storage.md', '[x.h](../core/absent.h)', '[x.h](../core/absent.h)'),
    ('vm.md', '[here](#a) [there](https://example.org/a.md)', '[here](#a) [there](https://example.org/a.md)'),
    ('vm.md', '    [code](opcodes.md)', '    [code](opcodes.md)'),
    ('vm.md', '```\n[code](opcodes.md)\n```\n[x](opcodes.md)', '```\n[code](opcodes.md)\n```\n[x](opcodes.md)'),
    ('index.md', '* a:\n    * b\n      [docs/vm.md](docs/vm.md)', '* a:\n    * b\n      [The VM](vm.md)'),
])
def test_links_of_the_repository_become_the_sites(page, text, expected):
    assert hooks.linked(text, page) == expected


def test_docstrings_become_googles():
    text = api.markdown('Do it.\n\nArgs:\n    a, b: numbers.\nReturns:\n    one\n    of them.\nRaises:\n    Error: no.')
    assert text == ('Do it.\n\nArgs:\n    a,\xa0b: numbers.\n\n**Returns:** one of them.\n\nRaises:\n    Error: no.')
