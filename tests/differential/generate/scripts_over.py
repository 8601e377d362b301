"""Scripts over one module's tables: its rows and statistics, and statements of its grammar."""
from hypothesis import strategies as st

from tests.differential.sessions.scripts import script

PRAGMAS = ["PRAGMA cache_size=3", "PRAGMA page_size=512", "PRAGMA automatic_index=OFF",
           "PRAGMA reverse_unordered_selects=ON"]


@st.composite
def scripts_over(draw, module, pragmas=()):
    """A script.

    Args: module, which has SCHEMA (list of statements), contents() (a strategy of actions) and statements (a strategy
        of texts); pragmas, more of them than all scripts may have.
    """
    actions = [("run", 0, text) for text in module.SCHEMA] + draw(module.contents())
    actions += [("run", 0, text) for text in draw(st.lists(module.statements, min_size=1, max_size=8))]
    chosen = draw(st.lists(st.sampled_from(PRAGMAS + list(pragmas)), max_size=2, unique=True))
    return script(actions, pragmas=chosen, threshold=draw(st.sampled_from([1, 1, 2, 5])))
