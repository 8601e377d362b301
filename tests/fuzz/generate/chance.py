"""Seeded choices, and grammars whose rules are texts with holes.

A rule is a text such as "({e} + {l})"; what stands in braces is the name of another rule, which is
filled in until the depth is spent.  Everything drawn comes from one `Chance`, so that a seed stands
for a script.
"""
import bisect
import itertools
import random
import re

_HOLE = re.compile(r"\{(\w+)\}")


class Chance(random.Random):
    """A source of choices. Args: seed, a text (str)."""

    def pick(self, items):
        """One of a sequence."""
        return items[int(self.random() * len(items))]

    def one_in(self, count):
        """True once in count times (bool)."""
        return self.random() * count < 1

    def some(self, items, least, most):
        """Between least and most different ones of items, in any order (list)."""
        items = list(items)
        return self.sample(items, min(len(items), self.randint(least, most)))

    def among(self, weighted):
        """One of a Weighted."""
        return weighted.items[bisect.bisect(weighted.sums, self.random() * weighted.sums[-1])]


class Weighted:
    """Items with weights. Args: pairs (weight, item)."""

    def __init__(self, *pairs):
        self.items = [item for weight, item in pairs]
        self.sums = list(itertools.accumulate(weight for weight, item in pairs))


def rules(text):
    """A rule's forms, one a line, each with its weight before a colon: `3: ({e} + {e})`."""
    pairs = []
    for line in text.strip().splitlines():
        weight, form = line.strip().split(":", 1)
        pairs.append((float(weight), _HOLE.split(form.strip())))
    return Weighted(*pairs)


def filled(parts, fill):
    """The text of a form: texts and holes take turns in parts; fill(name) gives a hole's text."""
    if len(parts) == 1:
        return parts[0]
    return "".join(fill(part) if i % 2 else part for i, part in enumerate(parts))
