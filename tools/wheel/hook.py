"""What hatchling runs before it makes a wheel: builds the library, stages the tree, and says what the wheel fits.

`pip install .` links for this system; `make wheel` sets SQPYTE_GLIBC, and the wheel then fits every system with that
version of glibc or a newer one. Where there is neither a translated VM nor a Python 2.7 to make one with, the wheel has
the engine alone, and pip shows that with -v. An editable installation uses the checkout as it stands.
"""

import os
import platform
import sys
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_LINUX = 'sqpyte: it is built on Linux, and this is %s. A container or a virtual machine with Linux does.'
ENGINE_ALONE = ('This wheel has the engine without the VM: there is no translated VM, and none can be made here. '
                'Queries run in C; under PyPy loops over rows are inlined all the same.')


class Hook(BuildHookInterface):
    """Hatchling makes one for a build."""

    # What a build stages is in a folder of its own, since two may run at once. Hatchling packs it after `initialize`,
    # and calls `finalize` only if that succeeds; else the folder goes with this process.
    folder = None

    def initialize(self, version, build_data):
        """Build what the wheel holds; hatchling's interface."""
        if platform.system() != 'Linux':
            raise SystemExit(NOT_LINUX % platform.system())
        sys.path.insert(0, ROOT)
        from c_engine.build import build as engine
        if engine.main(['all']):
            raise SystemExit('sqpyte: the C engine could not be built; the reason is above')
        if version == 'editable':
            return
        from tools.wheel import linking, staging
        glibc = os.environ.get('SQPYTE_GLIBC', '')
        vm = linking.translation()
        if vm is None:
            self.app.display_warning(ENGINE_ALONE)
        parent = os.path.join(engine.Paths().build, 'wheel')
        os.makedirs(parent, exist_ok=True)
        self.folder = tempfile.TemporaryDirectory(dir=parent)
        library = os.path.join(self.folder.name, linking.SONAME)
        linking.link(library, glibc, vm)
        tree = os.path.join(self.folder.name, 'tree')
        staging.stage(ROOT, tree, library)
        build_data['pure_python'] = False
        system = 'manylinux_' + glibc.replace('.', '_') if glibc else 'linux'
        build_data['tag'] = 'py3-none-%s_%s' % (system, platform.machine())
        build_data['force_include'][os.path.join(tree, 'sqpyte')] = 'sqpyte'

    def finalize(self, version, build_data, artifact_path):
        """Leave the tree of the last build in build/wheel, for `python -m benchmarks`, and delete what else was staged;
        hatchling's interface."""
        if self.folder is None:
            return
        kept = os.path.join(os.path.dirname(self.folder.name), 'tree')
        try:
            if os.path.exists(kept):
                os.rename(kept, os.path.join(self.folder.name, 'old'))
            os.rename(os.path.join(self.folder.name, 'tree'), kept)
        except OSError:
            pass            # another build has put its tree there in between
        self.folder.cleanup()
        self.folder = None
