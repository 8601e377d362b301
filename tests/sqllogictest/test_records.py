"""The parser of scripts: records, their lines, and what isn't in the format."""

import pytest

from tests.sqllogictest import records
from tests.sqllogictest.records import FormatError, Halt, HashThreshold, Query, Statement


def parsed(text):
    """The records of a script given as a text."""
    return list(records.parse(text.split('\n')))


def test_statements():
    assert parsed('statement ok\nSELECT 1\n\n\n# no\n#yes\nstatement error\na\nb # c\n# d') == [
        Statement(1, [], True, 'SELECT 1'), Statement(7, [], False, 'a\nb # c\n# d')]


def test_queries():
    assert parsed('query TI rowsort label-1\nSELECT 1,\n2\n----\n1\n2\n\nquery R\nSELECT 1\n') == [
        Query(1, [], 'TI', 'rowsort', 'label-1', 'SELECT 1,\n2', ['1', '2']),
        Query(8, [], 'R', 'nosort', None, 'SELECT 1', None)]


def test_an_empty_answer_is_an_answer():
    assert parsed('query I nosort\nSELECT 1\n----')[0].expected == []


def test_whitespace_at_the_end_of_a_line_is_nothing():
    assert parsed('query I nosort x  \r\nSELECT 1 \r\n----\r\n1\r\n \r\nhalt\r\n') == [
        Query(1, [], 'I', 'nosort', 'x', 'SELECT 1', ['1']), Halt(6, [])]


def test_conditions_are_the_next_records_alone():
    found = parsed('onlyif mysql # why\nskipif sqlite\nquery I rowsort\nSELECT 1\n\nhash-threshold 8\n'
                   '\n# none\nonlyif sqlite\n\nhalt')
    assert found == [
        Query(3, [('onlyif', 'mysql'), ('skipif', 'sqlite')], 'I', 'rowsort', None, 'SELECT 1',
              None),
        HashThreshold(6, [], 8), Halt(11, [('onlyif', 'sqlite')])]
    assert [records.applies(record) for record in found] == [False, True, True]


@pytest.mark.parametrize('conditions, applies', [
    ([('skipif', 'sqlite')], False), ([('skipif', 'mysql')], True), ([('onlyif', 'sqlite')], True),
    ([('onlyif', 'mysql')], False), ([('onlyif', 'sqlite'), ('skipif', 'sqlite')], False)])
def test_what_is_left_to_sqlite(conditions, applies):
    assert records.applies(Halt(1, conditions)) is applies


@pytest.mark.parametrize('text, message', [
    ('statement\nSELECT 1', 'line 1: `statement` takes ok or error'),
    ('statement maybe\nSELECT 1', 'line 1: `statement` takes ok or error'),
    ('statement ok\n\nSELECT 1', 'line 1: a statement without SQL'),
    ('query\nSELECT 1', 'line 1: `query` takes types'),
    ('query X nosort\nSELECT 1', 'line 1: `query` takes types'),
    ('query I sorted\nSELECT 1', 'line 1: after its types'),
    ('query I nosort a b\nSELECT 1', 'line 1: after its types'),
    ('query I nosort\n----\n1', 'line 1: a query without SQL'),
    ('halt\n\nSELECT 1\n', 'line 3: no record begins with "SELECT"'),
    ('halt\nSELECT 1\n', 'line 2: no record begins with "SELECT"'),
    ('hash-threshold\n', 'line 1: `hash-threshold` takes a number'),
    ('hash-threshold many\n', 'line 1: `hash-threshold` takes a number'),
    ('onlyif\nhalt', 'line 1: `onlyif` takes an engine')])
def test_other_lines_are_refused(text, message):
    with pytest.raises(FormatError) as caught:
        parsed(text)
    assert str(caught.value).startswith(message)
