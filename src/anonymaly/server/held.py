# SPDX-License-Identifier: Apache-2.0
"""The tables that a worker holds: opened from their files, opened again when those change, and published."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from anonymaly.ask import catalogue
from anonymaly.ask.curator import Curator
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import AnonymalyError, DeclarationChanged, InputError
from anonymaly.server.published import Published
from anonymaly.server.settings import FILE
from anonymaly.server.slots import OTHER, slot_seconds
from anonymaly.server.sources import refuse_second_names
from anonymaly.version import __version__

logger = logging.getLogger(__name__)


def find_manifests(folder: Path) -> dict[Path, Manifest]:
    """Return the tables that a folder declares; refuse none at all, and a second name for a source."""
    paths = sorted(path for path in folder.glob("*.yaml") if path.name != FILE)
    if not paths:
        raise InputError(
            f"{folder} declares no table",
            field="folder",
            next_step="`anonymaly init TABLE` writes a YAML file to start from; put it into the folder.",
        )
    found = {path: _load(path) for path in paths}
    refuse_second_names(found)
    return found


def _load(path: Path) -> Manifest:
    try:
        return Manifest.load(path)
    except AnonymalyError as problem:
        if path.name in problem.problem:
            raise
        raise type(problem)(
            f"{path.name}: {problem.problem}", field=problem.field, next_step=problem.next_step
        ) from None


def _beside(path: Path) -> dict[Path, Manifest]:
    """Return the other tables of a folder, as far as their files can be read now."""
    found = {}
    for other in sorted(path.parent.glob("*.yaml")):
        if other.name != FILE and other != path:
            with suppress(AnonymalyError):
                found[other] = Manifest.load(other)
    return found


def open_curator(path: Path, manifest: Manifest) -> Curator:
    """Open a table's account; a budget that was raised since its file was written is no error."""
    try:
        return Curator.open(path)
    except DeclarationChanged as problem:
        if problem.field != "budget":
            raise
    folder = path.parent
    opened = Curator(
        manifest.dataset(folder),
        adjacency=manifest.adjacency,
        ledger=manifest.ledger_location(folder),
        anchor=manifest.place(folder, manifest.anchor),
        store=manifest.store_location(folder),
        secret=manifest.secret_location(folder),
    )
    if manifest.budget is not None and float(manifest.budget) > opened.budget:
        opened.close()
        raise DeclarationChanged(
            f"{path.name} declares a budget of {manifest.budget}, which the account does not have",
            field="budget",
            next_step="Raise it as an owner, or write the budget that it has.",
        )
    return opened


class HeldTable:
    """One table of a worker: its curator while its file can be opened, and whether rows could be read."""

    def __init__(self, path: Path, manifest: Manifest, slots: Mapping[str, float]) -> None:
        self.path = path
        self.name = manifest.name
        self.ready = False
        self._own_slots = dict(slots)
        self._read = b""
        self._curator: Curator | None = None
        self._number: int | None = None  # of the declaration in force, once the account is open
        self._said: str | None = None  # the last problem, so that it is logged once

    @property
    def curator(self) -> Curator:
        """The curator; a table whose file does not fit its account has none."""
        if self._curator is None:
            raise NotReady
        return self._curator

    @property
    def is_open(self) -> bool:
        """Whether its file fits its account."""
        return self._curator is not None

    def check(self) -> bool:
        """See whether the table could be read now; reads names and types, and no row."""
        try:
            self._open_again()
            self.curator.dataset.ready()
        except Exception as problem:  # whatever it is, the table is not ready and the worker goes on
            # Our own errors hold no row; of others only the class is safe.
            said = str(problem) if isinstance(problem, AnonymalyError) else type(problem).__name__
            if said != self._said:
                logger.error("%s is not ready: %s", self.name, said)
            self._said, self.ready = said, False
        else:
            if self._said is not None:
                logger.info("%s is ready again", self.name)
            self._said, self.ready = None, True
        return self.ready

    def publish(self) -> Published:
        """Return what is public of the table as it stands."""
        curator = self.curator
        declared, account = curator.declaration, curator.accountant.account
        questions = (*catalogue.QUESTIONS, *declared.questions)
        slots = {name: self.slot(name) for name in questions}
        return Published(
            name=self.name,
            declaration=declared,
            ledger=without_password(curator.accountant.location),
            questions=questions,
            slots={**slots, "other": self._own_slots.get("other", OTHER)},
            paused=account.paused,
            version=__version__,
        )

    def slot(self, question: str) -> float:
        """Return the seconds of a question's slot."""
        return slot_seconds(question, self.curator.declaration.about_rows, self._own_slots)

    def close(self) -> None:
        """Close the account."""
        if self._curator is not None:
            self._curator.close()
            self._curator = None

    def _open_again(self) -> None:
        """Open the account, and again when its file has changed or it was amended since."""
        content = hashlib.sha256(self.path.read_bytes()).digest()
        curator = self._curator
        if curator is not None and content == self._read and not self._amended(curator):
            return
        self.close()
        manifest = Manifest.load(self.path)
        if manifest.name != self.name:
            raise InputError(
                f"{self.path.name} was renamed to {manifest.name}",
                field="name",
                next_step="Start the server again: another name is another account.",
            )
        refuse_second_names({**_beside(self.path), self.path: manifest})
        self._curator, self._read = open_curator(self.path, manifest), content
        self._number = None
        self._amended(self._curator)

    def _amended(self, curator: Curator) -> bool:
        """Say whether another declaration is in force than when the account was opened."""
        accountant = curator.accountant
        if accountant.name not in accountant.ledger.accounts():
            return False
        account, before = accountant.ledger.account(accountant.name), self._number
        self._number = account.number
        if before is not None and before != account.number:
            return True
        return dict(account.declaration) != accountant.declaration.to_dict()


class NotReady(AnonymalyError):
    """The table cannot be read; nothing was charged."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__(
            "the table cannot be read at the moment, and nothing was charged",
            field="table",
            next_step="Ask again later, or tell the owner.",
        )


def without_password(location: str) -> str:
    """Return a ledger's place as web processes may know it: who logs in, and how, is not theirs."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    query = "&".join(item for item in parts.query.split("&") if not item.startswith(("user=", "password=")))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))
