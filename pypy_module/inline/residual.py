"""A call that PyPy's JIT makes, but doesn't follow; elsewhere an ordinary one."""

try:
    from pypyjit import residual_call
except ImportError:
    def residual_call(function, *arguments):
        """Call a function, where there is no JIT to hide it from."""
        return function(*arguments)

__all__ = ['residual_call']
