"""The wheel in Debian systems that have nothing but Python: what users of other versions meet.

Only in `make test-all`, as root: debootstrap makes the systems, in build/bare. They have no network: what pip needs
is taken along.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.extent import everything
from tests.pypy_module.dbapi import test_cpython_suite as own_tests
from tools import environments
from tools.environments import BUILD

# Suite: its interpreters, by Debian's names, with the versions that sid and the others have now.
SYSTEMS = {'bookworm': ['python3', 'pypy3'], 'trixie': ['python3', 'pypy3'], 'sid': ['python3.14', 'pypy3']}
# Of a CPython that test_native.py may not find on this machine: the package that has its own tests.
TESTS = {'python3.14': 'libpython3.14-testsuite'}
MIRROR = 'http://deb.debian.org/debian'
PLATFORMS = ['manylinux_2_28_x86_64', 'manylinux2014_x86_64', 'manylinux_2_17_x86_64']
PROGRAM = '''
import sqpyte, sys
connection = sqpyte.connect('/tmp/test.db')
connection.create_function('twice', 1, lambda x: 2 * x)
print(sqpyte.backend, connection.execute('SELECT twice(21)').fetchall(), sys.version_info[:2])
'''

pytestmark = pytest.mark.skipif(not everything() or os.getuid() != 0,
                                reason='make test-all runs it, as root: it makes whole systems')


@pytest.fixture(scope='module', params=sorted(SYSTEMS))
def system(request):
    """(suite, the folder of its system)."""
    folder = os.path.join(BUILD, 'bare', request.param)
    packages = [package for name in SYSTEMS[request.param] for package in (name, name + '-venv')]
    packages += [TESTS[name] for name in SYSTEMS[request.param] if name in TESTS]
    if environments.read(os.path.join(folder, 'made')) != repr(packages):
        if shutil.which('debootstrap') is None:
            subprocess.run(['apt-get', 'install', '--yes', '--no-install-recommends', 'debootstrap'], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(['debootstrap', '--variant=minbase', '--include=' + ','.join(packages), request.param, folder,
                        MIRROR], check=True)
        environments.write(os.path.join(folder, 'made'), repr(packages))
    return request.param, folder


def run(folder, command):
    """What a shell command prints in a system (str)."""
    environment = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root'}
    process = subprocess.run(['chroot', folder, 'sh', '-c', command], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert process.returncode == 0, process.stdout
    return process.stdout


def install(folder, name, wheel_file):
    """Install the wheel in a system, for one of its interpreters; return its python, and its version ('3.11')."""
    wheels = os.path.join(folder, 'wheels')
    shutil.rmtree(wheels, ignore_errors=True)
    os.makedirs(wheels)
    shutil.copy(wheel_file, wheels)
    # The last word: PyPy warns that there is no /proc.
    version = run(folder, "%s -c 'import sys; print(*sys.version_info[:2], sep=\".\")'" % name).split()[-1]
    if not name.startswith('pypy'):
        command = [sys.executable, '-m', 'pip', 'download', '--quiet', '--only-binary', ':all:', '--implementation',
                   'cp', '--python-version', version, '--dest', wheels, 'cffi']
        subprocess.run(command + [word for one in PLATFORMS for word in ('--platform', one)], check=True)
    python = '/venv-%s/bin/python' % name
    run(folder, 'rm -rf /venv-{0} && {0} -m venv /venv-{0} && {1} -m pip install --quiet --no-index --find-links '
                '/wheels sqpyte'.format(name, python))
    return python, version


def test_it_installs_and_runs(system, wheel_file):
    suite, folder = system
    for name in SYSTEMS[suite]:
        python, version = install(folder, name, wheel_file)
        pypy = name.startswith('pypy')
        said = run(folder, python + ' -m sqpyte --self-test')
        assert 'self-test: passed' in said and ('inliner' in said) == pypy, said
        with open(os.path.join(folder, 'program.py'), 'w') as file:
            file.write(PROGRAM)
        backend, rows = ('cffi', 'sqlite3')[not pypy], '[(42,)]'
        assert '%s %s (%s)' % (backend, rows, version.replace('.', ', ')) in run(folder, python + ' /program.py')
        if name in TESTS:
            said = run(folder, 'cd /tmp && %s -m sqpyte run -m test test_sqlite3' % python)
            assert 'Result: SUCCESS' in said, said


def test_pythons_own_tests_under_pypy(system, wheel_file):
    """Those of the CPython of its version, if there is one on this machine: PyPy comes without."""
    _, folder = system
    python, version = install(folder, 'pypy3', wheel_file)
    here = {'%d.%d' % of: path for of, path in environments.find_cpythons()}
    library = own_tests.library_of(here[version]) if version in here else None
    if library is None:
        pytest.skip('needs a CPython %s with its tests' % version)
    shutil.rmtree(os.path.join(folder, 'own'), ignore_errors=True)
    for part in ('test/support', 'test/test_sqlite3', 'sqlite3/test'):
        if os.path.exists(os.path.join(library, part)):
            shutil.copytree(os.path.join(library, part), os.path.join(folder, 'own', part))
    shutil.copy(own_tests.RUNNER, os.path.join(folder, 'own'))
    for module in own_tests.MODULES:
        own_tests.judge(module, run(folder, 'cd /tmp && %s /own/%s /own %s' % (
            python, os.path.basename(own_tests.RUNNER), module)))
