# SPDX-License-Identifier: Apache-2.0
"""The folder into which the embedded engine writes what does not fit in memory: rows, in the clear.

It is readable by its owner alone, it belongs to one process, and it goes when that process ends. What a
killed process left behind is removed when the next one opens its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

PREFIX = "anonymaly-spill-"
LOCK = "lock"  # held as long as the process lives, whatever number it has and in whatever container

_of_process: tuple[int, Path, Any] | None = None


def folder() -> Path:
    """Return this process's folder, made when it is first asked for; a forked child has its own."""
    global _of_process  # noqa: PLW0603
    if _of_process is None or _of_process[0] != os.getpid() or not _of_process[1].exists():
        sweep()
        path, lock = _make()
        _of_process = (os.getpid(), path, lock)
        atexit.register(_leave, os.getpid(), path)
    return _of_process[1]


def sweep() -> None:
    """Remove the folders of processes that are gone; only our own user's, and never through a link."""
    if sys.platform == "win32":  # no lock tells there whether a process still lives
        return
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.lstat().st_uid != os.getuid():
                continue
            if not (path / LOCK).exists():
                path.rmdir()  # it is just being made, or was made in vain: its maker makes another one
                continue
            with open(path / LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)


def _make() -> tuple[Path, Any]:
    """Make a folder and lock it; if a sweep was quicker than the lock, another one."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))  # for its owner alone
        try:
            lock = open(path / LOCK, "xb")  # noqa: SIM115  (held until the process ends)
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            if isinstance(problem, FileNotFoundError | BlockingIOError):
                continue
            raise
        if (path / LOCK).exists():  # a sweep that ended before the lock leaves a lock on nothing
            return path, lock
        lock.close()


def _leave(process: int, path: Path) -> None:
    if process == os.getpid():  # not a forked child's to remove
        shutil.rmtree(path, ignore_errors=True)
