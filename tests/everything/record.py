"""What came out of each part when it was last run: in build/, and of those that passed, in the repository.

A part depends on files, whose hash is its key (parts.py). What is recorded under another key isn't believed. So the
repository says which parts have been run in full on its own code, wherever they were, and a new machine goes on from
there. A part that failed is known in build/ alone, and comes before what the repository says.
"""

import json
import os
import threading
import time

from tests.everything.parts import RECORD, key


def read(path):
    """Return what a JSON file holds, or {} if it isn't there or is broken."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


class Record:
    """Results: dicts with key, passed, seconds, counts and date.

    Args:
        folder: where the results of this machine are; what the parts print stands there, too.
        path: the repository's file, {name: result}.
    """

    def __init__(self, folder, path=RECORD):
        self.folder = folder
        self.path = path
        self._lock = threading.Lock()
        os.makedirs(folder, exist_ok=True)

    def file(self, part, ending):
        """Return the path of a part's file on this machine (str)."""
        return os.path.join(self.folder, part.name + ending)

    def get(self, part):
        """Return the result of a part's last run, or None if something that it depends on has changed since."""
        of = key(part)
        for kept in read(self.file(part, '.json')), read(self.path).get(part.name, {}):
            if kept.get('key') == of:
                return kept
        return None

    def put(self, part, of, passed, seconds, counts):
        """Keep a result.

        Args:
            part: a parts.Part.
            of: its key when it began (str).
            passed: bool.
            seconds: how long it took.
            counts: what was tried ({plural: number}).
        """
        result = {'key': of, 'passed': passed, 'seconds': round(seconds), 'counts': counts,
                  'date': time.strftime('%Y-%m-%d')}
        with open(self.file(part, '.json'), 'w') as file:
            json.dump(result, file)
        if passed:
            with self._lock:
                everyone = dict(read(self.path), **{part.name: result})
                partial = self.path + '.part'
                with open(partial, 'w') as file:
                    json.dump(everyone, file, indent=1, sort_keys=True)
                    file.write('\n')
                os.replace(partial, self.path)
