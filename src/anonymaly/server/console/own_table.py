# SPDX-License-Identifier: Apache-2.0
"""A table as `finding` asks it on behalf of somebody who visits: by the same jobs as every other question."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.query import Query
from anonymaly.ask.seen import preview_for
from anonymaly.ask.server_words import read_problem
from anonymaly.core.epsilon import to_text
from anonymaly.core.value import canonical_json
from anonymaly.errors import AnswerFailed
from anonymaly.server import asking
from anonymaly.server.authentication import Caller
from anonymaly.server.console.answer_words import read_stored
from anonymaly.server.looking import answers_of, find_answer
from anonymaly.server.problems import BUSY, Problem, failed, internal, of_result
from anonymaly.server.released import Seen, look
from anonymaly.server.services import Services, View, view
from anonymaly.server.submitting import answer_of

LARGEST_MODEL = 64 * 2**20  # bytes
PART = 200  # answers that are listed at a time


class AnswerWaits(Exception):
    """An answer that may not be seen yet; or one that could not be asked for at this moment, and why."""

    def __init__(self, seen: Seen | None, why: Problem | None = None) -> None:
        super().__init__("not released")
        self.seen = seen
        self.why = why


class OwnTable:
    """One table, and one person's answers about it.

    Parameters
    ----------
    once : str
        What idempotency keys are made of: the same question again is the same job, and is charged once.
    model : int, optional
        The one answer that is listed; all of them by default, and none for 0.
    """

    def __init__(
        self, services: Services, caller: Caller, table: str, once: str = "", model: int | None = None
    ) -> None:
        self._services, self._caller, self._table = services, caller, table
        self._once = once
        self._model = model
        self._jobs: dict[str, str] = {}  # that this one asked: what for
        self.declaration = self.view().table.declaration

    def view(self) -> View:
        """Return the table as it stands; raise the one 404 if it may not be seen."""
        return view(self._services, self._caller, self._table)

    @property
    def asked(self) -> list[str]:
        """What was asked for and is answered, in the questions' own words."""
        return list(self._jobs.values())

    @property
    def allowed(self) -> Mapping[str, Any]:
        """What the person may still spend, as decimal text; None without a limit."""
        own = self.view().allowance()
        left = None if own is None else own.remaining
        return {"remaining": None if left is None else to_text(left)}

    def listed(self) -> list[dict[str, Any]]:
        """Return a line for each answer of the person's, oldest first."""
        found = (item for item in self._answers() if item["person"] == self._caller.person)
        return [item for item in found if not item.get("erased") and self._model in (None, item["number"])]

    def answer(self, number: int) -> Answer:
        """Return an answer that is listed."""
        job = next(item["job"] for item in self.listed() if item["number"] == number)
        return replace(self._read(find_answer(self._services, self._caller, job)), charged_nano=0)

    def preview(self, query: Query) -> Preview:
        """Say what a question would cost."""
        seen = self.view()
        return preview_for(seen.table.declaration, query, seen.allowance())

    def ask(self, query: Query, *, repeat: int = 0) -> Answer:
        """Return the answer of a job, added if there is none; raise `AnswerWaits` before its time."""
        plain = query.to_dict()
        key = hmac.new(self._once.encode(), canonical_json([plain, repeat]).encode(), "sha256").hexdigest()
        try:
            job, _ = asking.ask(
                self._services, self._caller, self._table, plain, idempotency_key=key, repeat=repeat
            )
        except Problem as problem:
            if problem.status in BUSY:
                raise AnswerWaits(None, problem) from None
            raise
        seen = look(self._services.state, job.id)
        if seen is None:
            raise internal()
        if not seen.released:
            raise AnswerWaits(seen)
        again = job.id in self._jobs
        self._jobs[job.id] = query.describe()
        if seen.job.state == "failed":
            said = failed()
            raise AnswerFailed(said.problem, next_step="The statement has your charges.")
        if seen.job.state == "refused":
            raise read_problem(of_result(seen.result["problem"]).to_dict())
        answer = self._read(seen).labelled(query)  # with the record's own value, which no store keeps
        return replace(answer, charged_nano=0) if again else answer  # the same record twice is charged once

    def _read(self, seen: Seen) -> Answer:
        found = read_stored(self._services, seen, answer_of(seen), LARGEST_MODEL)
        if found is None:
            raise Problem(
                413,
                "an answer is too large for a page; it is stored, and asking for it again is free",
                field="columns",
                next_step="Find on your own machine: anonymaly find URL FILE.",
            )
        return found

    def _answers(self) -> Iterator[dict[str, Any]]:
        after: str | None = None
        while True:
            part = answers_of(self._services, self._caller, self._table, after, PART)
            yield from part["items"]
            after = part["next"]
            if after is None:
                return
