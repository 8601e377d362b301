"""SQLite's C functions and the engine's helpers, for every host, on integer addresses.

Translated, each is an external function that doesn't release the GIL (there is none) and is
linked from the engine's object.  As plain Python they are cffi functions of the library given
to `load`.  The header is c_engine/core/engine.h.
"""
from sqpyte.vm.base.mem import TRANSLATED_HOST

# name -> (argument kinds, result kind)
#   p: pointer, passed as an address; l: 64-bit integer; i: int; d: double
FUNCTIONS = {
    'sqpyte_step_one': ('pi', 'i'),
    'sqpyte_until_progress': ('p', 'l'),
    'sqpyte_count_steps': ('pl', ''),
    'sqpyte_progress': ('pl', 'i'),
    'sqpyte_fail': ('pii', ''),
    'sqpyte_set_null': ('p', ''),
    'sqpyte_set_int': ('pl', ''),
    'sqpyte_set_bytes': ('plli', 'i'),
    'sqpyte_collation_kind': ('p', 'i'),
    'sqpyte_aggregate_kind': ('p', 'i'),
    'sqpyte_compare_bytes': ('llll', 'i'),
    'sqpyte_compare_nocase': ('llll', 'i'),
    'sqpyte_compare_rtrim': ('llll', 'i'),
    'sqpyte_compare_int_real': ('ld', 'i'),
    'sqpyte_text_to_number': ('llip', 'i'),
    'sqpyte_compare_numeric_texts': ('lllli', 'i'),
    'sqpyte_concat': ('pllll', 'i'),
    'sqpyte_sorter_row': ('pp', 'l'),
    'sqpyte_sorter_insert': ('pp', 'i'),
    'sqpyte_sorter_next': ('pp', 'i'),
    'sqpyte_make_record': ('ppli', 'i'),
    'sqpyte_seek_rowid': ('plp', 'i'),
    'sqpyte_finish_seek': ('pp', 'i'),
    'sqpyte_known_row': ('pp', 'i'),
    'sqpyte_seek_table': ('plip', 'i'),
    'sqpyte_seek_index': ('ppiip', 'i'),
    'sqpyte_seek_exact': ('pppi', 'i'),
    'sqpyte_last': ('p', 'i'),
    'sqpyte_is_empty': ('p', 'i'),
    'sqpyte_null_row': ('pi', ''),
    'sqpyte_filter_text': ('ll', 'l'),
    'sqpyte_filter_bit': ('pli', 'i'),
    'sqpyte_function_kind': ('pi', 'i'),
    'sqpyte_function': ('pi', 'i'),
    'sqpyte_agg_step': ('pi', 'i'),
    'sqpyte_agg_result': ('pi', 'i'),
    'sqpyte_memoize': ('pi', 'i'),
    'sqpyte_memoize_store': ('pi', ''),
    'sqpyte_lend': ('plli', ''),
    'sqpyte_type_name': ('i', 'l'),
    'sqpyte_fold': ('plli', 'i'),
    'sqpyte_text_length': ('ll', 'l'),
    'sqpyte_substr': ('llillp', 'l'),
    'sqpyte_instr': ('lllli', 'l'),
    'sqpyte_round': ('dl', 'd'),
    'sqpyte_iso_date': ('ll', 'i'),
    'sqpyte_prepare_pattern': ('llil', 'i'),
    'sqpyte_match_prepared': ('lll', 'i'),
    'sqpyte_like': ('lllli', 'i'),
    'sqpyte_bytes_to_number': ('lliip', 'i'),
    'sqpyte_number_to_text': ('p', 'i'),
    'sqpyte_rowset_add': ('pl', 'i'),
    'sqpyte_rowset_next': ('pp', 'i'),
    'sqpyte_rowset_test': ('pil', 'i'),
    'sqpyte_mode': ('', 'i'),
    'sqpyte_memory_limit': ('', 'l'),
    'sqpyte_note_memory': ('llll', ''),
    'sqpyte_program_key': ('pll', 'l'),
    'sqpyte_complain': ('', ''),
    'sqpyte_left_in_c': ('i', 'i'),
    'sqpyte_numbers_in_mem': ('', 'i'),
    'sqpyte_may_seek': ('p', 'i'),
    'sqlite3BtreeNext': ('pi', 'i'),
    'sqlite3BtreePrevious': ('pi', 'i'),
    'sqlite3BtreeFirst': ('pp', 'i'),
    'sqlite3BtreeIntegerKey': ('p', 'l'),
}
# What runs the VM within the VM: a trigger's program. No other function does: a statement that a callback runs finds
# the VM taken (engine.c), so that RPython's objects are after a call as they were before.
REENTERS = 'sqpyte_step_one'

if TRANSLATED_HOST:
    import os

    from rpython.rtyper.lltypesystem import lltype, rffi
    from rpython.translator.tool.cbuild import ExternalCompilationInfo

    _ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..', '..'))
    eci = ExternalCompilationInfo(
        includes=['core/engine.h'],
        include_dirs=[os.path.join(_ROOT, 'c_engine')],
        link_files=[os.path.join(_ROOT, 'build', 'engine', 'engine.o')],
        link_extra=['-Wl,-Bsymbolic'],
        libraries=['m', 'pthread', 'dl'])
    _C = {'p': rffi.VOIDP, 'l': rffi.LONG, 'i': rffi.INT, 'd': rffi.DOUBLE, '': lltype.Void}
    _HIGH = {'p': lltype.Signed, 'l': lltype.Signed, 'i': lltype.Signed, 'd': lltype.Float}

    def _declare(name):
        arguments, result = FUNCTIONS[name]
        external = rffi.llexternal(
            name, [_C[kind] for kind in arguments], _C[result], compilation_info=eci,
            releasegil=False, random_effects_on_gcobjs=name == REENTERS, _nowrapper=True)
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
            for name, (arguments, result) in sorted(FUNCTIONS.items()))

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
until_progress = _functions['sqpyte_until_progress']
count_steps = _functions['sqpyte_count_steps']
progress = _functions['sqpyte_progress']
fail = _functions['sqpyte_fail']
set_null = _functions['sqpyte_set_null']
set_int = _functions['sqpyte_set_int']
set_bytes = _functions['sqpyte_set_bytes']
collation_kind = _functions['sqpyte_collation_kind']
aggregate_kind = _functions['sqpyte_aggregate_kind']
function_kind = _functions['sqpyte_function_kind']
function = _functions['sqpyte_function']
agg_step = _functions['sqpyte_agg_step']
agg_result = _functions['sqpyte_agg_result']
memoize = _functions['sqpyte_memoize']
memoize_store = _functions['sqpyte_memoize_store']
lend = _functions['sqpyte_lend']
type_name = _functions['sqpyte_type_name']
fold = _functions['sqpyte_fold']
text_length = _functions['sqpyte_text_length']
substr = _functions['sqpyte_substr']
instr = _functions['sqpyte_instr']
round_real = _functions['sqpyte_round']
iso_date = _functions['sqpyte_iso_date']
prepare_pattern = _functions['sqpyte_prepare_pattern']
match_prepared = _functions['sqpyte_match_prepared']
like = _functions['sqpyte_like']
bytes_to_number = _functions['sqpyte_bytes_to_number']
number_to_text = _functions['sqpyte_number_to_text']
rowset_add = _functions['sqpyte_rowset_add']
rowset_next = _functions['sqpyte_rowset_next']
rowset_test = _functions['sqpyte_rowset_test']
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
memory_limit = _functions['sqpyte_memory_limit']
note_memory = _functions['sqpyte_note_memory']
program_key = _functions['sqpyte_program_key']
complain = _functions['sqpyte_complain']
left_in_c = _functions['sqpyte_left_in_c']
numbers_in_mem = _functions['sqpyte_numbers_in_mem']
may_seek = _functions['sqpyte_may_seek']
seek_rowid = _functions['sqpyte_seek_rowid']
finish_seek = _functions['sqpyte_finish_seek']
known_row = _functions['sqpyte_known_row']
seek_table = _functions['sqpyte_seek_table']
seek_index = _functions['sqpyte_seek_index']
seek_exact = _functions['sqpyte_seek_exact']
last = _functions['sqpyte_last']
is_empty = _functions['sqpyte_is_empty']
null_row = _functions['sqpyte_null_row']
filter_text = _functions['sqpyte_filter_text']
filter_bit = _functions['sqpyte_filter_bit']
btree_previous = _functions['sqlite3BtreePrevious']
btree_next = _functions['sqlite3BtreeNext']
btree_first = _functions['sqlite3BtreeFirst']
btree_integer_key = _functions['sqlite3BtreeIntegerKey']
