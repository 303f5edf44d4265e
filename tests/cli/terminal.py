# SPDX-License-Identifier: Apache-2.0
"""The command line as a person sees it, on a pseudo-terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here; a POSIX system has them")

PATIENCE = 5  # seconds


class Terminal:
    """A program on a pseudo-terminal; ``transcript`` is all that it has shown."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self._screen, inside = pty.openpty()
        environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm", "NO_COLOR": "1"}
        self.program = subprocess.Popen(
            [sys.executable, "-m", "anonymaly", *arguments],
            cwd=folder,
            env=environment,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        self.transcript = ""
        self._interrupted = False

    def reads(self) -> Iterator[str]:
        """Return what is shown, piece by piece, until the program ends."""
        while True:
            # A signal between Python's last look and its wait for a line is noticed with the next one: so
            # whoever pressed Ctrl-C and sees nothing presses it again.
            while not select.select([self._screen], [], [], PATIENCE)[0]:
                if self._interrupted:
                    self.interrupt()
            try:
                read = os.read(self._screen, 65536)
            except OSError:  # how Linux says that the other side is closed
                read = b""
            if not read:
                break
            text = read.decode("utf-8", "replace")
            self.transcript += text
            yield text
        self.program.wait()

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._screen, f"{text}\n".encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._interrupted = True
        os.killpg(self.program.pid, signal.SIGINT)

    def close(self) -> None:
        """Let go of it, and end what has not ended."""
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self._screen)


@contextmanager
def terminal_of(arguments: list[str], folder: Path) -> Iterator[Terminal]:
    """Start a program, and end it at the end of the block at the latest."""
    terminal = Terminal(arguments, folder)
    try:
        yield terminal
    finally:
        terminal.close()
