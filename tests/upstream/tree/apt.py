"""Gets source packages from Debian's archive without touching the machine's own package lists.

The machine's apt configuration says where its mirror is, which keyring signs it and by which proxy it
is reached. A private folder holds everything else: source lists, indices, state. So no root is needed,
and what is downloaded is checked by apt itself: signature of the release, hash of its index, hash of
the file.
"""

import glob
import os
import re
import subprocess

SUITES = ['bookworm', 'trixie', 'sid']
DEFAULT_MIRROR = 'http://deb.debian.org/debian'
DEFAULT_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

ONE_LINE = re.compile(r'^deb(?:-src)?\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)$')
SIGNED_BY = re.compile(r'\bsigned-by=(\S+)')


class Unavailable(Exception):
    """A package can't be had from the archive; the message says why."""


def read(path):
    """Return the text of the file at `path`."""
    with open(path, errors='replace') as file:
        return file.read()


def entries(etc='/etc/apt'):
    """Return the machine's sources of packages as a list of (address, suites, keyring or None).

    Args:
        etc: apt's configuration folder; one-line and deb822 files are read.
    """
    found = []
    lists = sorted(glob.glob(os.path.join(etc, 'sources.list.d', '*')))
    for path in [os.path.join(etc, 'sources.list')] + lists:
        if path.endswith('.list') and os.path.isfile(path):
            for line in read(path).splitlines():
                match = ONE_LINE.match(line)
                if match:
                    signed = SIGNED_BY.search(match.group(1) or '')
                    found.append((match.group(2), [match.group(3)], signed and signed.group(1)))
        elif path.endswith('.sources'):
            for stanza in re.split(r'\n\s*\n', read(path)):
                fields = dict(re.findall(r'^([\w-]+):[ \t]*(.*)$', stanza, re.MULTILINE))
                for address in fields.get('URIs', '').split():
                    found.append((address, fields.get('Suites', '').split(), fields.get('Signed-By') or None))
    return found


def mirror(etc='/etc/apt'):
    """Return (address, keyring) of the Debian mirror that this machine uses, or of the usual one."""
    for address, suites, keyring in entries(etc):
        if set(suites) & set(SUITES) and not address.rstrip('/').endswith('-security'):
            return address, keyring or DEFAULT_KEYRING
    return DEFAULT_MIRROR, DEFAULT_KEYRING


class Archive:
    """Debian's source packages, by way of a private apt.

    Args:
        directory: a folder for apt's files; it is made.
    """

    def __init__(self, directory):
        self.directory = os.path.abspath(directory)
        lists = os.path.join(self.directory, 'lists')
        cache = os.path.join(self.directory, 'cache')
        for folder in (os.path.join(lists, 'partial'), os.path.join(cache, 'archives', 'partial')):
            os.makedirs(folder, exist_ok=True)
        sources = os.path.join(self.directory, 'sources.list')
        self.address, keyring = mirror()
        with open(sources, 'w') as file:
            for suite in SUITES:
                file.write('deb-src [signed-by=%s] %s %s main\n' % (keyring, self.address, suite))
        self._options = []
        for name, value in [('Dir::Etc::sourcelist', sources), ('Dir::Etc::sourceparts', '/dev/null'),
                            ('Dir::State::lists', lists), ('Dir::Cache', cache),
                            ('APT::Get::List-Cleanup', '0'), ('APT::Sandbox::User', '')]:
            self._options += ['-o', '%s=%s' % (name, value)]

    def _run(self, program, arguments, directory=None):
        command = [program] + self._options + arguments
        try:
            process = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT)
        except OSError as error:
            raise Unavailable('%s: %s' % (program, error)) from error
        said = process.stdout.decode('utf-8', 'replace')
        if process.returncode:
            raise Unavailable('`%s %s` failed: %s' % (program, ' '.join(arguments),
                                                     ' / '.join(said.strip().splitlines()[-5:])))
        return said

    def update(self):
        """Get the indices of source packages. Raises Unavailable."""
        self._run('apt-get', ['update'])

    def versions(self, package):
        """Return {Debian version: {file name: sha256}} of a source package in the suites."""
        found = {}
        for stanza in re.split(r'\n\s*\n', self._run('apt-cache', ['showsrc', '--only-source', package])):
            version = re.search(r'^Version: (\S+)$', stanza, re.MULTILINE)
            name = re.search(r'^Package: (\S+)$', stanza, re.MULTILINE)
            if version and name and name.group(1) == package:
                sums = re.findall(r'^ ([0-9a-f]{64}) \d+ (\S+)$', stanza, re.MULTILINE)
                found[version.group(1)] = {file: digest for digest, file in sums}
        if not found:
            raise Unavailable('no source package %s in %s of %s' % (package, ', '.join(SUITES), self.address))
        return found

    def download(self, package, version, directory):
        """Download a source package's files into a folder; apt checks them. Raises Unavailable."""
        self._run('apt-get', ['source', '--download-only', '--only-source', '%s=%s' % (package, version)],
                  directory)
