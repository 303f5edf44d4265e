# SPDX-License-Identifier: Apache-2.0
"""The head of the chain, kept in a second place.

A chain shows an edited entry but not a restored old copy, which is a perfect chain that ends early. The
anchor is a small file elsewhere (another disk, another machine's share) that says how far the chain went.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymaly.errors import LedgerBehindAnchor, LedgerError
from anonymaly.ledger.durable import sync_directory
from anonymaly.ledger.records import Head

if sys.platform != "win32":
    import fcntl

NEXT_STEP = (
    "Bring back the newest copy of the ledger; if it is lost, the owner opens a new epoch with nothing"
    " remaining: `anonymaly ledger MANIFEST --new-epoch`, or Ledger.open_epoch(location, anchor=...)."
)


class Anchor:
    """A file that only moves forward."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._known = (-1, -1)
        if sys.platform == "win32":
            raise LedgerError("an anchor needs POSIX file locks", field="anchor")
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise LedgerError(
                f"must be a file in an existing directory, got {self._path}",
                field="anchor",
                next_step="Give a file on another disk than the ledger's, such as data.anchor.",
            )

    def exists(self) -> bool:
        """Say whether anything was anchored here."""
        return self._path.exists()

    def read(self) -> Head | None:
        """Return what is anchored, or None if there is no such file."""
        try:
            text = self._path.read_text(encoding="utf-8")
            content = json.loads(text)
            anchored = Head(
                ledger=str(content["ledger"]),
                epoch=int(content["epoch"]),
                seq=int(content["seq"]),
                hash=str(content["hash"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError):
            raise LedgerBehindAnchor(
                f"the anchor cannot be read: {self._path}", field="anchor", next_step=NEXT_STEP
            ) from None
        return anchored

    def refuse_if_behind(self, head: Head) -> None:
        """Raise unless the head, locked by the caller, is at or past the anchor.

        The anchor is written after the ledger, so under the ledger's lock it can never be ahead.
        """
        anchored = self.read()
        if anchored is None:
            raise LedgerBehindAnchor(
                f"the anchor is missing: {self._path}", field="anchor", next_step=NEXT_STEP
            )
        if anchored.ledger != head.ledger:
            raise LedgerBehindAnchor("the anchor is another ledger's", field="anchor", next_step=NEXT_STEP)
        if anchored.epoch != head.epoch:
            raise LedgerBehindAnchor(
                f"the ledger is in epoch {head.epoch} and was anchored in epoch {anchored.epoch}",
                field="anchor",
                next_step=NEXT_STEP,
            )
        if anchored.seq > head.seq:
            raise LedgerBehindAnchor(
                f"the ledger ends at entry {head.seq} and was anchored at entry {anchored.seq}:"
                " it is an older copy",
                field="anchor",
                next_step=NEXT_STEP,
            )
        if anchored.seq == head.seq and anchored != head:
            raise LedgerBehindAnchor(
                f"entry {head.seq} is not the one that was anchored", field="anchor", next_step=NEXT_STEP
            )

    def advance(self, head: Head, *, replace: bool = False) -> None:
        """Write the head durably, unless a later one is written already.

        ``replace`` is for the owner's new epoch, which puts aside an anchor that cannot be met.
        """
        if (head.epoch, head.seq) <= self._known and not replace:
            return
        try:
            with self._locked():
                anchored = None if replace else self.read()
                if anchored is None or (anchored.epoch, anchored.seq) < (head.epoch, head.seq):
                    self._write(head)
                    anchored = head
        except OSError as error:
            raise LedgerError(
                f"the anchor cannot be written: {self._path} ({type(error).__name__});"
                " what was charged stands",
                field="anchor",
                next_step="Make the anchor's directory writable and ask again: no question is charged twice.",
            ) from None
        self._known = (anchored.epoch, anchored.seq)

    def _write(self, head: Head) -> None:
        private = self._path.with_name(self._path.name + ".new")
        with open(private, "w", encoding="utf-8", opener=_for_its_owner_alone) as file:
            file.write(json.dumps(head.to_dict()) + "\n")
            file.flush()
            os.fsync(file.fileno())
        private.replace(self._path)
        sync_directory(self._path.parent)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # On a file of its own, because the anchor itself is replaced. The lock ends with the process.
        lock = self._path.with_name(self._path.name + ".lock")
        with open(lock, "a", encoding="utf-8", opener=_for_its_owner_alone) as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _for_its_owner_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
