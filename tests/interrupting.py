"""Interrupts from another thread, on machines that may be busy."""
import contextlib
import threading

AGAIN = 0.01    # seconds from one interrupt to the next


@contextlib.contextmanager
def interrupted(interrupt, delay):
    """Within it `interrupt()` is called after `delay` seconds, and then again and again: an interrupt is
    lost if the statement hasn't begun, and nobody knows how soon a busy machine lets it."""
    ended = threading.Event()

    def work():
        ended.wait(delay)
        while not ended.is_set():
            interrupt()
            ended.wait(AGAIN)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
