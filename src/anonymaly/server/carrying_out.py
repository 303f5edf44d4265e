# SPDX-License-Identifier: Apache-2.0
"""What a worker does for each kind of job, and what comes of it.

A refusal is shown: it depends on the request, the declaration and the ledger alone. Whatever else goes wrong
is one failure without a word, as is everything about a job whose worker was lost: it may have been charged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from anonymaly.ask.curator import Curator
from anonymaly.errors import AnonymalyError, AnswerFailed, InputError, Refused, SchemaError
from anonymaly.server import people
from anonymaly.server.amending import compare_asked
from anonymaly.server.amending_files import amend_file
from anonymaly.server.held import HeldTable, NotReady
from anonymaly.server.job_questions import (
    bind,
    find,
    public_fields,
    read_question,
    refuse_without_grant,
    small_bytes,
    with_small_value,
)
from anonymaly.server.jobs import Ended, Job, Result
from anonymaly.server.keys import seal
from anonymaly.server.logins.session_keys import end_session_key
from anonymaly.server.outbox import AnswerOutbox
from anonymaly.server.own import own_answer, own_problem
from anonymaly.server.people import NewKey, Who
from anonymaly.server.proposals import ON_HOST, hold_back, in_words, loosens, refuse_unusable
from anonymaly.server.slots import SHORTEST
from anonymaly.server.state import State

logger = logging.getLogger(__name__)
Admit = Callable[[Job], Result]  # what comes of a login: see `logins.desk`


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended; ``entry`` is for the owner's log.

    ``recalled`` is how many seconds the draw took another time, if it was not made for this job.
    """

    ended: Ended
    result: Result
    entry: int | None = None
    recalled: float = 0.0


FAILED = JobOutcome("failed", {})


def refused(problem: AnonymalyError) -> JobOutcome:
    """Return a refusal in its own words."""
    return JobOutcome("refused", {"problem": problem.to_dict()})


FORGED = refused(
    Refused(
        "the job has no proof that the holder of its key wants it",
        field="key",
        next_step="Send it again with a key that is allowed to.",
    )
)
NO_LONGER = refused(
    Refused("the key has expired or was revoked", field="key", next_step="Ask the owner for another one.")
)


class Hands:
    """Carries jobs out, with the tables, the ledgers and the outbox of one worker."""

    def __init__(
        self,
        state: State,
        tables: Mapping[str, HeldTable],
        outbox: AnswerOutbox,
        admit: Admit | None = None,
        *,
        confirm: bool = False,
        on_host: bool = False,
    ) -> None:
        self._confirm = confirm  # whether what loosens is held back until the host confirms it
        self._on_host = on_host  # whether this is the host, which confirms
        self._state = state
        self._admit = admit
        self._tables = tables
        self._outbox = outbox

    def carry_out(self, job: Job) -> JobOutcome:
        """Do a job that was claimed, or refuse it; never raises what a job could be the cause of."""
        if job.kind == "login":
            return self._log_in(job)
        who = people.identify(self._state, job)
        if who is None:
            return FORGED
        try:
            if job.attempts > 1:
                return self._go_on(job, who)
            return self._do(job, who) if who.valid else NO_LONGER
        except Exception as problem:
            # Of errors that are not ours only the class is safe to write down.
            logger.error("job %s ended in %s", job.id, type(problem).__name__)
            return FAILED

    def _log_in(self, job: Job) -> JobOutcome:
        """Make a key for whom a provider vouches: the one job that no key signs."""
        if self._admit is None or not job.name:
            return FORGED
        try:
            return FAILED if job.given_up else JobOutcome("done", self._admit(job))
        except AnonymalyError as problem:
            return refused(problem)
        except Exception as problem:
            logger.error("job %s ended in %s", job.name, type(problem).__name__)
            return FAILED

    def _go_on(self, job: Job, who: Who) -> JobOutcome:
        """Do a job whose worker was lost: it may have been charged, so that it is answered or fails."""
        outcome = self._do(job, who) if who.valid and not job.given_up else FAILED
        if outcome.ended == "done" or (outcome.ended == "refused" and job.kind != "ask"):
            return outcome
        if job.kind == "ask":
            self._fail_charge(job, who)
        return FAILED

    def slot(self, job: Job) -> float:
        """Return the slot of the question of a genuine job; what a web process wrote down is not believed."""
        table = self._tables.get(job.table_name or "")
        try:
            question = str(job.asked["query"]["question"])
        except Exception:  # a payload that is no question, or JSON that is nested too deeply
            question = ""
        return SHORTEST if table is None or not table.is_open else table.slot(question)

    def _do(self, job: Job, who: Who) -> JobOutcome:
        recalled = 0.0
        try:
            if job.kind == ON_HOST and not self._on_host:
                return self._propose_amendment(job, who)
            if self._confirm and loosens(job):
                return self._propose(job, who)
            if job.kind == "ask":
                recalled = self._recalled(job, who)
            return replace(_KINDS[job.kind](self, job, who), recalled=recalled)
        except AnswerFailed:
            return replace(FAILED, recalled=recalled)
        except (NotReady, SchemaError):
            return refused(NotReady())  # where the table lies, and what is wrong with it, is the owner's
        except (InputError, Refused) as problem:
            return refused(problem if who.role == "owner" else own_problem(problem, who.person))

    def _propose(self, job: Job, who: Who) -> JobOutcome:
        """Hold a job back that nothing is wrong with at first sight, for the host to confirm."""
        if job.kind == "key":
            NewKey.read(job.asked)
        else:
            self._table(job)
            refuse_unusable(job.kind, job.asked, who.person)
        return self._held_back(job)

    def _propose_amendment(self, job: Job, who: Who) -> JobOutcome:
        """Hold an amendment back, whatever `confirm` says; refuse one that could not be carried out now."""
        accountant = self._table(job).curator.accountant
        refuse_unusable(job.kind, job.asked, who.person)
        opened = accountant.name in accountant.ledger.accounts()
        compare_asked(accountant.account if opened else None, accountant.declaration, job.asked)
        return self._held_back(job)

    def _held_back(self, job: Job) -> JobOutcome:
        # In words here, where it may fail as every job may: what it says is read on the host's terminal.
        says = in_words(job.kind, job.table_name, job.asked)
        return JobOutcome("done", lambda connection: hold_back(self._state, connection, job, says))

    def _recalled(self, job: Job, who: Who) -> float:
        """Return how long a draw took that was made for somebody else: the next one is to wait as long."""
        curator = self._table(job).curator
        query, repeat = read_question(job, curator)
        bound = bind(curator, query, repeat)
        found = curator.accountant.find(bound, repeat)
        if found is None or found.outcome_time is None:
            return 0.0
        if curator.accountant.is_charged(bound, repeat, who.person):
            return 0.0  # whoever was charged knows that it is stored
        ended, began = (datetime.fromisoformat(text) for text in (found.outcome_time, found.time))
        return max(0.0, (ended - began).total_seconds())

    def _fail_charge(self, job: Job, who: Who) -> None:
        """End the charge of a job that is given up, if it has one that is open; never one of others alone."""
        table = self._tables.get(job.table_name or "")
        if table is None:
            return
        query, repeat = read_question(job, table.curator)
        found, ledger = find(table.curator, query, repeat), table.curator.accountant.ledger
        if found is None or found.state != "reserved":
            return
        if ledger.charge_of(found.account, found.key, who.person) is not None:
            ledger.fail(found, stage="worker", error="WorkerLost")

    def _table(self, job: Job) -> HeldTable:
        table = self._tables.get(job.table_name or "")
        if table is None:
            raise NotReady
        return table

    def _ask(self, job: Job, who: Who) -> JobOutcome:
        curator = self._table(job).curator
        query, repeat = read_question(job, curator)
        refuse_without_grant(curator, who)
        now = curator.ask(query, analyst=who.person, repeat=repeat)
        bound = bind(curator, query, repeat)
        ended = curator.accountant.find(bound, repeat)
        if ended is None:
            raise AssertionError("a question that was answered is not in the ledger")
        self._outbox.put(job.id, curator.accountant.store, ended)
        # Read back: what only whoever asks knows, such as labels, is not written into the shared tables.
        answer = curator.accountant.answer(ended, 0, type(query))
        shown = {
            **own_answer(curator, ended, answer, who.person).to_dict(),
            "query": public_fields(bound.query),
            # A job whose worker was lost may have been charged by it.
            "again": job.attempts == 1 and not now.charged,
        }
        content = {"media_type": ended.media_type, "digest": ended.digest, "size": ended.size}
        return JobOutcome("done", {"answer": with_small_value(shown), "content": content}, ended.seq)

    def _rehearse(self, job: Job, who: Who) -> JobOutcome:
        curator = self._table(job).curator
        query, _ = read_question(job, curator)
        refuse_without_grant(curator, who)
        asked = job.asked
        answer = curator.accountant.rehearse(
            query, stand_in=curator.dataset.stand_in, rows=asked.get("rows"), seed=asked.get("seed")
        )
        shown = {
            **answer.to_dict(),
            "query": public_fields(bind(curator, query, 0).query),
            "bytes": small_bytes(query, answer.value),
        }
        return JobOutcome("done", {"answer": with_small_value(shown)})

    def _grant(self, job: Job, who: Who) -> JobOutcome:
        curator, asked = self._opened(job)
        made = curator.accountant.ledger.grant(
            curator.dataset.name,
            asked.get("analyst", ""),
            limit=asked.get("limit"),
            terms=asked.get("terms") or {},
            by=who.person,
            reason=asked.get("reason", ""),
        )
        return JobOutcome("done", {"grant": made.to_dict()}, made.seq)

    def _revoke(self, job: Job, who: Who) -> JobOutcome:
        curator, asked = self._opened(job)
        ended = curator.accountant.ledger.revoke(
            curator.dataset.name, asked.get("analyst", ""), by=who.person, reason=asked.get("reason", "")
        )
        return JobOutcome("done", {"grant": ended.to_dict()}, ended.revoked)

    def _raise(self, job: Job, who: Who) -> JobOutcome:
        curator, asked = self._opened(job)
        account = curator.accountant.ledger.raise_limit(
            curator.dataset.name, asked.get("to", 0), by=who.person, reason=asked.get("reason", "")
        )
        return JobOutcome("done", {"account": account.to_dict()})

    def _pause(self, job: Job, who: Who) -> JobOutcome:
        curator, asked = self._opened(job)
        ledger = curator.accountant.ledger
        change = ledger.pause if job.kind == "pause" else ledger.resume
        account = change(curator.dataset.name, by=who.person, reason=asked.get("reason", ""))
        return JobOutcome("done", {"account": account.to_dict()})

    def _amend(self, job: Job, who: Who) -> JobOutcome:
        done = amend_file(self._table(job).path, job.asked, who.person)
        return JobOutcome("done", done, done["entry"])

    def _key(self, job: Job, who: Who) -> JobOutcome:
        new = NewKey.read(job.asked)

        def make(connection: sa.Connection) -> dict[str, Any]:
            made, expires = people.make_key(self._state, connection, new)
            return {"id": made.id, "expires_at": expires, "sealed": seal(who.signing, job.id, made.text)}

        return JobOutcome("done", make)

    def _revoke_key(self, job: Job, _who: Who) -> JobOutcome:
        number = job.asked.get("id")
        with self._state.write() as connection:  # at once, so that a refusal is told; once is enough
            return JobOutcome("done", {"id": people.revoke_key(self._state, connection, number)})

    def _log_out(self, job: Job, _who: Who) -> JobOutcome:
        # The key that signed it: nobody ends another's session.
        return JobOutcome("done", lambda made: {"ended": end_session_key(self._state, made, job.key_id)})

    def _opened(self, job: Job) -> tuple[Curator, dict[str, Any]]:
        """Return the curator of an account that is open: an owner may act before the first question."""
        curator = self._table(job).curator
        curator.accountant.open()
        return curator, job.asked


_KINDS: dict[str, Callable[[Hands, Job, Who], JobOutcome]] = {
    "ask": Hands._ask,
    "rehearse": Hands._rehearse,
    "grant": Hands._grant,
    "revoke": Hands._revoke,
    "raise": Hands._raise,
    "pause": Hands._pause,
    "resume": Hands._pause,
    "amend": Hands._amend,
    "key": Hands._key,
    "revoke-key": Hands._revoke_key,
    "log-out": Hands._log_out,
}
