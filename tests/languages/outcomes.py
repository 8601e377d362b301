"""What became of each test of a suite, on two libraries, and where they differ."""

import json
import re

LEAST = 90      # tests of a suite that pass on stock: with fewer it hasn't really run

RUST = re.compile(r'^test (?P<name>\S+)(?: - should panic)? \.\.\. (?P<outcome>ok|FAILED|ignored)', re.MULTILINE)


def of_go(text):
    """Return {test: 'pass', 'fail', 'skip' or 'run'} (run: it hasn't ended) of what `go tool test2json` printed."""
    found = {}
    for line in text.splitlines():
        event = json.loads(line)
        if 'Test' in event and event['Action'] in ('run', 'pass', 'fail', 'skip'):
            found[event['Test']] = event['Action']
    return found


def of_rust(text):
    """Return {test: 'pass', 'fail' or 'skip'} of what a test program of Rust's printed, run with one thread."""
    names = {'ok': 'pass', 'FAILED': 'fail', 'ignored': 'skip'}
    return {match['name']: names[match['outcome']] for match in RUST.finditer(text)}


def passed(outcomes):
    """Return the names of the tests that have passed (set of str)."""
    return {name for name, outcome in outcomes.items() if outcome == 'pass'}


def differences(stock, ours):
    """Return {test: (outcome on stock, on ours)} of the tests that differ; None: not run."""
    return {name: (stock.get(name), ours.get(name))
            for name in sorted(set(stock) | set(ours)) if stock.get(name) != ours.get(name)}
