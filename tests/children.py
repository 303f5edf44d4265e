# SPDX-License-Identifier: Apache-2.0
"""Children of a fork: some only live, and so keep what they inherited; others are born at a bad time."""

from __future__ import annotations

import linecache
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

SECONDS = 60  # after which a child that was forgotten ends


def in_child(work: Callable[[], object]) -> bool:
    """Fork, run, and say whether it went well; the child leaves without pytest's farewell."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


class IdleChild:
    """Forked when it is made; ends when it is told."""

    def __init__(self) -> None:
        read, self._write = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._write)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            os.read(read, 1)
            os._exit(0)
        os.close(read)

    def end(self) -> None:
        """Let it end, and wait for that."""
        os.close(self._write)
        os.waitpid(self._child, 0)


def born_while_another_opens(
    first: AbstractContextManager[Any],
    open_another: Callable[[], AbstractContextManager[Any]],
    free: Callable[[], bool],
) -> bool:
    """Fork while a thread holds something, and another thread opens and holds another such thing meanwhile.

    Returns whether everything that the child knows of is ``free`` there.
    """
    forking = threading.current_thread()
    held, holds_another, done = threading.Event(), threading.Event(), threading.Event()

    def hold_another() -> None:
        with open_another():
            holds_another.set()
            done.wait(SECONDS)

    another = threading.Thread(target=hold_another)

    def hold_first() -> None:
        with first:
            held.set()
            while not re.search(r"self\._(gate|lock)\.acquire\(\)", _at(forking)):  # it waits for the first
                pass
            another.start()
            # Until it holds another one, or waits for the fork to end.
            while not (holds_another.is_set() or "with self._listing" in _at(another)):
                pass

    thread = threading.Thread(target=hold_first)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        os._exit(0 if free() else 1)
    status = os.waitpid(child, 0)[1]
    thread.join()
    holds_another.wait(SECONDS)
    done.set()
    another.join()
    return holds_another.is_set() and status == 0


def _at(thread: threading.Thread) -> str:
    """Return the line of source that a thread is at."""
    frame = sys._current_frames().get(thread.ident or 0)
    return "" if frame is None else linecache.getline(frame.f_code.co_filename, frame.f_lineno)
