# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their name only when they are complete, and survive a power cut."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import BinaryIO, Self

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that is open
    fcntl = None

PARTIAL = ".partial."  # the start of the name of a file that is still being written


def sync_folder(path: Path) -> None:
    """Write a folder's list of names to the disk."""
    if os.name == "nt":  # Windows has no descriptor for a folder, and orders such changes itself
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path, *, mode: int = 0o777) -> None:
    """Make a folder, and those it lies in, so that their names survive a power cut; it may be there already.

    ``mode`` is for the folder itself.

    Examples
    --------
    >>> make_folder(folder / "answers" / "patients", mode=0o700)
    >>> (folder / "answers" / "patients").is_dir()
    True
    """
    if path.is_dir():
        return
    if not path.parent.is_dir():
        make_folder(path.parent)
    path.mkdir(mode=mode, exist_ok=True)
    sync_folder(path.parent)


def why_not_written(path: Path) -> str | None:
    """Say why a file of this name cannot be written, as far as that can be known before; None if it can.

    Examples
    --------
    >>> why_not_written(folder) == f"{folder} is a folder"
    True
    >>> why_not_written(folder / "answer.txt") is None
    True
    """
    if path.is_dir():
        return f"{path} is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    return None if _open_to_us(path.parent) else f"the folder {path.parent} cannot be written to"


def why_not_made(folder: Path) -> str | None:
    """Say why a folder cannot be made, with those it lies in, or written to; None if it can."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        return f"{nearest} is no folder"
    return None if _open_to_us(nearest) else f"the folder {nearest} cannot be written to"


def _open_to_us(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


class PartialFile:
    """A new file under a name that nobody can guess, which gets its final name when it is complete.

    Unless ``appear`` was called, the file is removed when the block ends, however it ends. It is locked until
    then, so that `sweep_partial` can tell it from one that a killed process left.

    Parameters
    ----------
    folder : Path
        Where the file will be: a rename is one step only within a file system.
    prefix : str
        The start of its name until it is complete.
    private : bool
        Whether only its owner may ever read it; otherwise it is as readable as other new files.

    Examples
    --------
    >>> with PartialFile(folder) as partial:
    ...     _ = partial.file.write(b"complete")
    ...     partial.appear(folder / "answer.txt")
    >>> [path.name for path in folder.iterdir()]
    ['answer.txt']
    """

    def __init__(self, folder: Path, *, prefix: str = PARTIAL, private: bool = True) -> None:
        while True:
            # Never an existing file, nor through a link; readable by its owner alone.
            descriptor, name = tempfile.mkstemp(prefix=prefix, dir=folder)
            if not private:
                # Made anew, because only the system knows what it gives ordinary files (the umask).
                os.close(descriptor)
                os.unlink(name)
                descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                with contextlib.suppress(OSError):  # a disk without locks: nobody sweeps there
                    lock(descriptor)
                if os.path.lexists(name):
                    self._path: Path | None = Path(name)
                    self.file: BinaryIO = os.fdopen(descriptor, "wb")
                    return
            except BaseException:
                # Nobody else could: it is locked as long as it is open here.
                with contextlib.suppress(OSError):
                    os.unlink(name)
                with contextlib.suppress(OSError):
                    os.close(descriptor)
                raise
            os.close(descriptor)  # swept between its making and its lock

    def appear(self, path: Path) -> None:
        """Write the file to the disk and give it its name, replacing any file of that name."""
        if self._path is None:
            raise ValueError("the file has its name already")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._path, path)
        self._path = None
        sync_folder(path.parent)

    def discard(self) -> None:
        """Remove the file unless it has appeared."""
        # The file is being removed: a failed write is no loss, and must not hide the reason for the removal.
        with contextlib.suppress(OSError):
            self.file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What cannot be removed is swept later, and must not hide what went wrong before.
        with contextlib.suppress(*([] if kind is None else [OSError])):
            self.discard()


def sweep_partial(folder: Path, prefix: str = PARTIAL) -> None:
    """Remove the partial files that killed processes left; those that are being written are locked."""
    for path in folder.glob(f"{prefix}*"):
        # One that is locked, is no file, or is removed by another process at this moment.
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                lock(descriptor, wait=False)
                try:
                    path.unlink()
                finally:
                    unlock(descriptor)  # the file's maker may be waiting for it
            finally:
                os.close(descriptor)


def lock(descriptor: int, *, wait: bool = True) -> None:
    """Lock an open file until it is unlocked or closed, by whatever end of its process."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def unlock(descriptor: int) -> None:
    """Unlock an open file before it is closed: a child of a fork may have inherited it."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def appearing(path: Path, *, private: bool = True) -> Iterator[BinaryIO]:
    """Yield a file to write to; it appears under its name if the block raises nothing, else not at all.

    Examples
    --------
    >>> with appearing(folder / "answer.txt") as file:
    ...     _ = file.write(b"complete")
    >>> (folder / "answer.txt").read_bytes()
    b'complete'
    """
    with PartialFile(path.parent, private=private) as partial:
        yield partial.file
        partial.appear(path)
