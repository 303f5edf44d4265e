# SPDX-License-Identifier: Apache-2.0
"""Children of a fork that only live, and so keep whatever they inherited."""

from __future__ import annotations

import os
import signal

SECONDS = 60  # after which a child that was forgotten ends


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
