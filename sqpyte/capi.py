"""SQLite's C functions and the engine's helpers, for every host, on integer addresses.

Translated, each is an external function that doesn't release the GIL (there is none) and is
linked from the engine's object.  As plain Python they are cffi functions of the library given
to `load`.  The header is c_engine/engine.h.
"""
from sqpyte.mem import TRANSLATED_HOST

# name -> (argument kinds, result kind, may call the VM again)
#   p: pointer, passed as an address; l: 64-bit integer; i: int; d: double
FUNCTIONS = {
    'sqpyte_step_one': ('p', 'i', True),
    'sqpyte_fail': ('pii', '', False),
    'sqpyte_set_null': ('p', '', False),
    'sqpyte_set_int': ('pl', '', False),
    'sqpyte_set_real': ('pd', '', False),
    'sqpyte_set_bytes': ('plli', 'i', False),
    'sqpyte_collation_kind': ('p', 'i', False),
    'sqpyte_aggregate_kind': ('p', 'i', False),
    'sqpyte_aggregate_final': ('pp', 'i', False),
    'sqpyte_compare_bytes': ('llll', 'i', False),
    'sqpyte_compare_nocase': ('llll', 'i', False),
    'sqpyte_compare_rtrim': ('llll', 'i', False),
    'sqpyte_compare_int_real': ('ld', 'i', False),
    'sqpyte_text_to_number': ('llp', 'i', False),
    'sqpyte_compare_numeric_texts': ('llll', 'i', False),
    'sqpyte_concat': ('pllll', 'i', False),
    'sqpyte_sorter_row': ('pp', 'l', False),
    'sqpyte_sorter_insert': ('pp', 'i', False),
    'sqpyte_sorter_next': ('pp', 'i', False),
    'sqpyte_make_record': ('ppli', 'i', False),
    'sqpyte_mode': ('', 'i', False),
    'sqpyte_program_key': ('pll', 'l', False),
    'sqpyte_complain': ('', '', False),
    'sqpyte_set_covered': ('ii', '', False),
    'sqlite3BtreeNext': ('pi', 'i', False),
    'sqlite3BtreeFirst': ('pp', 'i', False),
    'sqlite3BtreeIntegerKey': ('p', 'l', False),
}

if TRANSLATED_HOST:
    import os

    from rpython.rtyper.lltypesystem import lltype, rffi
    from rpython.translator.tool.cbuild import ExternalCompilationInfo

    _ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    eci = ExternalCompilationInfo(
        includes=['engine.h'],
        include_dirs=[os.path.join(_ROOT, 'c_engine')],
        link_files=[os.path.join(_ROOT, 'build', 'engine', 'engine.o')],
        link_extra=['-Wl,-Bsymbolic'],
        libraries=['m', 'pthread', 'dl'])
    _C = {'p': rffi.VOIDP, 'l': rffi.LONG, 'i': rffi.INT, 'd': rffi.DOUBLE, '': lltype.Void}
    _HIGH = {'p': lltype.Signed, 'l': lltype.Signed, 'i': lltype.Signed, 'd': lltype.Float}

    def _declare(name):
        arguments, result, effects = FUNCTIONS[name]
        external = rffi.llexternal(
            name, [_C[kind] for kind in arguments], _C[result], compilation_info=eci,
            releasegil=False, random_effects_on_gcobjs=effects, _nowrapper=True)
        names = ['a%d' % i for i in range(len(arguments))]
        casts = ['a%d' % i if kind in 'ld' else 'cast(T%d, a%d)' % (i, i)
                 for i, kind in enumerate(arguments)]
        call = 'external(%s)' % ', '.join(casts)
        if result == 'i':
            call = 'cast(Signed, %s)' % call
        source = 'def %s(%s):\n    %s%s\n' % (
            name, ', '.join(names), 'return ' if result else '', call)
        space = {'external': external, 'cast': rffi.cast, 'Signed': lltype.Signed}
        for i, kind in enumerate(arguments):
            space['T%d' % i] = _C[kind]
        exec(source, space)
        return space[name]

    _functions = dict((name, _declare(name)) for name in FUNCTIONS)
else:
    _CDEF = {'p': 'intptr_t', 'l': 'int64_t', 'i': 'int', 'd': 'double', '': 'void'}
    library = None

    def declarations():
        """The functions' declarations for cffi (str)."""
        return '\n'.join('%s %s(%s);' % (
            _CDEF[result], name, ', '.join([_CDEF[kind] for kind in arguments]) or 'void')
            for name, (arguments, result, _) in sorted(FUNCTIONS.items()))

    def use(functions):
        """Take the functions from a cffi library object that has these declarations."""
        global library
        library = functions

    def load(path, more=''):
        """Take the functions from the shared library at path (str), which has `more` functions
        (declarations, str) in `library`."""
        from cffi import FFI
        ffi = FFI()
        ffi.cdef(declarations() + more)
        use(ffi.dlopen(path))

    def _declare(name):
        def call(*arguments):
            return getattr(library, name)(*arguments)
        call.__name__ = name
        return call

    _functions = dict((name, _declare(name)) for name in FUNCTIONS)

step_one = _functions['sqpyte_step_one']
fail = _functions['sqpyte_fail']
set_null = _functions['sqpyte_set_null']
set_int = _functions['sqpyte_set_int']
set_real = _functions['sqpyte_set_real']
set_bytes = _functions['sqpyte_set_bytes']
collation_kind = _functions['sqpyte_collation_kind']
aggregate_kind = _functions['sqpyte_aggregate_kind']
aggregate_final = _functions['sqpyte_aggregate_final']
compare_bytes = _functions['sqpyte_compare_bytes']
compare_nocase = _functions['sqpyte_compare_nocase']
compare_rtrim = _functions['sqpyte_compare_rtrim']
compare_int_real = _functions['sqpyte_compare_int_real']
compare_numeric_texts = _functions['sqpyte_compare_numeric_texts']
text_to_number = _functions['sqpyte_text_to_number']
concat = _functions['sqpyte_concat']
sorter_row = _functions['sqpyte_sorter_row']
sorter_insert = _functions['sqpyte_sorter_insert']
sorter_next = _functions['sqpyte_sorter_next']
make_record = _functions['sqpyte_make_record']
mode = _functions['sqpyte_mode']
program_key = _functions['sqpyte_program_key']
complain = _functions['sqpyte_complain']
set_covered = _functions['sqpyte_set_covered']
btree_next = _functions['sqlite3BtreeNext']
btree_first = _functions['sqlite3BtreeFirst']
btree_integer_key = _functions['sqlite3BtreeIntegerKey']
