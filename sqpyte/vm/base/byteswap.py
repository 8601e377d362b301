"""Swapping the bytes of a word: one instruction in traces.

The integers and reals of records are big-endian, and RPython's JIT has no operation that swaps bytes: three
rounds of mask and shift are 13 operations for each column read, a tenth of what a scan's trace did for a
row.  A function with an oopspec is a call that the JIT's parts know by number, elidable, and which its x86
backend may replace by an instruction: so it does with math.sqrt, and so with this one, which is added here to
the number's makers.  The other backends inline the masks and shifts.

Only while RPython translates; mem.py imports it then.
"""
from rpython.jit.backend.detect_cpu import MODEL_X86_64, autodetect
from rpython.rlib.rarithmetic import intmask, r_uint


def byteswap(word):
    """The word (a Signed) with its eight bytes in the opposite order."""
    x = r_uint(word)
    x = ((x & r_uint(0x00FF00FF00FF00FF)) << 8) | ((x >> 8) & r_uint(0x00FF00FF00FF00FF))
    x = ((x & r_uint(0x0000FFFF0000FFFF)) << 16) | ((x >> 16) & r_uint(0x0000FFFF0000FFFF))
    return intmask((x << 32) | (x >> 32))


if autodetect() == MODEL_X86_64:
    from rpython.jit.backend.x86 import assembler, regalloc, rx86
    from rpython.jit.backend.x86.regloc import RegLoc
    from rpython.jit.codewriter import support
    from rpython.jit.codewriter.effectinfo import EffectInfo
    from rpython.jit.codewriter.jtransform import Transformer
    from rpython.jit.metainterp.resoperation import rop

    byteswap.oopspec = 'sqpyte.byteswap(word)'
    OS_BYTESWAP = 130
    assert OS_BYTESWAP not in [getattr(EffectInfo, name) for name in dir(EffectInfo)
                               if name.startswith('OS_')]

    # 48 0F C8+r
    _bswap = rx86.insn(rx86.rex_w, '\x0F', rx86.register(1), '\xC8')
    _builtin_call = Transformer.handle_builtin_call
    _real_call = regalloc.RegAlloc._consider_real_call.im_func

    def handle_builtin_call(self, op):
        """The codewriter: a call of byteswap has its number."""
        name, args = support.decode_builtin_call(op)
        if name == 'sqpyte.byteswap':
            return self._handle_oopspec_call(op, args, OS_BYTESWAP,
                                             EffectInfo.EF_ELIDABLE_CANNOT_RAISE)
        return _builtin_call(self, op)

    def consider_call_i(self, op):
        """The register allocator: a call with that number takes a register and gives it back."""
        effects = op.getdescr().get_extra_info()
        assert effects is not None
        if effects.oopspecindex == OS_BYTESWAP:
            place = self.rm.force_result_in_reg(op, op.getarg(1))
            self.perform_math(op, [place], place)
            return
        _real_call(self, op)

    def genop_byteswap(self, op, arglocs, resloc):
        """The assembler."""
        assert isinstance(resloc, RegLoc)
        _bswap(self.mc, resloc.value)

    Transformer.handle_builtin_call = handle_builtin_call
    regalloc.oplist[rop.CALL_I] = consider_call_i
    assembler.genop_math_list[OS_BYTESWAP] = genop_byteswap
