# SPDX-License-Identifier: Apache-2.0
"""Confirming a proposal, on the host and by its files alone: no web process has a part in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from anonymaly.ask.server_words import printable
from anonymaly.errors import AnonymalyError, InputError, Refused
from anonymaly.server.amending import lines_of
from anonymaly.server.amending_files import open_ledger
from anonymaly.server.carrying_out import Hands
from anonymaly.server.held import HeldTable, find_manifests
from anonymaly.server.jobs import Job
from anonymaly.server.keys import unseal
from anonymaly.server.once import SEALED
from anonymaly.server.outbox import AnswerOutbox
from anonymaly.server.people import identify
from anonymaly.server.proposals import list_proposals
from anonymaly.server.settings import LOOPBACK, ServerSettings, WorkerSettings
from anonymaly.server.state import State, proposals

FAILED = "it could not be carried out"


@dataclass
class Host:
    """A served folder as whoever has its files sees it."""

    settings: WorkerSettings
    state: State

    @classmethod
    @contextmanager
    def open(cls, folder: Path, state: str | None = None) -> Iterator[Host]:
        """Open what a server's processes share."""
        # Nothing listens here: how the server is reached may be told to it by options.
        settings = ServerSettings.load(folder, {"state": state, "host": LOOPBACK}).for_workers(folder)
        opened = State.open(settings.state)
        try:
            yield cls(settings, opened)
        finally:
            opened.close()

    def waiting(self) -> list[dict[str, Any]]:
        """Return the proposals that wait, the oldest first; an amendment with what it changes now."""
        return [self._with_lines(item) for item in list_proposals(self.state, waiting=True)[::-1]]

    def _with_lines(self, item: dict[str, Any]) -> dict[str, Any]:
        """Say what an amendment changes now, and keep all that it declares: long lists are cut in words.

        One that cannot be read here is listed all the same, or nothing could be declined any more.
        """
        asked = item.pop("asked", None)
        if asked is None:
            return item
        try:
            lines = self._lines(str(item["table"]), asked)
        except AnonymalyError as problem:
            lines = [printable(f"it would be refused: {problem}")]
        return {**item, "changes": lines, "declaration": asked.get("declaration")}

    def _lines(self, table: str, asked: Mapping[str, Any]) -> list[str]:
        folder = Path(self.settings.folder)
        manifest = next((found for found in find_manifests(folder).values() if found.name == table), None)
        if manifest is None:
            raise InputError(
                f"no file in {folder} declares {table}",
                field="table",
                next_step="Put the file back, or decline the proposal.",
            )
        with open_ledger(manifest, folder) as book:
            account = book.account(manifest.name)
        return lines_of(account, manifest.declaration(), asked)

    def decline(self, number: int) -> None:
        """End a proposal without carrying it out."""
        with self.state.write() as connection:
            self._find(connection, number)
            self._end(connection, number, "declined")

    def confirm(self, number: int, show_key: Callable[[str], None]) -> Mapping[str, Any]:
        """Carry a proposal out, if its key is still valid; ``show_key`` gets the text of a new key.

        In one transaction: it is confirmed when it is done, and done once. The table is opened before it, as
        that may take long, and holds no worker up.
        """
        with self.state.read() as connection:
            named = self._find(connection, number).table_name
        with self._opened(named) as hands, self.state.write() as connection:
            job = self._find(connection, number)
            outcome = hands.carry_out(job)
            if outcome.ended == "done":
                result = outcome.result(connection) if callable(outcome.result) else outcome.result
                self._show(job, result, show_key)
                self._end(connection, number, "confirmed")
                return result
            found = outcome.result if not callable(outcome.result) else {}
            problem = found.get("problem") or {"problem": FAILED}
            self._end(connection, number, "refused", str(problem["problem"]))
        raise Refused(
            f"proposal {number} was refused: {problem['problem']}",
            field=problem.get("field"),
            next_step=problem.get("next_step") or "Propose it anew.",
        )

    @contextmanager
    def _opened(self, table: str | None) -> Iterator[Hands]:
        """Open a table as a worker does, which holds nothing back."""
        manifests = {} if table is None else find_manifests(Path(self.settings.folder))
        tables = {
            item.name: HeldTable(path, item, {}) for path, item in manifests.items() if item.name == table
        }
        try:
            for held in tables.values():
                held.check()
            yield Hands(self.state, tables, AnswerOutbox(Path(self.settings.outbox)), on_host=True)
        finally:
            for held in tables.values():
                held.close()

    def _show(self, job: Job, result: Any, show_key: Callable[[str], None]) -> None:
        who = identify(self.state, job)
        if SEALED in result and who is not None:
            text = unseal(who.signing, job.id, result[SEALED])
            if text is not None:
                show_key(text)

    def _find(self, connection: sa.Connection, number: int) -> Job:
        of = sa.select(proposals).where(proposals.c.number == number, proposals.c.state == "open")
        row = connection.execute(of.with_for_update()).first()  # SQLite has no locks of rows, and needs none
        if row is None:
            raise InputError(
                f"there is no proposal {number} that waits",
                field="number",
                next_step="List them: anonymaly owner confirm FOLDER.",
            )
        return Job(
            id=row.job,
            kind=row.kind,
            table_name=row.table_name,
            person=row.person,
            key_id=row.key_id,
            idempotency=row.idempotency,
            request=None,
            asks="",
            slot=0.1,
            state="running",
            attempts=1,
            claimed_by=None,
            claimed_at=None,
            created_at=row.created_at,
            ended_at=None,
            payload=row.payload,
            proof=row.proof,
        )

    def _end(self, connection: sa.Connection, number: int, ended: str, problem: str | None = None) -> None:
        values = {"state": ended, "ended_at": self.state.now, "problem": problem, "proof": ""}
        connection.execute(proposals.update().where(proposals.c.number == number).values(values))
