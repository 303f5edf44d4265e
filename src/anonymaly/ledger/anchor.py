# SPDX-License-Identifier: Apache-2.0
"""The head of the chain, kept in a second place.

A chain shows an edited entry but not a restored old copy, which is a perfect chain that ends early. The
anchor is a small file elsewhere (another disk, another machine's share) that says how far the chain went.
If the anchor is ahead, the ledger stays locked until the owner opens a new epoch. Beside the head it holds
the limits of all accounts and the last entry that changed a limit, a declaration or a rule: so that it is
known afterwards what a lost part may have allowed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymaly.core.files import PartialFile, lock, unlock
from anonymaly.core.forks import at_fork
from anonymaly.errors import LedgerBehindAnchor, LedgerError
from anonymaly.ledger.records import Head

_NEXT_STEP = (
    "Bring back the newest copy of the ledger; if it is lost, the owner opens a new epoch with nothing"
    " remaining: `anonymaly ledger MANIFEST --new-epoch`, or Ledger.open_epoch(location, anchor=...)."
)


@dataclass(frozen=True, slots=True)
class AnchoredTerms:
    """What accounts may spend, and the last entry that changed a limit, a declaration or a rule.

    Its hash covers all entries before it: where it is the same, so is everything that was ever declared.
    """

    limits: Mapping[str, int]
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Anchored:
    """What an anchor holds; earlier versions wrote no terms."""

    head: Head
    terms: AnchoredTerms | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what is anchored as plain data; earlier versions read the head from it."""
        if self.terms is None:
            return self.head.to_dict()
        changed = {"seq": self.terms.seq, "hash": self.terms.hash}
        return {**self.head.to_dict(), "limits": dict(self.terms.limits), "changed": changed}

    @classmethod
    def from_dict(cls, content: Any) -> Anchored:
        """Read what was anchored; raises ValueError, TypeError or KeyError if it is something else."""
        head = Head(
            ledger=str(content["ledger"]),
            epoch=int(content["epoch"]),
            seq=int(content["seq"]),
            hash=str(content["hash"]),
        )
        if "changed" not in content:
            return cls(head)
        limits = {str(name): int(limit) for name, limit in content["limits"].items()}
        changed = content["changed"]
        return cls(head, AnchoredTerms(limits, int(changed["seq"]), str(changed["hash"])))


class Anchor:
    """A file that only moves forward."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._partial = f".{self._path.name}.new."  # the start of the name of one that is being written
        self._known = (-1, -1)
        self._swept = False
        if sys.platform == "win32":
            raise LedgerError(
                "needs POSIX file locks, which Windows does not have",
                field="anchor",
                next_step="Leave the anchor out, or use the ledger on Linux or macOS.",
            )
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise LedgerError(
                f"must be a file in an existing directory, got {self._path}",
                field="anchor",
                next_step="Give a file on another disk than the ledger's, such as data.anchor.",
            )

    def exists(self) -> bool:
        """Say whether anything was anchored here."""
        return self._path.exists()

    def read(self) -> Anchored | None:
        """Return what is anchored, or None if there is no such file."""
        try:
            return Anchored.from_dict(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except OSError as error:
            # Perhaps for a moment only: nobody is told to begin a new epoch for a disk that is away.
            raise LedgerError(
                f"cannot be read: {self._path} ({type(error).__name__})",
                field="anchor",
                next_step="Check the disk and the file's permissions, then ask again.",
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise behind(f"the anchor cannot be read: {self._path}") from None

    def refuse_if_behind(self, head: Head) -> None:
        """Raise unless the head, locked by the caller, is at or past the anchor.

        The anchor is written after the ledger, so under the ledger's lock it can never be ahead.
        """
        found = self.read()
        if found is None:
            raise behind(f"the anchor is missing: {self._path}")
        anchored = found.head
        if anchored.ledger != head.ledger:
            raise behind("the anchor is another ledger's")
        if anchored.epoch != head.epoch:
            raise behind(f"the ledger is in epoch {head.epoch} and was anchored in epoch {anchored.epoch}")
        if anchored.seq > head.seq:
            raise behind(
                f"the ledger ends at entry {head.seq} and was anchored at entry {anchored.seq}:"
                " it is an older copy"
            )
        if anchored.seq == head.seq and anchored != head:
            raise behind(f"entry {head.seq} is not the one that was anchored")

    def holds(self, head: Head) -> bool:
        """Say whether this or a later head is known to be anchored."""
        return (head.epoch, head.seq) <= self._known

    def advance(self, now: Anchored, *, replace: bool = False) -> None:
        """Write the head and the terms durably, unless later ones are written already.

        ``replace`` is for the owner's new epoch, which replaces an anchor that the ledger cannot reach.
        """
        if self.holds(now.head) and not replace:
            return
        try:
            with self._locked():
                self._sweep()
                anchored = None if replace else self.read()
                if anchored is None or _place(anchored) < _place(now):
                    self._write(now)
                    anchored = now
        except OSError as error:
            raise LedgerError(
                f"the anchor cannot be written: {self._path} ({type(error).__name__});"
                " what was charged stands",
                field="anchor",
                next_step="Make the anchor's directory writable and ask again: no question is charged twice.",
            ) from None
        self._known = _place(anchored)

    def _write(self, now: Anchored) -> None:
        # A new file that nobody else can have made, nor linked to another one.
        with PartialFile(self._path.parent, prefix=self._partial) as partial:
            partial.file.write((json.dumps(now.to_dict()) + "\n").encode())
            partial.appear(self._path)

    def _sweep(self) -> None:
        """Remove what killed writers left, once; whoever writes holds the lock, so nobody is writing now."""
        if self._swept:
            return
        for name in os.listdir(self._path.parent):
            if name.startswith(self._partial):
                with suppress(OSError):
                    os.unlink(self._path.with_name(name))
        self._swept = True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # On a file of its own, because the anchor itself is replaced. The lock ends with the process.
        place = self._path.with_name(self._path.name + ".lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with _one_writer:
            descriptor = os.open(place, flags, 0o600)
            try:
                lock(descriptor)
                yield
            finally:
                _let_go(descriptor)


def behind(problem: str) -> LedgerBehindAnchor:
    """Return the error that locks a ledger, with the owner's way out."""
    return LedgerBehindAnchor(problem, field="anchor", next_step=_NEXT_STEP)


def gone() -> LedgerBehindAnchor:
    """Return the error of an anchor without a ledger; a new epoch needs a copy to go on with."""
    return LedgerBehindAnchor(
        "the ledger is gone, and its anchor says that there was one",
        field="anchor",
        next_step="Bring back the newest copy of it; an older one goes on with nothing remaining, by "
        "`anonymaly ledger MANIFEST --new-epoch`. Without any copy nobody knows what was spent: moving the "
        "anchor away begins a ledger that promises all of it again.",
    )


def _let_go(descriptor: int) -> None:
    """Unlock and close a file; nothing is lost if that fails: its lock ends with the process."""
    try:
        unlock(descriptor)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _place(anchored: Anchored) -> tuple[int, int]:
    return anchored.head.epoch, anchored.head.seq


# A fork waits until no thread is writing: its child would have the lock for as long as it lives.
_one_writer = threading.RLock()


def _before_fork() -> None:
    _one_writer.acquire()


def _after_in_parent() -> None:
    _one_writer.release()


def _after_in_child() -> None:
    global _one_writer  # noqa: PLW0603
    _one_writer = threading.RLock()


at_fork("anchor", before=_before_fork, in_parent=_after_in_parent, in_child=_after_in_child)
