"""Ctrl-C ends the statement that the shell runs.

Python looks at a signal when the call into SQLite has returned, which may be hours later. But it writes the signal's
number into a file at once (`signal.set_wakeup_fd`); a thread that waits there interrupts the connection.
"""

import os
import signal
import threading


class Interrupts:
    """A context manager, of the main thread.

    Args:
        connection: the Connection.
    """

    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.writer, False)
        self.before = signal.set_wakeup_fd(self.writer)
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error):
        signal.set_wakeup_fd(self.before)
        os.close(self.writer)
        self.thread.join()
        os.close(self.reader)

    def watch(self):
        """Interrupt the connection at each SIGINT, until the writer is closed."""
        while number := os.read(self.reader, 1):
            if number[0] == signal.SIGINT:
                self.connection.interrupt()
