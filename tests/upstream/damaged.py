"""A process that queries damaged databases in one tier of the sanitized build.

`python -m tests.upstream.damaged DIRECTORY TIER FIRST LAST`: for each seed a line, its number, before its
database is queried. There are no guarded pages (tests/corruption/guard.c): the sanitizer sees more.
DIRECTORY has the sound databases; SQPYTE_BUILD names the folder of the library.
"""

import os
import sys

from tests.corruption import run
from tests.differential import tiers
from tests.differential.sessions import capi


def main(directory, tier, first, last):
    """Query the databases of the seeds from `first` up to `last`."""
    path = os.path.join(tiers.BUILD, tiers.LIBRARIES[tier.split('-')[0]])
    library = capi.Library(path)
    if tier.startswith('untranslated'):
        from sqpyte.vm import host
        host.install(path)
    library.set_mode(tiers.MODES[tier], 1)
    library.seed()
    for seed in range(int(first), int(last)):
        print(seed, flush=True)
        for _ in run.Case(library, directory, seed, tier, 'after').run():
            pass


if __name__ == '__main__':
    main(*sys.argv[1:])
