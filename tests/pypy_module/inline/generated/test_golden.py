"""The generated Python of a few queries is what golden/ has; a change shows in a review, line by line."""
import pytest

from tests.pypy_module.inline.generated.golden_source import QUERIES, path, sources


@pytest.mark.parametrize('name', QUERIES)
def test_generated_source(name):
    with open(path(name)) as file:
        head, _, expected = file.read().partition('\n\n')
    assert head == '-- ' + QUERIES[name]
    assert sources(QUERIES[name]) == expected, (
        'the generated code has changed; if that is meant: python -m tests.pypy_module.inline.generated.golden_source')
