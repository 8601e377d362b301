"""Generated SQL expressions, as text, over the columns c0, c1, ... and the parameters ?1 to ?3."""
import functools

from hypothesis import strategies as st

from tests.differential.generate.values import literal, short_values

PARAMETERS = 3

ARITHMETIC = ["+", "-", "*", "/", "%", "||", "+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>"]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"]
SCALARS = [
    "abs({0})", "length({0})", "typeof({0})", "upper({0})", "lower({0})", "hex({0})",
    "quote({0})", "coalesce({0}, {1})", "ifnull({0}, {1})", "nullif({0}, {1})",
    "substr({0}, 2, 3)", "substr({0}, {1})", "instr({0}, {1})", "round({0})", "round({0}, 1)",
    "min({0}, {1})", "max({0}, {1})", "unicode({0})", "trim({0})", "replace({0}, {1}, 'r')",
    "iif({0}, {1}, 5)", "sign({0})", "zeroblob(length({0}) % 5)", "json_quote({0})", "echo({0})",
    "printf('%d %s %f', {0}, {1}, {0})", "json_array({0}, json('[1]'))", "likely({0})",
    "unhex({0})", "octet_length({0})", "concat({0}, {1})", "floor({0})", "substr({0}, -2, {1})",
    "date({0})", "strftime('%Y', {0})", "lower(substr({0}, 2))", "upper({0}) || lower({1})",
    "like('%' || {1} || '%', {0})", "min({0}, {1}, 'b')", "instr({0} || {1}, {1})",
]
CASTS = ["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"]


def weighted(*choices):
    """One of the strategies, each as likely as its weight says.

    st.one_of would take the alternatives of nested alternatives for its own.
    Args: choices, pairs (weight, strategy).
    """
    many = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.sampled_from(many).flatmap(lambda strategy: strategy)


@functools.lru_cache(maxsize=None)
def expressions(columns, depth=3):
    """A scalar expression.

    Args: columns, their names (tuple of str); depth, how deep operators nest (int).
    """
    column = st.sampled_from(columns)
    leaf = weighted((6, column), (2, short_values.map(literal)),
                    (1, st.integers(1, PARAMETERS).map("?{}".format)))
    if depth == 0:
        return leaf
    inner = expressions(columns, depth - 1)
    condition = conditions(columns, depth - 1)
    build = st.builds
    return weighted(
        (3, leaf),
        (3, build("({0} {1} {2})".format, inner, st.sampled_from(ARITHMETIC), inner)),
        (3, build("({0} {1} {2})".format, inner, st.sampled_from(ARITHMETIC), leaf)),
        (2, condition),
        (1, build("({0} {1})".format, st.sampled_from("-+~"), inner)),
        (1, build("CASE WHEN {0} THEN {1} ELSE {2} END".format, condition, inner, leaf)),
        (1, build("CASE {0} WHEN {1} THEN {2} WHEN {3} THEN 1 END".format,
                  inner, leaf, leaf, column)),
        (1, build("CAST({0} AS {1})".format, inner, st.sampled_from(CASTS))),
        (2, build(lambda form, a, b: form.format(a, b), st.sampled_from(SCALARS), inner, leaf)),
        (1, build("({0} COLLATE {1})".format, column,
                  st.sampled_from(["NOCASE", "RTRIM", "BINARY"]))))


@functools.lru_cache(maxsize=None)
def conditions(columns, depth=2):
    """A condition: comparisons, and their combinations."""
    column = st.sampled_from(columns)
    inner = expressions(columns, depth)
    leaf = expressions(columns, 0)
    build = st.builds
    negation = st.sampled_from(["", "NOT "])
    patterns = ["'a%'", "'%1%'", "'%a%b%'", "'a%b'", "'%B'", "'_'", "'%'", "''", "?1", "'A_'", "'\u00e9%'"]
    choices = [
        (3, build("({0} {1} {2})".format, inner, st.sampled_from(COMPARISONS), leaf)),
        (3, build("({0} {1} {2})".format, column, st.sampled_from(COMPARISONS), leaf)),
        (1, build("({0} {1})".format, inner, st.sampled_from(["IS NULL", "IS NOT NULL"]))),
        (1, build("({0} {1}BETWEEN {2} AND {3})".format, inner, negation, leaf, leaf)),
        (1, build("({0} {1}IN ({2}))".format, inner, negation,
                  st.lists(leaf, max_size=4).map(", ".join))),
        (1, build("({0} {1}LIKE {2})".format, column, negation, st.sampled_from(patterns))),
        (1, build("({0} {1}GLOB {2})".format, column, negation,
                  st.sampled_from(["'a*'", "'*1*'", "'?'", "'[a-c]*'", "'*a*b'"]))),
        (1, build("({0} IS {1})".format, column, st.sampled_from(["TRUE", "NOT FALSE"]))),
        (1, inner),
    ]
    if depth > 0:
        deeper = conditions(columns, depth - 1)
        choices += [
            (2, build("({0} {1} {2})".format, deeper, st.sampled_from(["AND", "OR", "OR"]), deeper)),
            (1, build("(NOT {0})".format, deeper)),
        ]
    return weighted(*choices)


@functools.lru_cache(maxsize=None)
def aggregates(columns, depth=1):
    """An aggregate call, with DISTINCT and FILTER at times."""
    inner = expressions(columns, depth)
    call = st.builds(
        "{0}({1}{2})".format,
        st.sampled_from(["count", "sum", "total", "avg", "min", "max", "sum", "avg", "min", "max"]),
        st.sampled_from(["", "", "", "DISTINCT "]), inner)
    plain = weighted(
        (4, call), (1, st.just("count(*)")),
        (3, st.builds("{0}({1})".format, st.sampled_from(["sum", "avg", "min", "max", "total"]),
                      st.sampled_from(columns))),
        (1, st.builds("group_concat({0}{1})".format, st.sampled_from(["", "DISTINCT "]), inner)))
    filtered = st.builds("{0} FILTER (WHERE {1})".format, plain, conditions(columns, 1))
    combined = st.builds("({0} {1} {2})".format, plain,
                         st.sampled_from(["+", "-", "*", "/", "||", "<", "IS"]), plain)
    return weighted((4, plain), (1, filtered), (1, combined))
