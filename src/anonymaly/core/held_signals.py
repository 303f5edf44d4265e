# SPDX-License-Identifier: Apache-2.0
"""Signals that arrive while a fork waits are noted, and handled when the fork is over.

Python prints and forgets an error that is raised in what it calls before a fork, and forks all the same. So
an interrupt there would be lost, and the child would be born in the middle of what the fork waited for.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]


class HeldSignals:
    """What was noted since `hold`; handlers run in the main thread only, so other threads hold nothing."""

    def __init__(self) -> None:
        self._handlers: dict[int, _Handler] = {}
        self._noted: list[int] = []
        self._forking: tuple[FrameType, int] | None = None

    def hold(self, forking: FrameType) -> None:
        """Note signals from here on; ``forking`` is the frame that calls the fork."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._forking = forking, forking.f_lasti
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)

    def _note(self, number: int, _: FrameType | None) -> None:
        self._noted.append(number)

    def drop(self) -> None:
        """Handle signals as before, and forget what was noted: in the child, whose signals they were not."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers, self._noted, self._forking = {}, [], None

    def deliver(self) -> None:
        """Handle signals as before, and those that were noted as soon as the fork has returned."""
        if threading.current_thread() is not threading.main_thread():
            return  # the main thread may be waiting to fork meanwhile, and holds what it noted
        noted, forking = self._noted, self._forking
        self.drop()
        if noted and forking is not None:
            threading.Thread(target=_raise_after, args=(noted, *forking), daemon=True).start()


def _raise_after(noted: list[int], frame: FrameType, place: int) -> None:
    """Let the main thread handle signals once it has left a place in a function."""
    main = threading.main_thread().ident or 0
    while frame.f_lasti == place and _is_under(frame, sys._current_frames().get(main)):
        time.sleep(0.001)
    for number in noted:
        signal.pthread_kill(main, number)  # which also ends a wait


def _is_under(frame: FrameType, top: FrameType | None) -> bool:
    while top is not None and top is not frame:
        top = top.f_back
    return top is frame
