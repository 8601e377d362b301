"""The addresses in the VM's data: taken out of the dynamic linker's table, and written by the library itself."""
import ctypes
import os
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c_engine.build import flags
from tests.structure import ROOT
from tools import late_relocations as late

# Nodes close together and far apart, an address of another library, one that isn't aligned, and the VM's C code.
PROGRAM = r'''
#include <stdint.h>
#include <stdlib.h>
typedef uint64_t u64;
typedef uintptr_t uptr;
#include "vm/late_relocations.c"
#define COUNT 3000
struct Node { struct Node *next; long number; struct Node *self; long far[5]; };
static struct Node nodes[COUNT] = { NODES };
struct { void *foreign; struct Node *own; } both = {&abort, nodes};
struct __attribute__((packed)) { char c; struct Node *node; } odd = {1, &nodes[3]};
struct Node *list(void){ return nodes; }
void *foreign(void){ return both.foreign==(void*)&abort ? both.own : 0; }
void *unaligned(void){ return odd.node; }
void start(void){ sqpyteRelocateVm(); }
/* How many nodes have the addresses that they should have. */
int right(void){
  int i, n = 0;
  for(i=0; i<COUNT; i++){
    n += nodes[i].next==&nodes[(i*7+1)%COUNT] && nodes[i].self==(i%50 ? 0 : &nodes[i]) && nodes[i].number==i;
  }
  return n;
}
'''
COUNT = 3000


@pytest.fixture(scope='module')
def linked(tmp_path_factory):
    """A library of PROGRAM, linked as the product's is."""
    folder = tmp_path_factory.mktemp('late')
    nodes = ', '.join('{nodes+%d, %d, %s}' % ((i * 7 + 1) % COUNT, i, '0' if i % 50 else 'nodes+%d' % i)
                      for i in range(COUNT))
    (folder / 'program.c').write_text(PROGRAM.replace('NODES', nodes))
    made, separated, library = str(folder / 'a.o'), str(folder / 'b.o'), str(folder / 'library.so')
    subprocess.run(flags.compiler() + flags.COMPILE + ['-I', os.path.join(ROOT, 'c_engine'), '-c', '-o', made,
                                                       str(folder / 'program.c')], check=True)
    late.separate(made, separated)
    subprocess.run(flags.compiler() + flags.LINK + ['-o', library, separated], check=True)
    return library


def read(path):
    with open(path, 'rb') as file:
        return bytearray(file.read())


def loaded(path):
    found = ctypes.CDLL(str(path))
    for name in 'list', 'foreign', 'unaligned':
        getattr(found, name).restype = ctypes.c_void_p
    return found


def test_the_library_writes_what_the_linker_would_have(linked, tmp_path):
    assert loaded(linked).right() == COUNT      # as it was linked: the dynamic linker does it all
    path = tmp_path / 'late.so'
    path.write_bytes(read(linked))
    assert late.take_out(str(path)) > COUNT
    found = loaded(path)
    assert found.unaligned() == found.list() + 3 * 64
    assert found.right() == 0
    found.start()
    assert found.right() == COUNT and found.foreign() == found.list()


def test_what_is_left_to_the_linker_is_what_was_not_moved(linked):
    before, after = read(linked), read(linked)
    count = late.moved(after)
    sections = late.sections(after)
    words, data = sections[late.LIST], sections[late.DATA]
    places = late.decoded(struct.unpack_from('<%dQ' % (words.size // 8), after, words.offset))
    assert len(places) == count

    def table(content):
        section = late.sections(content)['.rela.dyn']
        return list(late.RELOCATION.iter_unpack(bytes(content[section.offset:section.offset + section.size])))
    moved = [entry for entry in table(before) if entry not in table(after)]
    assert [place for place, _, _ in moved] == places
    assert {what for _, what, _ in moved} == {late.RELATIVE}
    for place, _, number in moved:
        assert struct.unpack_from('<q', after, data.offset + place - data.address) == (number,)
    assert any(place % late.WORD and data.address <= place < data.address + data.size for place, _, _ in table(after))


def test_a_library_that_is_not_as_expected_is_left_as_it_is(linked, tmp_path):
    content = read(linked)
    late.moved(content)
    with pytest.raises(late.NotMoved, match='list isn\'t empty'):
        late.moved(content)
    small = read(linked)
    header = late.sections(small)[late.LIST].header
    struct.pack_into('<Q', small, header + late.SIZE_IN_HEADER, 80)
    for broken, said in [(small, 'has room for 9 words'), (bytearray(b'text'), 'no 64-bit little-endian ELF'),
                         (read('/proc/self/exe'), 'no section sqpyte_vm_data')]:
        path = tmp_path / 'broken'
        path.write_bytes(broken)
        with pytest.raises(late.NotMoved, match=said):
            late.take_out(str(path))
        assert read(path) == broken


@given(st.lists(st.one_of(st.integers(0, 400), st.integers(0, 1 << 20)), unique=True).map(sorted))
def test_a_list_holds_all_places(numbers):
    places = [late.WORD * (number + 1) for number in numbers]
    words = late.encoded(places)
    assert late.decoded(words) == places
    assert all(words) and len(words) <= 2 * len(places) and not any(word >> 64 for word in words)
