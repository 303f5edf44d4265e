# SPDX-License-Identifier: Apache-2.0
"""What an owner has a server forget: answers, what else its jobs kept, and the name of a person.

What was charged, and to whom, stays in the ledger, whose entries are chained: an entry that is changed would
make every later one false. So a name goes from everything but the ledgers, and it is said how often they
have it.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from anonymaly.ask.forgotten import Erasure, forgotten_answers, write_erasure
from anonymaly.ask.store import Store, folder_of
from anonymaly.core.value import canonical_json
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError, Refused
from anonymaly.ledger import Ledger, Reservation
from anonymaly.server.held import find_manifests
from anonymaly.server.jobs import unended
from anonymaly.server.messages import outbox_file
from anonymaly.server.people import revoke_key
from anonymaly.server.settings import ServerSettings
from anonymaly.server.state import State, jobs, keys, proofs, proposals

VALUES = ("value", "labels", "bytes")  # what of an answer is the answer itself


@dataclass(frozen=True)
class Forgetting:
    """A served folder, and who has it forget something for what reason."""

    folder: Path
    by: str
    reason: str

    def answers(
        self,
        *,
        days: int | None = None,
        table: str | None = None,
        number: int | None = None,
        do: bool = False,
    ) -> dict[str, list[int]]:
        """Erase answers that are so many days old, or one by its number; return their numbers by table.

        Unless ``do`` is true nothing is removed, and what would be is returned. With ``days``, jobs that
        ended so long ago and left no answer are removed as well.
        """
        before = None if days is None else datetime.now(UTC) - timedelta(days=days)
        found: dict[str, list[int]] = {}
        with self._state() as (state, outbox):
            for path, item in find_manifests(self.folder).items():
                if table is None or item.name == table:
                    chosen = self._of_table(path, item, before, number, do, state, outbox)
                    found[item.name] = chosen
            if do and before is not None and state is not None:
                _remove_jobs(state, before)
        if table is not None and table not in found:
            raise InputError(
                f"there is no table {table}", field="table", next_step="Name one of the folder's tables."
            )
        if number is not None and not any(found.values()):
            raise InputError(
                f"there is no answer {number} that is kept",
                field="answer",
                next_step="Give the number of its entry, as `anonymaly ledger MANIFEST` lists it: "
                "analysts count in another way.",
            )
        return found

    def _of_table(
        self,
        path: Path,
        item: Manifest,
        before: datetime | None,
        number: int | None,
        do: bool,
        state: State | None,
        outbox: Path,
    ) -> list[int]:
        folder = path.parent
        anchor = item.place(folder, item.anchor)
        with Ledger.open(item.ledger_location(folder), anchor=anchor, create=False) as ledger:
            if item.name not in ledger.accounts():
                return []
            erased = forgotten_answers(ledger, item.name)
            committed = [charge for charge in ledger.reservations(item.name) if charge.state == "committed"]
            chosen = [
                charge
                for charge in committed
                if charge.seq not in erased and _is_meant(charge, before, number)
            ]
            if not do:
                return [charge.seq for charge in chosen]
            numbers = [charge.seq for charge in chosen]
            write_erasure(ledger, item.name, numbers, by=self.by, reason=self.reason)
            # Those of before among them: whoever was interrupted after the entry comes here again.
            erased = forgotten_answers(ledger, item.name)
            store = Store(folder_of(item.store_location(folder), ledger.head().ledger), create=False)
            gone = _receipts(ledger, item.name, erased)
        for charge in committed:
            if charge.seq in erased:
                store.erase(charge.key, str(charge.digest))
        if state is not None:
            _empty_jobs(state, outbox, item.name, gone)
        return numbers

    def person(self, name: str, *, do: bool = False) -> dict[str, Any]:
        """Replace a person's name in what the server keeps of keys and jobs; say where it stays.

        Their keys are revoked. Refused while they have a grant, or a job under way.
        """
        entries: dict[str, int] = {}
        for path, item in find_manifests(self.folder).items():
            folder = path.parent
            anchor = item.place(folder, item.anchor)
            with Ledger.open(item.ledger_location(folder), anchor=anchor, create=False) as ledger:
                for grant in ledger.grants(item.name) if item.name in ledger.accounts() else ():
                    if grant.analyst == name and grant.standing:
                        raise Refused(
                            f"'{name}' has a grant for {item.name} that stands",
                            field="person",
                            next_step="Revoke it first: anonymaly owner revoke URL NAME --reason …",
                        )
                named = Counter(name in _names(entry.data) for entry in ledger.entries(item.name))
                entries[item.name] = named[True]
        with self._state() as (state, _):
            if state is None:
                raise InputError(
                    "no server was ever started here", field="folder", next_step="Check the path."
                )
            if unended(state, name):
                raise Refused(
                    f"'{name}' has jobs under way", field="person", next_step="Wait until they have ended."
                )
            found = {"keys": _number(state, keys, name), "jobs": _number(state, jobs, name)}
            instead = f"erased-{secrets.token_hex(4)}"
            if do:
                _rename(state, name, instead)
        return {"instead": instead, **found, "entries": entries}

    @contextmanager
    def _state(self) -> Iterator[tuple[State | None, Path]]:
        told = ServerSettings.load(self.folder).for_workers(self.folder)
        if "://" not in told.state and not Path(told.state).exists():
            yield None, Path(told.outbox)
            return
        state = State.open(told.state, create=True)
        try:
            yield state, Path(told.outbox)
            state.forget()
        finally:
            state.close()


def _is_meant(charge: Reservation, before: datetime | None, number: int | None) -> bool:
    if number is not None:
        return charge.seq == number
    return (
        before is not None
        and charge.outcome_time is not None
        and datetime.fromisoformat(charge.outcome_time) < before
    )


def _receipts(ledger: Ledger, account: str, erased: Mapping[int, Erasure]) -> dict[str, Erasure]:
    """Return the erasures by the hashes of all charges for what was erased, which receipts name.

    Not by the digests of answers: those of two questions may be equal.
    """
    found = {}
    for entry in ledger.entries(account):
        number = entry.data["reservation"] if entry.kind == "again" else entry.seq
        if entry.kind in ("reserve", "again") and number in erased:
            found[entry.hash] = erased[number]
    return found


def _empty_jobs(state: State, outbox: Path, table: str, gone: Mapping[str, Erasure]) -> None:
    """Take erased values out of what jobs ended in, and their bytes out of the outbox."""
    of = sa.select(jobs.c.id, jobs.c.result).where(
        jobs.c.table_name == table, jobs.c.kind == "ask", jobs.c.state == "done"
    )
    with state.read() as connection:
        ended = [(str(job), json.loads(text)) for job, text in connection.execute(of)]
    for job, result in ended:
        receipt = result["answer"].get("receipt") or {}
        erasure = gone.get(str(receipt.get("charge") or receipt.get("hash")))
        if erasure is None:
            continue
        kept = {name: item for name, item in result["answer"].items() if name not in VALUES}
        text = canonical_json({**result, "answer": kept, "forgotten": erasure.problem().to_dict()})
        with state.write() as connection:
            connection.execute(jobs.update().where(jobs.c.id == job).values(result=text))
        outbox_file(outbox, job).unlink(missing_ok=True)


def _remove_jobs(state: State, before: datetime) -> None:
    """Remove what is kept of jobs without an answer: who asked what, and was refused or only rehearsed."""
    answers = sa.and_(jobs.c.kind == "ask", jobs.c.state == "done")
    with state.write() as connection:
        connection.execute(jobs.delete().where(jobs.c.ended_at < before.timestamp(), sa.not_(answers)))


def _names(data: Any) -> set[str]:
    return {str(data[field]) for field in ("analyst", "by") if field in data}


def _number(state: State, table: sa.Table, person: str) -> int:
    of = sa.select(sa.func.count()).select_from(table).where(table.c.person == person)
    with state.read() as connection:
        return int(connection.execute(of).scalar_one())


def _rename(state: State, person: str, instead: str) -> None:
    with state.write() as connection:
        mine = keys.c.person == person
        numbers = list(connection.execute(sa.select(keys.c.id).where(mine)).scalars())
        for number in numbers:
            revoke_key(state, connection, number)
        connection.execute(proofs.delete().where(proofs.c.id.in_(numbers)))
        connection.execute(keys.update().where(mine).values(person=instead, label=""))
        connection.execute(jobs.update().where(jobs.c.person == person).values(person=instead))
        of = sa.select(jobs.c.id, jobs.c.result).where(jobs.c.kind.in_(("grant", "revoke")))
        for job, text in connection.execute(of.where(jobs.c.state == "done")).all():
            result = json.loads(text)
            grant = result.get("grant", {})
            changed = {name: instead for name in ("analyst", "by") if grant.get(name) == person}
            if changed:
                new = canonical_json({**result, "grant": {**grant, **changed}})
                connection.execute(jobs.update().where(jobs.c.id == job).values(result=new))
        _drop_proposals(connection, person)


def _drop_proposals(connection: sa.Connection, person: str) -> None:
    """Remove proposals of a person, or about one: what is signed cannot be changed."""
    held = connection.execute(sa.select(proposals.c.number, proposals.c.person, proposals.c.payload)).all()
    about = [
        row.number
        for row in held
        if person in (row.person, *(json.loads(row.payload).get(name) for name in ("analyst", "person")))
    ]
    gone = proposals.c.number.in_(about)
    told = jobs.c.id.in_(sa.select(proposals.c.job).where(gone))
    connection.execute(jobs.update().where(told).values(result="{}"))
    connection.execute(proposals.delete().where(gone))
