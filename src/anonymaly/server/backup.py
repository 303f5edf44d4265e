# SPDX-License-Identifier: Apache-2.0
"""A copy of all that a server cannot make anew: what its processes share, ledgers, answers, and anchors last.

In this order the parts fit, also while people ask. A ledger names only answers that are stored, so that what
is copied after it holds them all; and a charge that comes between is in the anchor's copy and not in the
ledger's, so that the copy is locked, as every old copy is. Rows, secrets and keys for TLS are not in it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anonymaly.ask.forgotten import forgotten_answers
from anonymaly.ask.store import Store, folder_of
from anonymaly.core.files import appearing, sync_folder
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError, LedgerDamaged
from anonymaly.ledger import Head, Ledger, Reservation
from anonymaly.ledger.book import list_reservations
from anonymaly.ledger.following import follow
from anonymaly.ledger.transaction import read_head
from anonymaly.server.dumping import copy_sqlite, snapshot
from anonymaly.server.held import find_manifests
from anonymaly.server.settings import FILE, ServerSettings
from anonymaly.server.state import FLEETING
from anonymaly.version import __version__

INDEX = "backup.json"
STATE = "server.db"
ANSWERS = "answers"
ANCHORS = "anchors"  # in a folder of their own: they are not to be put back
OUTBOX = "outbox"


@dataclass
class Backup:
    """A copy that is being made; ``index`` says what is in it, and where it belongs."""

    folder: Path
    to: Path
    index: dict[str, Any] = field(default_factory=dict)
    _copied: dict[tuple[int, int], Path] = field(default_factory=dict)  # what the disk knows it by → its copy
    _dumps: dict[str, tuple[str, Any]] = field(default_factory=dict)  # address → its file, a connection

    def make(self) -> None:
        """Copy everything, in the order that makes it consistent."""
        manifests, settings = find_manifests(self.folder), ServerSettings.load(self.folder)
        told = settings.for_workers(self.folder)
        for path in (*manifests, *(self.folder / name for name in (FILE,) if (self.folder / FILE).exists())):
            self._copy(path, self.to / path.name)
        with ExitStack() as stack:
            self.index["state"] = self._state(told.state, stack)
            copied = {path: self._ledger(path, item, stack) for path, item in manifests.items()}
            for path, (ledger, head, charged) in copied.items():
                item = manifests[path]
                stored = self._answers(path, item, head, charged)
                where = self._where(path, item)
                self.index["tables"][item.name] |= {"ledger": ledger, **stored, "belongs": where}
        self._outbox(Path(told.outbox))
        for path, item in manifests.items():
            anchor = item.place(path.parent, item.anchor)
            if anchor is not None and Path(anchor).exists():
                (self.to / ANCHORS).mkdir(exist_ok=True, mode=0o700)
                self._copy(Path(anchor), self.to / ANCHORS / item.name)
        with appearing(self.to / INDEX) as file:
            file.write(json.dumps(self.index, indent=2).encode() + b"\n")

    def _state(self, place: str, stack: ExitStack) -> str | None:
        if "://" in place:
            return self._dump(place, stack)[0]
        if not Path(place).exists():
            return None  # no server was ever started here
        copy_sqlite(Path(place), self.to / STATE, without=FLEETING)
        return STATE

    def _ledger(self, path: Path, item: Manifest, stack: ExitStack) -> tuple[str, Head, list[Reservation]]:
        """Copy a ledger; return its file, its head and what it had charged, both as in the copy."""
        place = str(item.ledger_location(path.parent))
        if "://" in place:
            name, connection = self._dump(place, stack)
            head, charged = read_head(connection), list_reservations(connection, item.name)
            self.index["tables"][item.name] = {"head": head.to_dict(), "verified": False}
            return name, head, charged
        name = f"{item.name}.ledger"
        copy_sqlite(Path(place), self.to / name)
        with Ledger.audit(self.to / name) as ledger:
            found = ledger.verify()
            if not found.ok:
                raise LedgerDamaged(
                    f"{place} does not verify: {found.problems[0]}",
                    field="ledger",
                    next_step="Keep the last good backup, and look at it by `anonymaly ledger --verify`.",
                )
            head, charged = ledger.head(), ledger.reservations(item.name)
        self.index["tables"][item.name] = {"head": head.to_dict(), "verified": True}
        return name, head, charged

    def _dump(self, address: str, stack: ExitStack) -> tuple[str, Any]:
        if address not in self._dumps:
            connection, dump = stack.enter_context(snapshot(address))
            name = f"database-{len(self._dumps) + 1}.dump"
            dump(self.to / name)
            self._dumps[address] = (name, connection)
        return self._dumps[address]

    def _answers(self, path: Path, item: Manifest, head: Head, charged: list[Reservation]) -> dict[str, Any]:
        """Copy the answers that the copied ledger names, each checked; draws that are none stay behind."""
        store = Store(folder_of(item.store_location(path.parent), head.ledger), create=False)
        to = folder_of(self.to / ANSWERS / item.name, head.ledger)
        for made in (to.parent.parent, to.parent, to):
            made.mkdir(exist_ok=True, mode=0o700)
        missing, number = [], 0
        erased: set[int] | None = None
        for charge in charged:
            if charge.state != "committed":
                continue
            try:
                with store.open(charge.key, str(charge.digest)) as file:
                    self._copy(Path(str(file.name)), to / Path(str(file.name)).name)
                    number += 1
            except LedgerDamaged:
                if erased is None:
                    with follow(str(item.ledger_location(path.parent))) as ledger:
                        erased = set(forgotten_answers(ledger, item.name))
                if charge.seq not in erased:
                    missing.append(charge.seq)
        return {"answers": number, "missing": missing}

    def _outbox(self, outbox: Path) -> None:
        (self.to / OUTBOX).mkdir(mode=0o700)
        for path in sorted(outbox.glob("*.answer")) if outbox.is_dir() else ():
            try:
                self._copy(path, self.to / OUTBOX / path.name)
            except FileNotFoundError:  # erased meanwhile
                continue

    def _where(self, path: Path, item: Manifest) -> dict[str, str | None]:
        place, anchor = str(item.ledger_location(path.parent)), item.place(path.parent, item.anchor)
        return {
            "ledger": "a PostgreSQL database" if "://" in place else place,
            "answers": str(item.store_location(path.parent)),
            "anchor": anchor,
        }

    def _copy(self, source: Path, to: Path) -> None:
        """Copy a file for its owner alone; one that has two names is copied once."""
        found = source.stat()
        known = self._copied.get((found.st_dev, found.st_ino))
        if known is not None:
            os.link(known, to)
            return
        with (
            source.open("rb") as reading,
            open(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as new,
        ):
            shutil.copyfileobj(reading, new)
        self._copied[found.st_dev, found.st_ino] = to


def back_up(folder: Path, to: Path) -> dict[str, Any]:
    """Copy a server into a new folder, whole or not at all; return what is in it.

    Parameters
    ----------
    folder : Path
        The folder that is served.
    to : Path
        The folder to make; nothing may be there.
    """
    to = to.absolute()
    if to.exists() or not to.parent.is_dir():
        raise InputError(
            f"{to} is there already" if to.exists() else f"there is no folder {to.parent}",
            field="to",
            next_step="Give a new folder for each backup, such as /backup/2026-11-16, in one that exists.",
        )
    partial = to.with_name(f".{to.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a backup that was killed
    made = Backup(folder.absolute(), partial)
    made.index = {
        "anonymaly": __version__,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "tables": {},
    }
    try:
        partial.mkdir(mode=0o700)
        made.make()
        for path in _all(partial):
            _sync(path)
        partial.rename(to)
        sync_folder(to.parent)
    except OSError as problem:
        raise InputError(
            f"{problem.filename or to} cannot be read or written ({type(problem).__name__})",
            field="to",
            next_step="Run it as the user of the workers, and check the space on the disk.",
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return made.index


def _all(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.rglob("*"))
    yield folder


def _sync(path: Path) -> None:
    if path.is_dir():
        sync_folder(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())
