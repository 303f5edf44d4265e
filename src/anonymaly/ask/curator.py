# SPDX-License-Identifier: Apache-2.0
"""The curator: where budget is spent. Charge, then compute, then store, then answer."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, overload

from anonymaly.ask.answer import Answer, Preview, Previews
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.ask.query import (
    Expectation,
    Query,
    Stage,
    StageFailure,
    answer_with,
    load_question,
    root_cause,
    view_for,
)
from anonymaly.ask.store import Store, Stored
from anonymaly.core.epsilon import Number, to_nano, to_text
from anonymaly.declare.dataset import Adjacency, Dataset
from anonymaly.declare.manifest import Manifest, absolute, beside
from anonymaly.engine.source import EngineFailure
from anonymaly.errors import AnswerFailed, InputError, LedgerDamaged, LedgerError, Refused, RuleNotDeclared
from anonymaly.ledger import Account, Ledger, Reservation, refuse_if_too_expensive
from anonymaly.ledger.statement import Statement
from anonymaly.noise import Noise
from anonymaly.promise import Guarantee
from anonymaly.version import __version__

if TYPE_CHECKING:
    import ibis.expr.types as ir

logger = logging.getLogger(__name__)
# The log is the owner's. Without a handler of the owner's, Python would print it to whoever asks.
logging.getLogger("anonymaly").addHandler(logging.NullHandler())


class Curator:
    """Answers questions about one dataset out of one budget.

    Parameters
    ----------
    dataset : Dataset
        The table and its declaration.
    budget : number, optional
        The most ε that all answers together may cost. Needed when the account is opened; later it may
        be left out, and a different number is an error: see ``raise_budget``.
    adjacency : {"add_remove", "replace"}
        What two neighbouring tables are: one person more, or one person's record changed.
    ledger : path or PostgreSQL URL
        Where charges are kept; by default ``<name>.ledger`` in the working folder.
    anchor : path, optional
        A file elsewhere that holds the newest entry's hash, so that a restored old ledger is noticed.
    store : path, optional
        Where released answers are kept; by default beside the ledger.

    Notes
    -----
    Whoever holds the table can read it without asking. Accounts bind honest users of a library.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> patients = am.Dataset(pandas.DataFrame({"age": [30, 40]}), name="patients",
    ...                       columns={"age": am.Interval(0, 120)})
    >>> curator = am.Curator(patients, budget=1.0, ledger=folder / "patients.ledger")
    >>> answer = curator.ask(am.Count(where="age < 35", epsilon=0.25))
    >>> curator.remaining
    0.75
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        budget: Number | None = None,
        adjacency: Adjacency = "add_remove",
        ledger: str | Path | None = None,
        anchor: str | Path | None = None,
        store: str | Path | None = None,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise InputError(
                f"must be a Dataset, got {type(dataset).__name__}",
                field="dataset",
                next_step="Declare the table first: am.Dataset(table, name=…, columns=…).",
            )
        self.dataset = dataset
        self.declaration = dataset.with_adjacency(adjacency)
        self._limit = None if budget is None else to_nano(budget, field="budget")
        # Absolute, so that a later change of folder does not open a second ledger with a budget of its own.
        self._location = absolute(f"{dataset.name}.ledger" if ledger is None else str(ledger))
        self._anchor = None if anchor is None else absolute(str(anchor))
        self._ledger = Ledger.open(self._location, anchor=self._anchor)
        self._opened = False  # whether this curator has written its declaration and rules down
        self._refuse_changes()
        answers = Path(store if store is not None else beside(self._location, dataset.name)).absolute()
        # One folder for each ledger, so that no other ledger's questions are mistaken for this one's.
        self._store = Store(answers / self._ledger.head().ledger[:16])
        past = self._ledger.reservations(dataset.name)
        self._store.sweep({item.key: item.digest for item in past if item.state != "reserved"})

    @classmethod
    def open(cls, path: str | Path) -> Curator:
        """Open the account that a YAML file declares."""
        manifest, folder = Manifest.load(path), Path(path).parent
        return cls(
            manifest.dataset(folder),
            budget=manifest.budget,
            adjacency=manifest.adjacency,
            ledger=manifest.ledger_location(folder),
            anchor=manifest.place(folder, manifest.anchor),
            store=manifest.store_location(folder),
        )

    def about(self, source: Any) -> Curator:
        """Return a curator of the same account for other rows of the declared columns, such as a fold.

        Whatever is asked of it is charged to this account, and is never an answer that was given before:
        rows are told apart by a version of their own. Which rows they are must follow from their positions
        alone. That keeps the account's promise where one record is replaced by another; where one comes or
        goes, it would move others from part to part, so such an account refuses.
        """
        declared = self.dataset.declaration
        if declared.person is not None or declared.key is not None:
            raise InputError(
                f"the account knows rows by {declared.person or declared.key}, which other rows do not have",
                field="person" if declared.person else "key",
                next_step="Ask the curator of the whole table.",
            )
        if self.declaration.adjacency != "replace":
            raise Refused(
                "a record that comes or goes moves others from one part of the rows to the next, so that "
                "asking about parts would break the account's promise",
                field="adjacency",
                next_step="Open the account with adjacency='replace', where every record keeps its place.",
            )
        other = Dataset(
            source,
            name=declared.name,
            version=f"{declared.version} part {Noise.system().uniform(2**64):016x}",
            columns=declared.columns,
            rules="any" if declared.any_rule else declared.rules,
            public=declared.public,
        )
        opened = declared.name in self._ledger.accounts()
        part = Curator(
            other,
            budget=None if opened or self._limit is None else to_text(self._limit),
            adjacency=self.declaration.adjacency,
            ledger=self._location,
            anchor=self._anchor,
            store=self._store.folder.parent,
        )
        if part._ledger.head().ledger != self._ledger.head().ledger:
            part.close()
            raise LedgerDamaged(
                f"another ledger lies at {self._ledger.location}, where this account's was",
                field="ledger",
                next_step="Restore the ledger from a backup, or ask the owner what changed it.",
            )
        return part

    def __deepcopy__(self, memory: dict[int, Any]) -> Curator:
        # scikit-learn copies parameters; two handles on one account are one account.
        return self

    @overload
    def preview(self, query: Query, *, repeat: int = 0) -> Preview: ...
    @overload
    def preview(self, query: Sequence[Query], *, repeat: int = 0) -> Previews: ...
    def preview(self, query: Query | Sequence[Query], *, repeat: int = 0) -> Preview | Previews:
        """Say what a question, or several, would cost, promise and give; reads no rows, spends nothing."""
        if isinstance(query, Sequence) and not isinstance(query, str):
            return Previews(tuple(self._preview(item, _whole(repeat)) for item in query))
        return self._preview(query, _whole(repeat))

    def ask(self, query: Query, *, analyst: str = "owner", repeat: int = 0) -> Answer:
        """Charge the account, answer the question, and keep the answer.

        The same question again returns the stored answer, free; ``repeat=1`` asks for a fresh, paid draw.
        ``analyst`` is a label until a server authenticates it.
        """
        # Everything up to the reservation depends on the question, the declaration and the ledger alone.
        resolved, guarantee, stages = self._accept(query)
        table = view_for(resolved, self.dataset, self.declaration)
        self._store.refuse_unwritable()
        # Only now, when nothing is left to mend, is the declaration written down for good.
        self._open_account(resolved)
        reservation = self._ledger.reserve(
            self.dataset.name,
            analyst=_label(analyst),
            key=resolved.fingerprint(self.declaration, _whole(repeat)),
            cost=resolved.cost,
            record=self._record(resolved, guarantee, stages, repeat),
        )
        charged = resolved.cost if reservation.charged else 0
        if reservation.state == "reserved":
            reservation = self._compute(resolved, stages, table, reservation)
        if reservation.state == "failed":
            raise _failure(reservation)
        return self._answer(reservation, charged, type(resolved))

    @property
    def budget(self) -> float:
        """The most ε that all answers together may cost."""
        return _epsilon(self._account.limit)

    @property
    def spent(self) -> float:
        """The ε that is charged so far."""
        return _epsilon(self._account.spent)

    @property
    def remaining(self) -> float:
        """The ε that may still be spent."""
        return _epsilon(self._account.remaining)

    def answers(self) -> list[Answer]:
        """Return every released answer, oldest first."""
        kept = self._ledger.reservations(self.dataset.name)
        return [self._answer(item, 0) for item in kept if item.state == "committed"]

    def answer(self, number: int) -> Answer:
        """Return a released answer by its number."""
        for item in self._ledger.reservations(self.dataset.name):
            if item.seq == number and item.state == "committed":
                return self._answer(item, 0)
        raise InputError(
            f"there is no answer {number}",
            field="number",
            next_step="`answers()` lists those that were released.",
        )

    def raise_budget(self, *, to: Number) -> None:
        """Raise the budget; the ledger keeps when and to what."""
        self._open_account()
        self._ledger.raise_limit(self.dataset.name, to_nano(to, field="to"))

    def statement(self) -> Statement:
        """Say what was spent and what is still promised to whom, as plain data."""
        # The account first: a charge made between the two readings is then only not yet in its sum.
        return Statement.of(self._account, self._ledger.reservations(self.dataset.name))

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def __repr__(self) -> str:
        account = self._account
        left = f"{to_text(account.remaining)} of {to_text(account.limit)}"
        return f"Curator({self.dataset.name!r}, remaining={left})"

    def _refuse_changes(self) -> None:
        """Check the declaration against the account, if there is one; write nothing."""
        if self.dataset.name in self._ledger.accounts():
            self._ledger.compare(
                self.dataset.name,
                self.declaration.to_dict(),
                limit=self._limit,
                rules=self.declaration.rules_to_dict(),
            )
        elif self._limit is None:
            raise InputError(
                f"the account '{self.dataset.name}' is new and has no budget",
                field="budget",
                next_step="Give the total ε that all its answers may spend, such as budget=1.0.",
            )

    def _open_account(self, query: Query | None = None) -> None:
        """Open the account at its first question, and write down rules that were added since."""
        if self._opened:
            return
        known = self.dataset.name in self._ledger.accounts()
        if not known and query is not None and self._limit is not None:
            refuse_if_too_expensive(query.cost, remaining=self._limit, limit=self._limit)
        self._ledger.open_account(
            self.dataset.name,
            self.declaration.to_dict(),
            # Compared when the curator was made; the owner may have raised it since.
            limit=None if known else self._limit,
            rules=self.declaration.rules_to_dict(),
        )
        self._opened = True

    @property
    def _account(self) -> Account:
        if self._limit is not None and self.dataset.name not in self._ledger.accounts():
            return Account(self.dataset.name, self._limit, 0, self.declaration.to_dict(), {})
        return self._ledger.account(self.dataset.name)

    def _accept(self, query: Query) -> tuple[Query, Guarantee, tuple[Stage, ...]]:
        """Read the question anew, check it against the declaration, and return all that follows from it."""
        if not isinstance(query, Query):
            raise InputError(
                f"must be a question, got {type(query).__name__}",
                field="query",
                next_step="Give, for instance, am.Count(epsilon=0.1).",
            )
        # Parsed again from its canonical text: what is charged and recorded is what is computed.
        resolved = type(query).read(query.to_dict()).resolve(self.declaration)
        if not resolved.kept:
            raise Refused(
                f"the answer of this {type(resolved).__name__} cannot be stored, as what is charged must be",
                field="query",
                next_step="Ask for the form that can, or simulate on public data.",
            )
        guarantee = resolved.promise(self.declaration)
        if not (self.declaration.any_rule or guarantee.relation.permitted(self.declaration.rules)):
            raise RuleNotDeclared(
                f"{type(resolved).__name__} needs a promise that the owner of {self.dataset.name} did not "
                "declare: "
                f"it would protect only {guarantee.relation.protects()}",
                field="rules",
                next_step=f"Cite a declared rule ({', '.join(self.declaration.rules) or 'there is none'}), "
                "or ask the owner to declare one.",
            )
        stages = resolved.stages(self.declaration)
        if sum(stage.share for stage in stages) != resolved.cost or min(stage.share for stage in stages) <= 0:
            raise AssertionError(f"the shares of {resolved.question} do not sum to its cost")
        return resolved, guarantee, stages

    def _preview(self, query: Query, repeat: int) -> Preview:
        resolved, guarantee, stages = self._accept(query)
        earlier = self._ledger.find(self.dataset.name, resolved.fingerprint(self.declaration, repeat))
        return Preview(
            query=resolved,
            guarantee=guarantee,
            expectation=resolved.expect(self.declaration),
            shares=tuple((stage.name, stage.share) for stage in stages),
            remaining=self._account.remaining,
            charged_before=None if earlier is None else earlier.seq,
        )

    def _record(
        self, query: Query, guarantee: Guarantee, stages: tuple[Stage, ...], repeat: int
    ) -> Mapping[str, Any]:
        """Return what the ledger keeps about a question, enough to compose and to explain it later."""
        return {
            "question": query.question,
            "schema_version": query.schema_version,
            "query": query.for_ledger(),
            "asks": query.describe(),
            "repeat": repeat,
            "version": self.declaration.version,
            "guarantee": guarantee.to_dict(),
            "expected": query.expect(self.declaration).to_dict(),
            "shares": {stage.name: stage.share for stage in stages},
            "software": __version__,
        }

    def _compute(
        self, query: Query, stages: tuple[Stage, ...], table: ir.Table, reservation: Reservation
    ) -> Reservation:
        """Carry out the stages under a standing charge; return the reservation as it ended."""
        stored = self._draw(query, stages, table, reservation.key)
        if isinstance(stored, _Failed):
            # A draw that came to nothing is never made again under the same charge, or whoever sees which
            # draws fail would learn from as many of them as they like.
            ended = self._ledger.fail(reservation, stage=stored.stage, error=stored.error)
            self._log(query, stored)
            if stored.cause is not None:
                raise stored.cause from None
            return ended
        ended = self._ledger.commit(
            reservation, digest=stored.digest, media_type=query.media_type, size=stored.size
        )
        # Another process may have ended this first, or died with a draw of its own: one outcome stands.
        self._store.settle(reservation.key, ended.digest)
        return ended

    def _draw(self, query: Query, stages: tuple[Stage, ...], table: ir.Table, key: str) -> Stored | _Failed:
        """Make and keep a value, or say where that failed.

        An engine's error quotes rows. It ends here: what is raised later must not have it as its context,
        and neither must an interrupt that arrives while it is being handled.
        """
        try:
            value = answer_with(query, stages, table, Noise.system())
            return self._store.keep(key, lambda file: _encode(query, value, file))
        except StageFailure as failure:
            return _Failed.of(failure, public=self.dataset.public)
        except LedgerError as problem:
            return _Failed(
                "store", type(problem).__name__, problem.problem, problem if self.dataset.public else None
            )
        except BaseException as interrupt:
            if not self.dataset.public:
                interrupt.__cause__ = interrupt.__context__ = None
            raise

    def _log(self, query: Query, failed: _Failed) -> None:
        """Tell the owner's log where it failed, without a value or an engine's words."""
        # A log that cannot be written must not hide what happened to the question.
        with contextlib.suppress(Exception):
            logger.error(
                "%s on %s failed in stage %s: %s",
                query.question,
                self.dataset.name,
                failed.stage,
                failed.what,
            )

    def _answer(self, reservation: Reservation, charged: int, kind: type[Query] | None = None) -> Answer:
        """Read an answer back from the store: the first caller and the last see the same bytes."""
        record = reservation.record
        if kind is None:
            kind = load_question(record["question"], QUESTIONS)
        with self._store.open(reservation.key, str(reservation.digest)) as file:
            value = kind.decode(file)
        return Answer(
            value=value,
            asks=record["asks"],
            shown=kind.show(value, record["asks"]),
            question=record["question"],
            guarantee=Guarantee.read(record["guarantee"]),
            expectation=Expectation.read(record["expected"]),
            number=reservation.seq,
            charged=charged,
            remaining=self._account.remaining,
            receipt=reservation.receipt(),
        )


@dataclass(frozen=True)
class _Failed:
    """What is left of a failure once the engine's own words are dropped."""

    stage: str
    error: str  # the name of its class
    what: str  # for the owner's log
    cause: BaseException | None  # of a public table only, whose rows are no secret

    @classmethod
    def of(cls, failure: StageFailure, *, public: bool) -> _Failed:
        cause = failure.__cause__
        kind = type(cause).__name__
        what = f"{cause.kind} in {cause.template}" if isinstance(cause, EngineFailure) else kind
        return cls(failure.stage, kind, what, root_cause(failure) if public else None)


def _failure(reservation: Reservation) -> AnswerFailed:
    return AnswerFailed(
        f"question {reservation.seq} was charged ε={to_text(reservation.cost)} and no answer came of it",
        next_step="The charge stands. The owner's log names the stage; repeat= asks again at a new charge.",
    )


def _encode(query: Query, value: Any, file: BinaryIO) -> None:
    try:
        query.encode(value, file)
    except OSError:
        raise  # the disk's fault, not the question's
    except Exception as problem:
        raise StageFailure("encode") from problem


def _epsilon(nano: int) -> float:
    return float(to_text(nano))


def _label(analyst: str) -> str:
    if not isinstance(analyst, str) or not 0 < len(analyst) <= 100 or not analyst.isprintable():
        raise InputError(
            "must be 1 to 100 printable characters", field="analyst", next_step="Give a short name."
        )
    return analyst


def _whole(repeat: int) -> int:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise InputError(
            "must be a whole number from 0",
            field="repeat",
            next_step="0 is the stored answer, 1 a fresh draw.",
        )
    return repeat
