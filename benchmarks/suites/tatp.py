"""TATP's seven transactions, each alone, and the standard mixture of them; c/tatp.c runs them.

S. Neuvonen, A. Wolski, M. Manner, V. Raatikka: Telecom Application Transaction Processing Benchmark, 2011. The
settings are those of the paper on SQLite in PVLDB 2022, but for two: `synchronous` is NORMAL, where it has FULL, whose
time is the disk's; and foreign keys are enforced, so that as many inserts are refused as TATP expects.
"""

SEVEN = ('get_subscriber_data', 'get_new_destination', 'get_access_data', 'update_subscriber_data',
         'update_location', 'insert_call_forwarding', 'delete_call_forwarding')
NAMES = SEVEN + ('mix',)
PRAGMAS = ('journal_mode=wal', 'synchronous=normal', 'foreign_keys=on')


def normal(name):
    """Return a transaction's name as in NAMES from 'GET_ACCESS_DATA' or 'get-access-data'."""
    return name.lower().replace('-', '_')
