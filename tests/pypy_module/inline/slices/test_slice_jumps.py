"""Which opcodes of a slice are done for a row: jumps over them, and single ones in C, which is ahead (slices.py)."""
import pytest

from tests.pypy_module.inline.inlining import at_once_and_one_by_one, compare
from tests.pypy_module.inline.slices.test_slices import joined


@pytest.mark.parametrize('tables', [
    'u', 't JOIN u ON u.x = t.a', 't LEFT JOIN u ON u.x = t.a', 't LEFT JOIN u ON u.x > 60',
    'u LEFT JOIN t ON t.a = u.y'])
@pytest.mark.parametrize('condition', [
    'f(u.y, 1) NOT BETWEEN 40 AND 20', 'f(u.y) < 40 OR f(u.x) > 30', 'f(u.y) > 40 OR u.x > 30 OR f(u.x) = 3',
    'CASE WHEN f(u.y) < 40 THEN f(u.x) > 5 ELSE u.x < 9 END', '(f(u.y) < 40 AND u.x > 3) OR f(u.x) > 60',
    'f(u.y) IN (74, 11) OR f(u.x) > 60', 'NOT (f(u.y) > 9 AND (f(u.x) < 20 OR u.z IS NULL))'])
def test_jumps_over_what_c_has_done(tables, condition):
    """Behind the last jump C computes results, some of them once: a condition that holds early jumps there."""
    def action(side):
        connection, calls = joined(side)
        return [connection.execute('SELECT %s FROM %s WHERE %s' % (result, tables, condition)).fetchall()
                for result in ("rtrim('41')", 'abs(-4), u.z', "f(u.x), rtrim('x ')", 'upper(u.z), u.y + 1',
                               "coalesce(f(u.y), 'none'), ltrim(' y')")] + [calls]
    # Not where u is the outer table, or a condition in the middle of an expression decides on a call.
    compare(action, inlined=tables != 't JOIN u ON u.x = t.a' and ('CASE' not in condition or tables == 'u'))


@pytest.mark.parametrize('query', [
    'SELECT {} FROM t JOIN u ON u.x = t.a WHERE t.b > 5 OR f(u.y) > 40',
    'SELECT {} FROM t LEFT JOIN u ON u.x = t.a WHERE (t.b > 5 AND u.z > 1) OR u.y IS NULL OR f(u.x) > f(u.y)',
    'SELECT {}, CASE WHEN t.b > 5 THEN f(t.a) ELSE u.y END FROM t JOIN u ON u.x = t.a',
    'SELECT {}, CASE t.b WHEN 3 THEN u.y WHEN u.x THEN 8 WHEN 5 THEN f(t.a) END FROM t LEFT JOIN u ON u.x = t.a',
    'SELECT {}, coalesce(u.y, f(t.a)), ifnull(u.z, 1 + f(u.x)) FROM t LEFT JOIN u ON u.x = t.a',
    'SELECT s(CASE WHEN t.b > 5 THEN f(t.a) ELSE u.x END), sum(u.y) FROM t LEFT JOIN u ON u.x = t.a',
    'SELECT count(CASE WHEN u.z > 1 AND t.a THEN f(t.b) ELSE t.a END), count(u.y) FROM t LEFT JOIN u ON u.x = t.b',
    'SELECT {}, count(*) FROM t JOIN u ON u.x = t.a WHERE t.b > 5 OR f(u.y) > 40 GROUP BY 1',
    'SELECT CASE WHEN t.b > 5 THEN f(t.a) ELSE u.y END, count(*), max(u.x) FROM t JOIN u ON u.x = t.a GROUP BY 1',
    'SELECT {} FROM t JOIN u ON u.x = t.a WHERE t.b > 5 OR f(u.y) > 40 ORDER BY u.z, u.y'])
@pytest.mark.parametrize('result', ['u.y', "f(u.z), rtrim('x ')", 'upper(u.z), t.c, f(1)'])
def test_what_skips_the_first_call(query, result):
    """A jump before the first call leads behind it, for some of the rows."""
    compare(at_once_and_one_by_one(joined, query.format(result), 20), oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT t.a FROM t JOIN u ON u.x = t.a WHERE f(t.c) < lower(f(t.c))',
    'SELECT t.a, u.y FROM t CROSS JOIN u ON u.x = t.a WHERE f(u.z) < hex(f(t.c)) AND f(u.y) > abs(f(u.x))',
    'SELECT -CASE WHEN f(t.a) < 5 THEN t.c WHEN f(t.b) > 7 THEN u.z ELSE t.b END, t.b FROM t JOIN u ON u.x = t.a',
    'SELECT -CASE (SELECT b FROM t WHERE a = b) WHEN f(t.a) THEN t.a WHEN f(0.0) THEN t.c END, u.y FROM t JOIN u '
    'ON u.x = t.a',
    "SELECT 5 FROM u LEFT JOIN t ON t.a = u.y WHERE f(u.z) NOT BETWEEN 1e300 AND instr(f(u.x), 'x')",
    'SELECT sum(abs(f(u.y))), count(*), max(lower(f(t.c))) FROM t JOIN u ON u.x = t.a',
    'SELECT upper(sum(f(typeof(t.a)))), total(f(u.y)) FROM u LEFT JOIN t ON t.a = u.y',
    'SELECT hex(f(u.z)), typeof(f(u.y)), f(t.c), abs(f(u.y)) FROM t JOIN u ON u.x = t.a'])
def test_opcodes_that_c_does_keep_the_registers_ahead(query):
    """C is ahead of a Python call, and its registers have the next row's values: one opcode in between changes none."""
    compare(at_once_and_one_by_one(joined, query, 20), oracle='C')
