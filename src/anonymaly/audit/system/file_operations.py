# SPDX-License-Identifier: Apache-2.0
"""Counts what Python does with the files of some folders; SQLite and DuckDB open theirs themselves."""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from anonymaly.ask import store
from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.operations import Operations

if sys.platform != "win32":
    import fcntl

# By path or by descriptor, in the first argument; what changes a disk is counted again when it is done.
_READS = ("access", "fstat", "listdir", "lstat", "read", "scandir", "stat")
_CHANGES = ("chmod", "fsync", "link", "mkdir", "rename", "replace", "rmdir", "unlink", "write")
_WRITES = ("flush", "truncate", "write")
_OF_A_FILE = ("flush", "read", "readable", "readinto", "readline", "seek", "truncate", "write")


class _Counted:
    """An open file whose operations are counted."""

    def __init__(self, file: Any, step: Callable[..., None], closed: Callable[[int], None]) -> None:
        self._file, self._step, self._closed = file, step, closed

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        if name not in _OF_A_FILE:
            return found

        def counted(*arguments: Any) -> Any:
            self._step(f"file.{name}", writes=name in _WRITES)
            return found(*arguments)

        return counted

    def close(self) -> None:
        # The system closes a file even if it says that this failed.
        was_open, writes = not self._file.closed, not self._file.mode.startswith("r")
        if was_open:
            self._closed(self._file.fileno())
        self._file.close()
        if was_open:
            self._step("file.close", writes=writes)

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


class _Folders:
    """Tells the files that are watched, by their path or by a descriptor of them."""

    def __init__(self, folders: Sequence[Path]) -> None:
        # Resolved now: doing so for a path would itself look at files. A path may be written either way.
        self._places = {place for it in folders for place in (os.path.abspath(it), str(it.resolve()))}
        self.descriptors: set[int] = set()

    def hold(self, place: Any) -> bool:
        if isinstance(place, int):
            return place in self.descriptors
        if not isinstance(place, str | bytes | os.PathLike):
            return False
        path = os.path.abspath(os.fsdecode(place))
        return path in self._places or path.startswith(tuple(it + os.sep for it in self._places))


@contextmanager
def file_operations(operations: Operations, folders: Sequence[Path]) -> Iterator[None]:
    """Count operations on files in these folders while the block runs, in this process.

    Examples
    --------
    >>> seen = Operations()
    >>> with file_operations(seen, [folder]):
    ...     _ = (folder / "file").write_bytes(b"bytes")
    >>> seen.names
    ['open', 'file.write', 'file.close']
    """
    watched = _Folders(folders)

    def counted(name: str, really: Callable[..., Any], *, done: bool) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if not arguments or "dir_fd" in named or not watched.hold(arguments[0]):
                return really(*arguments, **named)
            operations.step(name, writes=done)
            result = really(*arguments, **named)
            if done:
                operations.step(f"{name}, done")
            return result

        return call

    def opened(path: Any, *arguments: Any, **named: Any) -> int:
        if "dir_fd" in named or not watched.hold(path):
            return _open(path, *arguments, **named)
        flags = arguments[0] if arguments else named.get("flags", 0)
        operations.step("open", writes=bool(flags & os.O_CREAT))
        descriptor = _open(path, *arguments, **named)
        watched.descriptors.add(descriptor)
        return descriptor

    def closed(descriptor: int) -> None:
        held = watched.hold(descriptor)
        watched.descriptors.discard(descriptor)
        _close(descriptor)
        if held:
            operations.step("close", writes=False)

    def opened_file(path: Any, *arguments: Any, **named: Any) -> Any:
        if not watched.hold(path):
            return _open_file(path, *arguments, **named)
        mode = arguments[0] if arguments else named.get("mode", "r")
        operations.step("open", writes=not mode.startswith("r"))
        # Also of a descriptor: that is what os.fdopen calls.
        return _Counted(_open_file(path, *arguments, **named), operations.step, watched.descriptors.discard)

    with ExitStack() as stack:
        for names, done in ((_READS, False), (_CHANGES, True)):
            for name in names:
                stack.enter_context(replaced(os, name, counted(name, getattr(os, name), done=done)))
        for owner, name, new in (
            (os, "open", opened),
            (os, "close", closed),
            (builtins, "open", opened_file),
            (io, "open", opened_file),
            (store, "io", _Files(watched, operations)),
        ):
            stack.enter_context(replaced(owner, name, new))
        if sys.platform != "win32":
            stack.enter_context(replaced(fcntl, "flock", counted("flock", fcntl.flock, done=False)))
        yield


class _Files:
    """The module ``io`` for the store, which reads answers by files without a buffer."""

    def __init__(self, watched: _Folders, operations: Operations) -> None:
        self._watched, self._operations = watched, operations

    def __getattr__(self, name: str) -> Any:
        return getattr(io, name)

    def FileIO(self, path: Path) -> io.FileIO:  # noqa: N802 - as in io
        operations = self._operations
        operations.step("open", writes=False)

        class Raw(io.FileIO):
            def readinto(self, buffer: Any) -> int | None:
                operations.step("file.readinto", writes=False)
                return super().readinto(buffer)

            def close(self) -> None:
                was_open = not self.closed
                super().close()
                if was_open:
                    operations.step("file.close", writes=False)

        return Raw(path)


_open, _close, _open_file = os.open, os.close, open
