"""Programs for tests of the analyses: opcodes by name."""
from c_engine.generated import opcodes
from sqpyte.vm.program.decode import Op


def made(ops):
    """Return the Ops of a program.

    Args: ops, a sequence of (name, p1, p2, p3, p5).
    """
    return [Op(getattr(opcodes, 'OP_' + name), p1, p2, p3, p5) for name, p1, p2, p3, p5 in ops]
