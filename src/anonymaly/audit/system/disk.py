# SPDX-License-Identifier: Apache-2.0
"""What a power cut would leave of a folder: what was brought to the disk, and nothing else.

Until a file is synced, the operating system may hold what was written to it in memory alone; until a folder
is synced, also which names are in it. Here either all of that is lost, or a part that is drawn by a seed:
each name as it is now or as it was synced, and each file with its bytes of now or those that were synced.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.sqlite_sync import SyncedFile, heard_syncs

TOP = Path()
Names = Mapping[str, int | None]  # a file's number, or None for a folder


@dataclass(frozen=True)
class Image:
    """The folders and files that a cut would leave; paths begin at the watched folder."""

    names: Mapping[Path, Names]
    contents: Mapping[int, bytes]

    def restore(self, target: Path, folder: Path = TOP) -> None:
        """Write a folder of the image, and all that is in it, into an empty one."""
        for name, number in self.names.get(folder, {}).items():
            if number is None:
                (target / name).mkdir(mode=0o700)
                self.restore(target / name, folder / name)
            else:
                (target / name).touch(mode=0o600)  # as private as a ledger and its anchor are
                # A file whose name is on the disk and whose bytes are not is empty.
                (target / name).write_bytes(self.contents.get(number, b""))


class Disk:
    """Knows what is on the disk of a folder that is watched; see `watched`."""

    def __init__(self, root: Path, changed: Callable[[str], None]) -> None:
        self._root = root.resolve()
        self._changed = changed
        self._names: dict[Path, Names] = {}
        self._contents: dict[int, bytes] = {}
        # A descriptor of each file, so that no number is given to a second file. They are closed at the end
        # alone: closing any descriptor of a file drops the locks that SQLite has on it.
        self._held: dict[int, int] = {}
        self._order: dict[int, int] = {}  # in which they were first seen, which repeats, as numbers do not

    def image(self, draw: random.Random | None = None) -> Image:
        """Return what a power cut would leave now: what was synced, and what is drawn of the rest."""
        names, contents = dict(self._names), dict(self._contents)
        if draw is None:
            return Image(names, contents)
        folders = {Path(folder).relative_to(self._root) for folder, _, _ in os.walk(self._root)}
        for place in sorted(folders | names.keys()):
            synced = names.get(place, {})
            now = self._names_in(self._root / place) if place in folders else {}
            kept = {name: draw.choice((synced, now)) for name in sorted({*synced, *now})}
            names[place] = {name: state[name] for name, state in kept.items() if name in state}
        for number in sorted(self._held, key=self._order.__getitem__):
            if draw.random() < 1 / 2:
                contents[number] = self._bytes_of(number)
        return Image(names, contents)

    def sync_folder(self, folder: Path) -> None:
        """Take note that a folder's names are on the disk."""
        place = folder.relative_to(self._root)
        self._names[place] = self._names_in(folder)
        self._changed(f"synced the folder {place}")

    def sync_file(self, number: int, path: Path) -> None:
        """Take note that the bytes of a file that is held are on the disk."""
        self._contents[number] = self._bytes_of(number)
        self._changed(f"synced {path.relative_to(self._root)}")

    def hear_descriptor(self, descriptor: int) -> None:
        """Take note that Python synced what a descriptor stands for, if it is in the watched folder."""
        status = os.fstat(descriptor)
        for folder, _, files in os.walk(self._root):
            if stat.S_ISDIR(status.st_mode):
                if os.path.samestat(os.stat(folder), status):
                    return self.sync_folder(Path(folder))
            else:
                for path in (Path(folder, name) for name in files):
                    if os.path.samestat(path.lstat(), status):
                        return self.sync_file(self._hold(path), path)
        return None

    def hear_opened(self, file: SyncedFile) -> None:
        """Take hold of a file that SQLite opened."""
        if file.path.is_relative_to(self._root):
            self._hold(file.path)

    def hear_synced(self, file: SyncedFile) -> None:
        """Take note that SQLite synced a file."""
        if file.path.is_relative_to(self._root):
            self.sync_file(file.number, file.path)
            if file.folder_too:
                self.sync_folder(file.path.parent)

    def close(self) -> None:
        """Let go of all files."""
        while self._held:
            os.close(self._held.popitem()[1])

    def _names_in(self, folder: Path) -> Names:
        return {
            entry.name: None if entry.is_dir(follow_symlinks=False) else self._hold(Path(entry.path))
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name)
        }

    def _bytes_of(self, number: int) -> bytes:
        descriptor = self._held[number]
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)

    def _hold(self, path: Path) -> int:
        number = path.lstat().st_ino
        if number not in self._held:
            self._order[number] = len(self._order)
            self._held[number] = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        return number


@contextmanager
def watched(root: Path, changed: Callable[[str], None] = lambda what: None) -> Iterator[Disk]:
    """Watch an empty folder on one file system, for as long as the block runs.

    Heard are SQLite and Python's ``os.fsync``, in this process.

    Parameters
    ----------
    root : Path
        The folder.
    changed : callable
        Is told, in words, whatever reaches the disk.

    Examples
    --------
    >>> from anonymaly.core.files import appearing
    >>> with watched(folder) as disk:
    ...     with appearing(folder / "durable") as file:
    ...         _ = file.write(b"bytes")
    ...     _ = (folder / "written").write_bytes(b"bytes")
    >>> list(disk.image().names[TOP]), sorted(path.name for path in folder.iterdir())
    (['durable'], ['durable', 'written'])
    """
    disk, fsync = Disk(root, changed), os.fsync

    def heard(descriptor: int) -> None:
        fsync(descriptor)
        disk.hear_descriptor(descriptor)

    try:
        with replaced(os, "fsync", heard), heard_syncs(disk.hear_opened, disk.hear_synced):
            yield disk
    finally:
        disk.close()
