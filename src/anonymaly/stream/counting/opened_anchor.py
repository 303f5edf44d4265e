# SPDX-License-Identifier: Apache-2.0
"""What a counter opened, kept in a second place than its journal.

A journal that is set back to another copy, or begun anew, is a perfect journal: the counter would open sums
again that it opened before, with new noise. Nothing that opens one leaves before it is written here, with a
digest of all that was opened; so a journal that does not agree is noticed, whichever copy it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from anonymaly.core.files import PartialFile, lock, sweep_partial, unlock
from anonymaly.errors import InputError, LedgerError

LATEST = 2**53  # windows are far below it; what is not was not written here
DIGITS = 64


class OpenedSums(NamedTuple):
    """The last window whose sum was opened, and the digest of all that were."""

    window: int = -1
    chain: str = "0" * DIGITS

    def then(self, window: int, said: bytes) -> OpenedSums:
        """Return what was opened once a window is, by such a message."""
        text = f"{self.chain} {self.window} {window} ".encode()
        return OpenedSums(window, hashlib.sha256(text + said).hexdigest())


class OpenedAnchor:
    """The file, which is one program's as long as it is open.

    Parameters
    ----------
    path : path
        The file: `begin` makes it. One that is not there is refused, because its disk may be away.
    counter : str
        Whose it is.
    pool : str
        The pool's name.
    check_key : bytes
        What both counters of the pool hold: pools that are set up anew under a name have another one.
    """

    def __init__(self, path: str | Path, counter: str, pool: str, check_key: bytes) -> None:
        self._path = _place_of(path)
        self._prefix = f".{self._path.name}.new."  # of the names of files that are being written
        self._of = _owner_of(counter, pool, check_key)
        self._lock = -1
        self._process = os.getpid()
        self.opened = self._read()
        """What it holds."""
        self._hold()
        try:
            self.opened = self._read()  # anew: whoever had it until now may have written it
        except LedgerError:
            with suppress(OSError):
                self.close()
            raise
        sweep_partial(self._path.parent, prefix=self._prefix)

    @staticmethod
    def text(counter: str, pool: str, check_key: bytes, opened: OpenedSums | None = None) -> bytes:
        """Return the content of an anchor that begins with nothing, or with what was opened."""
        held = (opened or OpenedSums())._asdict()
        return (json.dumps({**_owner_of(counter, pool, check_key), **held}) + "\n").encode()

    @classmethod
    def begin(cls, path: str | Path, counter: str, pool: str, check_key: bytes, opened: OpenedSums) -> None:
        """Make the file; one that is there is left alone, and refused."""
        place = _place_of(path)
        if place.exists() or not place.parent.is_dir():
            raise InputError(
                f"must be a new file in an existing directory, got {place}",
                field="anchor",
                next_step="Give a file on another disk than the journal's; an anchor that is there is kept.",
            )
        try:
            with PartialFile(place.parent) as partial:
                partial.file.write(cls.text(counter, pool, check_key, opened))
                partial.appear(place)
        except OSError as error:
            raise InputError(
                f"cannot be made: {place} ({type(error).__name__})",
                field="anchor",
                next_step="Give a file in a directory that the counter may write to.",
            ) from None

    def advance(self, opened: OpenedSums) -> None:
        """Write durably what was opened, before any of it leaves."""
        if opened == self.opened:
            return
        if self._read() != self.opened:
            raise _unusable(f"was changed by another program: {self._path}")
        content = {**self._of, **opened._asdict()}
        try:
            with PartialFile(self._path.parent, prefix=self._prefix) as partial:
                partial.file.write((json.dumps(content) + "\n").encode())
                partial.appear(self._path)
        except OSError as error:
            raise LedgerError(
                f"the anchor cannot be written: {self._path} ({type(error).__name__}); no sum leaves",
                field="anchor",
                next_step="Make room on its disk, or its directory writable, and start again, with the same "
                "journal.",
            ) from None
        self.opened = opened

    def close(self) -> None:
        """Let another program have it."""
        if self._lock >= 0:
            if self._process == os.getpid():  # a forked child shares the lock, which is its parent's
                unlock(self._lock)
            os.close(self._lock)
            self._lock = -1

    def _hold(self) -> None:
        # On a file of its own, because the anchor itself is replaced. The lock ends with the process.
        place = self._path.with_name(f"{self._path.name}.lock")
        try:
            self._lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            lock(self._lock, wait=False)
        except OSError as error:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = -1
            used = isinstance(error, BlockingIOError)
            raise LedgerError(
                f"is in use: {self._path}"
                if used
                else f"cannot be locked: {self._path} ({type(error).__name__})",
                field="anchor",
                next_step="An anchor is one counter's: stop the other program that has it."
                if used
                else f"See whether the counter may write to {place.name} beside it, and the disk has locks.",
            ) from None

    def _read(self) -> OpenedSums:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            found = OpenedSums(content.pop("window"), content.pop("chain"))
        except FileNotFoundError:
            raise LedgerError(
                f"is not there: {self._path}",
                field="anchor",
                next_step="Bring its disk back. If it is lost, or there was none yet, begin one by "
                "`anonymaly stream anchor`.",
            ) from None
        except OSError as error:
            raise LedgerError(
                f"cannot be read: {self._path} ({type(error).__name__})",
                field="anchor",
                next_step="Check the disk and the file's permissions, then start again.",
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _unusable(f"cannot be understood: {self._path}") from None
        if content != self._of:
            raise _unusable(f"is of another counter or pool: {self._path}")
        if not _is_plausible(found):
            raise _unusable(f"cannot be understood: {self._path}")
        return found


def _place_of(path: str | Path) -> Path:
    """Return where an anchor is: a link stays one, and what it leads to is written."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise InputError(
            f"is no place of a file: {str(path)!r}", field="anchor", next_step="Give the path of a file."
        ) from None


def _owner_of(counter: str, pool: str, check_key: bytes) -> dict[str, Any]:
    key = hashlib.sha256(b"anonymaly anchor of opened sums\n" + check_key).hexdigest()
    return {"counter": counter, "pool": pool, "key": key}


def _is_plausible(found: OpenedSums) -> bool:
    is_number = isinstance(found.window, int) and not isinstance(found.window, bool)
    is_digest = isinstance(found.chain, str) and len(found.chain) == DIGITS
    return is_number and is_digest and -1 <= found.window < LATEST


def _unusable(problem: str) -> LedgerError:
    return LedgerError(
        problem,
        field="anchor",
        next_step="Bring back this counter's own. If it is lost, move this file away and begin another: "
        "`anonymaly stream anchor --after WINDOW`.",
    )
