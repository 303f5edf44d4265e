# SPDX-License-Identifier: Apache-2.0
"""Hears when SQLite asks the operating system to bring a file to the disk, and can make the disk fail.

Python's driver does not say. But SQLite lets a program put a layer between itself and the system (a VFS).
The one here is a copy of the system's own that hands every call on, and listens to some of them.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymaly.audit.system.fault import LackingHere
from anonymaly.audit.system.operations import ErrorName, Operations

NAME = b"anonymaly-listener"
_OK, _IO_ERROR = 0, 10
_NEW_JOURNAL = 0x4  # the flag that a file may be made, together with one of the kinds below
_JOURNALS = 0x800 | 0x4000 | 0x80000  # a rollback journal, a super-journal, a write-ahead log
_VERSION = 3  # of both tables of functions, since 2011

_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_BYTES = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_LENGTH = CFUNCTYPE(c_int, c_void_p, c_int64)
# What is counted, and the code of sqlite3.h by which it says that the disk failed.
_COUNTED: Mapping[str, tuple[Any, int]] = {
    "read": (_BYTES, 266),
    "write": (_BYTES, 778),
    "truncate": (_LENGTH, 1546),
    "sync": (_SYNC, 1034),
}
_CODES: Mapping[ErrorName, int] = {"no space": 13, "memory": 7}


class _Layer(Structure):
    """`sqlite3_vfs` of sqlite3.h."""

    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", c_void_p),
        ("others", c_void_p * 15),
    )


class _Methods(Structure):
    """`sqlite3_io_methods` of sqlite3.h."""

    _fields_ = (
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", c_void_p),
        ("truncate", c_void_p),
        ("sync", c_void_p),
        ("others", c_void_p * 13),
    )


@dataclass
class SyncedFile:
    """A file that SQLite has open.

    ``path`` is the name by which it was opened, which may be another file's by now; ``number`` is the inode.
    ``folder_too`` says whether its next sync is also one of its folder: SQLite does that once for each
    journal that it makes, so that the journal's name survives.
    """

    path: Path
    number: int
    folder_too: bool


Listener = Callable[[SyncedFile], None]


@contextmanager
def heard_syncs(opened: Listener, synced: Listener) -> Iterator[None]:
    """Call ``opened`` after SQLite opens a file and ``synced`` after it syncs one, in this process.

    Connections that are open before the block are not heard. Those made in it must be closed in it.
    """
    with _layered(lambda real: _Hooks(real, opened, synced)):
        yield


@contextmanager
def sqlite_operations(operations: Operations) -> Iterator[None]:
    """Count what SQLite reads, writes, truncates and syncs in named files, and make the disk fail.

    Connections that are open before the block are not heard.
    """
    with _layered(lambda real: _FailingHooks(real, operations)):
        yield


@contextmanager
def _layered(listening: Callable[[_Layer], _Hooks]) -> Iterator[None]:
    library = _library()
    address = library.sqlite3_vfs_find(None)
    real = _Layer.from_address(address)
    layer = _Layer()
    ctypes.pointer(layer)[0] = real
    layer.name = NAME
    hooks = listening(real)
    layer.open = ctypes.cast(hooks.open, c_void_p)
    _kept.append((layer, hooks))
    if library.sqlite3_vfs_register(ctypes.byref(layer), 1) != _OK:
        raise _unheard("it refused the layer")
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(layer))
        library.sqlite3_vfs_register(c_void_p(address), 1)
    if hooks.problems:
        raise hooks.problems[0]


# SQLite keeps pointers into these as long as a connection lives, which may be longer than the block.
_kept: list[Any] = []


class _Hooks:
    """The two functions that listen, and the tables that lead to them."""

    def __init__(self, layer: _Layer, opened: Listener, synced: Listener) -> None:
        self.problems: list[BaseException] = []
        self._open_really = _OPEN(layer.open)
        self._opened, self._synced = opened, synced
        self._files: dict[int, SyncedFile] = {}
        self._tables: dict[int, _Methods] = {}
        self._sync_really: dict[int, Any] = {}
        # C holds no reference to what it calls.
        self.open, self._sync = _OPEN(self._guarded(self._on_open)), _SYNC(self._guarded(self._on_sync))

    def _guarded(self, function: Callable[..., int]) -> Callable[..., int]:
        """Return the function for C, which has no exceptions: one is kept, and the operation has failed."""

        def call(*arguments: Any) -> int:
            try:
                return function(*arguments)
            except BaseException as problem:
                self.problems.append(problem)
                return _IO_ERROR

        return call

    def _on_open(self, layer: int, name: int | None, file: int, flags: int, result: int) -> int:
        code = int(self._open_really(layer, name, file, flags, result))
        if code == _OK and name is not None:  # a file without a name is temporary: nobody needs it later
            methods = ctypes.cast(file, POINTER(c_void_p))
            self._sync_really[file] = _SYNC(_Methods.from_address(methods[0]).sync)
            methods[0] = ctypes.addressof(self._table(methods[0]))
            journal = bool(flags & _NEW_JOURNAL) and bool(flags & _JOURNALS)
            path = Path(os.fsdecode(ctypes.string_at(name)))
            self._files[file] = SyncedFile(path, path.stat().st_ino, folder_too=journal)
            self._opened(self._files[file])
        return code

    def _on_sync(self, file: int, flags: int) -> int:
        code = int(self._sync_really[file](file, flags))
        if code == _OK:
            self._synced(self._files[file])
            self._files[file].folder_too = False
        return code

    def _table(self, address: int) -> _Methods:
        """Return a copy of a table of functions in which syncing is heard."""
        if address not in self._tables:
            table = _Methods()
            ctypes.pointer(table)[0] = _Methods.from_address(address)
            table.sync = ctypes.cast(self._sync, c_void_p)
            self._tables[address] = table
        return self._tables[address]


class _FailingHooks(_Hooks):
    """Functions that count before they hand a call on, and say that the disk failed instead."""

    def __init__(self, layer: _Layer, operations: Operations) -> None:
        super().__init__(layer, lambda file: None, lambda file: None)
        self._operations = operations
        self._real_tables: dict[int, _Methods] = {}
        self._counted = {
            name: signature(self._guarded(functools.partial(self._on_call, name, signature, code)))
            for name, (signature, code) in _COUNTED.items()
        }

    def _on_call(self, name: str, signature: Any, code: int, file: int, *arguments: Any) -> int:
        fault = self._operations.fault_now(f"SQLite {name}", writes=name == "write")
        if fault is not None:
            return _CODES.get(fault.error, code)
        table = self._real_tables[ctypes.cast(file, POINTER(c_void_p))[0]]
        return int(signature(getattr(table, name))(file, *arguments))

    def _table(self, address: int) -> _Methods:
        if address not in self._tables:
            table = _Methods()
            ctypes.pointer(table)[0] = real = _Methods.from_address(address)
            for name, function in self._counted.items():
                setattr(table, name, ctypes.cast(function, c_void_p))
            self._tables[address] = table
            self._real_tables[ctypes.addressof(table)] = real
        return self._tables[address]


def _library() -> Any:
    """Return the SQLite that Python's driver uses, if its functions can be reached."""
    driver = importlib.import_module("_sqlite3")
    # Without a file of its own, the driver is part of the interpreter.
    library = ctypes.CDLL(getattr(driver, "__file__", None))
    try:
        library.sqlite3_vfs_find.restype = c_void_p
        found = library.sqlite3_vfs_find(None)
        known = found is not None and _Layer.from_address(found).version >= _VERSION
    except AttributeError:
        raise _unheard("its functions cannot be reached from Python") from None
    if not known:
        raise _unheard("its functions have another form")
    return library


def _unheard(why: str) -> LackingHere:
    return LackingHere(
        f"this Python's SQLite cannot be listened to: {why}",
        field="sqlite",
        next_step="Use a Python that is linked with the system's SQLite.",
    )
