"""The C engine: upstream SQLite, obtained, checked, edited and built.

`python -m c_engine.build` does all of it. Nothing here is imported by a running SQPyte except the
generated constants in `c_engine.generated`, which are plain integers and lists and import under
Python 2.7 too.
"""
