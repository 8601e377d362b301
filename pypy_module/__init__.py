"""SQPyte's DB-API 2.0 module, a drop-in for sqlite3 on cffi; `import sqpyte` is its public name."""
