# SPDX-License-Identifier: Apache-2.0
"""The folder that is served: held by one supervisor, private, and as it was before after a failed start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anonymaly.core.files import lock, make_folder
from anonymaly.errors import InputError


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder for as long as this process serves it; refuse one that another serves.

    The lock is on the folder itself: nothing is left behind, and it ends with the process, however that ends.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            lock(descriptor, wait=False)
        except BlockingIOError:
            raise InputError(
                f"another anonymaly serve has {folder} already",
                field="folder",
                next_step="Stop that one first. For more processes it takes --web and --workers; several "
                "servers share a PostgreSQL database (state).",
            ) from None
        yield
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a folder that is empty, or a database with the files that SQLite keeps beside it."""
    if path.is_dir():
        with suppress(OSError):  # somebody else put something into it meanwhile
            path.rmdir()
        return
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """Make a folder that its owner alone can read; refuse one that everybody can."""
    make_folder(folder, mode=0o700)
    if folder.stat().st_mode & 0o007:
        raise InputError(
            f"everybody on this machine can read {folder}",
            field="outbox",
            next_step=f"Run: chmod o-rwx {folder}",
        )
