"""Functions in threads: several side by side, or one for a limited time.

The threads are daemons. One that hangs can't be ended, but it keeps neither the run nor the interpreter from ending,
as a thread of an executor would.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import nullcontext
from typing import TypeVar

T = TypeVar("T")
TICK_S = 0.1  # how often an exception is looked for; on Windows, Ctrl-C is heard only between two waits


def run_together(functions: Sequence[Callable[[], T]], *, max_threads: int) -> list[T]:
    """Call functions side by side and give back their results in order.

    An exception, or Ctrl-C, ends the wait; what has not begun by then never begins.
    """
    slots = threading.Semaphore(max_threads)
    futures = [start(function, slots) for function in functions]
    try:
        wait_for(futures)
    finally:
        for future in futures:
            future.cancel()
    return [future.result() for future in futures]


def start(function: Callable[[], T], slots: threading.Semaphore | None = None) -> Future[T]:
    """Call a function in a thread of its own, as soon as one of the slots is free."""
    future: Future[T] = Future()

    def work() -> None:
        with slots or nullcontext():
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:  # whoever waits gets it, KeyboardInterrupt and SystemExit included
                    future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def wait_for(futures: Sequence[Future[T]], *, timeout_s: float = math.inf) -> bool:
    """Wait until all have a result, and tell whether they had it in time; an exception in one of them is raised."""
    deadline = time.monotonic() + timeout_s
    pending = set(futures)
    while pending:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return False
        done, pending = wait(pending, min(left_s, TICK_S))
        for future in done:
            future.result()
    return True
