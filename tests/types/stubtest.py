"""mypy's stubtest, on PyPy, too, which has no symtable module and no sizes of objects."""
import sys
import types

if sys.implementation.name == 'pypy':
    sys.modules['symtable'] = types.ModuleType('symtable')
    sys.modules['symtable'].__dict__.update(SymbolTable=object)

from mypy import stubtest  # noqa: E402

if sys.implementation.name == 'pypy':
    stubtest._module_symbol_table = lambda runtime: None
    stubtest._verify_disjoint_base = lambda stub, runtime, path: iter(())

sys.exit(stubtest.main())
