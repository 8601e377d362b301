"""The inliner: loops of queries as Python classes, which PyPy's JIT traces."""
