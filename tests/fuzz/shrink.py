"""Making a failing case small: a simpler case that still fails takes its place, until none does."""
import re
import time

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[\w.?$]+|\|\||->>|->|<=|>=|<>|==|\S")
_PLAIN = {"storage": "memory", "pragmas": [], "threshold": 1}


def shrunk(case, kind, words, seconds=90, checks=800):
    """The smallest failing case that is found, and what is wrong with it.

    Args: case, a failing one; kind, of kinds.py; words, what is wrong with case (str); seconds and checks,
    after how long and how many tries to stop.
    """
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for simpler in kind.smaller(case):
            if checks <= 0 or time.monotonic() > end:
                return case, words
            checks -= 1
            found = kind.check(simpler)
            if found:
                case, words, again = simpler, found, True
                break
    return case, words


def smaller_scripts(script):
    """Scripts that are a step simpler: without runs of actions, with fewer rows, with shorter statements."""
    actions = script["actions"]
    yield from (dict(script, actions=fewer) for fewer in without_runs(actions))
    for name, plain in sorted(_PLAIN.items()):
        if script.get(name) != plain:
            yield dict(script, **{name: plain})
    for i, action in enumerate(actions):
        for simpler in _simpler_actions(action):
            yield dict(script, actions=actions[:i] + [simpler] + actions[i + 1:])


def without_runs(items):
    """The list without each half of it, each quarter, ... each item."""
    size = len(items) // 2 or 1
    while size >= 1 and items:
        for start in range(0, len(items), size):
            yield items[:start] + items[start + size:]
        size = size // 2


def _simpler_actions(action):
    if action[0] == "many":
        for rows in without_runs(action[3]):
            if rows:
                yield action[:3] + (rows,)
        return
    place = {"run": 2, "prepare": 3, "current": 3}.get(action[0])
    if place is None:
        return
    if len(action) > place + 1 and "?" not in action[place]:
        yield action[:place + 1]
    for text in _shorter(action[place]):
        yield action[:place] + (text,) + action[place + 1:]


def _shorter(sql):
    """The statement without runs of words; parentheses stay in pairs."""
    tokens = _TOKEN.findall(sql)
    closing, opened = {}, []
    for i, token in enumerate(tokens):
        if token == "(":
            opened.append(i)
        elif token == ")" and opened:
            closing[opened.pop()] = i
    for start, end in sorted(closing.items(), key=lambda pair: pair[0] - pair[1]):
        if end - start > 2:
            yield " ".join(tokens[:start] + ["1"] + tokens[end + 1:])
            yield " ".join(tokens[:start] + tokens[start + 1:end] + tokens[end + 1:])
    for size in (16, 8, 5, 4, 3, 2, 1):
        for start in range(1, len(tokens) - size + 1):
            piece = tokens[start:start + size]
            if piece.count("(") == piece.count(")"):
                yield " ".join(tokens[:start] + tokens[start + size:])
