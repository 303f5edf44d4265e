# SPDX-License-Identifier: Apache-2.0
"""What a find needs of an account, here or on a server: what questions cost at most, and what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.ask.remote import RemoteCurator
from anonymaly.ask.seen import preview_for
from anonymaly.core.epsilon import LARGEST_TOTAL, read_amount
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import AnonymalyError, InputError
from anonymaly.ledger import Reservation
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.value import Model


class Attempt(NamedTuple):
    """Which repeat of a question would be asked, what it would give, and what it would cost at most."""

    repeat: int
    preview: Preview
    cost: int  # in nano-ε
    number: int | None = None  # of its charge of before, as far as whoever asks may know
    answered: bool = False  # whether that has an answer


class Asking(Protocol):
    """One asker's questions: what they would cost, and which of them were charged before."""

    declaration: Declaration

    def remaining(self) -> int:
        """Return what may still be spent, in billionths of ε."""

    def preview(self, query: Query) -> Preview:
        """Return the preview of a question."""

    def attempt(self, query: Query) -> Attempt:
        """Return the first repeat of a question that did not fail before, as far as that is known."""

    def models(self, like: Score) -> Iterator[tuple[int, Preview]]:
        """Yield number and preview of each stored model of these columns that costs nothing more."""

    def stored(self, number: int, query: Query) -> Answer | None:
        """Return a stored answer, free; None if it is of another declaration."""

    def ask(self, query: Query, repeat: int) -> Answer:
        """Ask, and be charged."""


def asking_of(curator: Curator | RemoteCurator, analyst: str | None) -> Asking:
    """Return what asks an account in somebody's name; on a server the key says in whose."""
    if isinstance(curator, Curator):
        return AskingHere(curator, "owner" if analyst is None else analyst)
    if not isinstance(curator, RemoteCurator):
        raise InputError(
            f"must be a Curator, got {type(curator).__name__}",
            field="curator",
            next_step="Open the account first: am.Curator(dataset, budget=…), or am.connect(url).",
        )
    if analyst is not None:
        raise InputError(
            "cannot be chosen on a server: the key says who asks", field="analyst", next_step="Leave it out."
        )
    return AskingServer(curator)


class AskingHere:
    """Asks an account whose ledger is at hand."""

    def __init__(self, curator: Curator, analyst: str) -> None:
        self._curator, self._analyst = curator, analyst
        self.declaration = curator.declaration

    def remaining(self) -> int:
        """Return what the account holds, and no more than the asker's grant does; refuse without one."""
        accountant = self._curator.accountant
        remaining = accountant.account.remaining
        mine = accountant.ledger.allowance(accountant.name, self._analyst) if accountant.has_grants else None
        return remaining if mine is None or mine.remaining is None else min(remaining, mine.remaining)

    def preview(self, query: Query) -> Preview:
        """Return the preview of a question."""
        return self._curator.preview(query)

    def attempt(self, query: Query) -> Attempt:
        """Return the first repeat of a question that did not fail before."""
        accountant, repeat = self._curator.accountant, 0
        bound = accountant.accept(query)
        while True:
            charge = accountant.find(accountant.as_charged(bound, repeat), repeat)
            if charge is None or charge.state != "failed":
                break
            repeat += 1
        preview = self._curator.preview(query, repeat=repeat)
        if charge is None:
            return Attempt(repeat, preview, preview.cost_nano)
        # Another's charge still counts in the asker's own grant.
        cost = preview.cost_nano if self._is_free(charge) else preview.query.cost
        return Attempt(repeat, preview, cost, charge.seq, charge.state == "committed" and not cost)

    def models(self, like: Score) -> Iterator[tuple[int, Preview]]:
        """Yield number and preview of each stored model of these columns that costs nothing more."""
        for charge in self._curator.accountant.answers():
            fields = charge.record["query"]
            if not _is_like(charge.record["question"], fields, like) or not self._is_free(charge):
                continue
            try:
                preview = self._curator.preview(Score.from_dict(fields))
            except InputError:
                continue  # of a declaration of before
            if preview.charged_before == charge.seq:
                yield charge.seq, preview

    def stored(self, number: int, query: Query) -> Answer | None:
        """Return a stored answer, free."""
        return self._curator.ask(query, analyst=self._analyst)

    def ask(self, query: Query, repeat: int) -> Answer:
        """Ask, and be charged."""
        return self._curator.ask(query, analyst=self._analyst, repeat=repeat)

    def _is_free(self, charge: Reservation) -> bool:
        """Say whether a question costs nothing more: it was charged before, to this asker if that matters."""
        accountant = self._curator.accountant
        mine = accountant.ledger.charge_of(charge.account, charge.key, self._analyst)
        return mine is not None or not accountant.has_grants


class ServerTable(Protocol):
    """A server's table as one asker sees it: over HTTP a `RemoteCurator`, and on pages the console's own."""

    declaration: Declaration

    @property
    def allowed(self) -> Mapping[str, Any]:
        """The asker's own ``limit``, ``spent`` and ``remaining`` as decimal text."""

    def listed(self) -> list[dict[str, Any]]:
        """Return a line for each answer of the asker's, oldest first."""

    def answer(self, number: int) -> Answer:
        """Return one of them by its number."""

    def preview(self, query: Query) -> Preview:
        """Return the preview of a question, at its full cost."""

    def ask(self, query: Query, *, repeat: int = 0) -> Answer:
        """Ask, and be charged."""


class AskingServer:
    """Asks a table of a server, which tells nothing of others: every question may cost all of its ε."""

    def __init__(self, curator: ServerTable) -> None:
        self._curator = curator
        self.declaration = curator.declaration

    def remaining(self) -> int:
        """Return what the asker's own limit holds."""
        text = self._curator.allowed["remaining"]
        return LARGEST_TOTAL if text is None else read_amount(text)

    def preview(self, query: Query) -> Preview:
        """Return the preview of a question, from the declaration alone."""
        return preview_for(self.declaration, query)

    def attempt(self, query: Query) -> Attempt:
        """Return the question at its full cost: whether it was charged before is found by asking it."""
        preview = self._curator.preview(query)
        return Attempt(0, preview, preview.cost_nano)

    def models(self, like: Score) -> Iterator[tuple[int, Preview]]:
        """Yield number and preview of each model of these columns among the asker's own answers."""
        for line in self._curator.listed():
            fields = line.get("query")
            if not isinstance(fields, dict) or not _is_like(line["question"], fields, like):
                continue
            try:
                preview = preview_for(self.declaration, Score.from_dict(fields))
            except AnonymalyError:
                continue  # of a declaration of before
            yield line["number"], preview

    def stored(self, number: int, query: Query) -> Answer | None:
        """Return an answer of before, not asked again; None if its columns were declared otherwise then."""
        answer = self._curator.answer(number)
        return answer if _fits(answer.value, query, self.declaration) else None

    def ask(self, query: Query, repeat: int) -> Answer:
        """Ask, and be charged."""
        return self._curator.ask(query, repeat=repeat)


def _is_like(question: str, fields: dict[str, object], like: Score) -> bool:
    return question == Score.question and fields.get("columns") == list(like.columns)


def _fits(model: Model, query: Query, declaration: Declaration) -> bool:
    """Say whether a model has the columns as they are declared now, but for bounds that it found itself."""
    bound, then = query.bind(declaration), model.space
    if not isinstance(bound, ScoreBinding) or not isinstance(then, MixedSpace):
        return False
    found = dict(zip(then.columns, zip(then.lows, then.highs, strict=True), strict=True))
    now = MixedSpace.of(bound.columns, bound.domains, {**found, **bound.known})
    return now == then
