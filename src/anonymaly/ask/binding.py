# SPDX-License-Identifier: Apache-2.0
"""A question bound to a declaration: what follows from the two, derived once, before any row is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

from anonymaly.ask.secret import Digest, without_secret
from anonymaly.core.epsilon import to_text
from anonymaly.core.value import digest
from anonymaly.declare.publication import WholePersons
from anonymaly.promise import Everyone, Guarantee, Relation

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.ask.permit import Permit
    from anonymaly.ask.query import Query
    from anonymaly.declare.declaration import Declaration
    from anonymaly.declare.publication import Publication
    from anonymaly.declare.rules import Policy
    from anonymaly.ledger.declarations import Declared
    from anonymaly.noise import Noise

Released = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One step of an answer: read rows into something small, then release it with noise.

    ``summarise(table, released)`` is the only function that meets the table and draws no randomness;
    ``release(summary, released, noise)`` is the only one that draws. Both see what earlier stages released.
    """

    name: str
    summarise: Callable[[ir.Table, Released], Any]
    release: Callable[[Any, Released, Noise], Any]


@dataclass(frozen=True)
class Measure:
    """The error as one number, for which a plan can look up the ε; it follows from public facts alone.

    Examples
    --------
    >>> print(Measure(30, "records", "95 of 100 draws are within this of the true count"))
    30 records: 95 of 100 draws are within this of the true count
    """

    number: float
    unit: Literal["records", "persons", "probability", "share"]
    meaning: str
    falls: bool = True  # whether more ε never makes the number larger; if not, no least ε can be searched

    def to_dict(self) -> dict[str, Any]:
        """Return the measure as plain data."""
        return {"number": self.number, "unit": self.unit, "meaning": self.meaning, "falls": self.falls}

    @property
    def shown(self) -> str:
        """The number as people read it."""
        return shown_number(self.number)

    def __str__(self) -> str:
        return f"{self.shown} {self.unit}: {self.meaning}"


def shown_number(number: float) -> str:
    """Write a number of records in full, and a part of one in three digits.

    Examples
    --------
    >>> shown_number(12345), shown_number(0.0123456)
    ('12,345', '0.0123')
    """
    return f"{int(number):,}" if float(number).is_integer() else f"{number:.3g}"


@dataclass(frozen=True)
class Choices:
    """What an error would be under other numbers than those asked with: a table, and notes below it."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[float, ...], ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "title": self.title,
            "head": list(self.head),
            "lines": [list(line) for line in self.lines],
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Choices:
        """Read the table from plain data."""
        lines = tuple(tuple(line) for line in data["lines"])
        return cls(data["title"], tuple(data["head"]), lines, tuple(data["notes"]))


@dataclass(frozen=True)
class Expectation:
    """What an asker may know before the charge: the noise and the error that it causes."""

    noise: str
    error: str
    half_width: float | None = None  # 95 % of answers are within this of the truth; None for other answers
    details: Mapping[str, Any] | None = None  # plain data, such as an error curve, if words are not enough
    measure: Measure | None = None  # the error as one number; None where there is no such number

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain data."""
        return {
            "noise": self.noise,
            "error": self.error,
            "half_width_95": self.half_width,
            **({} if self.details is None else {"details": dict(self.details)}),
            **({} if self.measure is None else {"measure": self.measure.to_dict()}),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Expectation:
        """Read the expectation back from plain data; that of earlier versions has no measure."""
        measure = data.get("measure")
        return cls(
            data["noise"],
            data["error"],
            data["half_width_95"],
            data.get("details"),
            None if measure is None else Measure(**measure),
        )


@dataclass(frozen=True)
class Used:
    """The names of the declared columns and rules that an answer and its promise depend on."""

    columns: frozenset[str]
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A question in its canonical form, with the declaration that it is asked under.

    Each question's ``binding.py`` has a subclass that adds what its stages need, and a function
    ``bind(query, declaration)`` that makes it or raises an error about the field that does not fit.
    """

    query: Query  # checked, and in its canonical form
    declaration: Declaration
    # How whatever is written down tells a person's values: an account's curator gives one with a secret.
    digest_of: Digest = field(default=without_secret, repr=False, compare=False)

    @property
    def relation(self) -> Relation:
        """Who is protected; everyone, unless the question cites a declared rule."""
        return Everyone(adjacency=self.declaration.adjacency, rows=self.declaration.unit_rows)

    @property
    def policy(self) -> Policy | Publication | WholePersons | None:
        """What the view's rows are judged by, and whether all of them are needed, if the question says so."""
        return None

    @property
    def used(self) -> Used | None:
        """What of the declaration the question depends on; None if it may be all of it.

        An amendment of anything else leaves the question what it was, and its earlier answer free.
        """
        return None

    @property
    def schema_version(self) -> int:
        """The version that the ledger writes down: a later one where the question has another law by now."""
        return self.query.schema_version

    @property
    def earlier(self) -> Binding | None:
        """What the same words asked in a version before, where a default or a law has changed since; or None.

        What was charged for that is not charged again: its answer is handed over as it is.
        """
        return None

    @property
    def warning(self) -> str | None:
        """What whoever asks must read first, if ε says too little of what an answer can give away."""
        return None

    def permit(self) -> Permit | None:
        """Return the rule that counts questions like this one, if there is such a rule.

        Raises an error if all declared rules that allow the question's promise limit something else that it
        does not keep to: its ε, say. Depends on the question and the declaration alone.
        """
        return None

    @property
    def shares(self) -> Mapping[str, int]:
        """Nano-ε of each stage, in their order; they sum to the question's cost."""
        return {self.query.question: self.query.cost}

    @abstractmethod
    def expect(self) -> Expectation:
        """Say what noise the answer will carry and how far off it may be."""

    @cached_property
    def expectation(self) -> Expectation:
        """What ``expect`` says, and how many rows of a person it is about; computed once."""
        expected, rows = self.expect(), self.declaration.unit_rows
        if rows is None or isinstance(self.policy, WholePersons):
            return expected
        read = "one row of each person is read" if rows == 1 else f"{rows:,} rows of each person are read"
        return replace(expected, error=f"{expected.error}\nat most {read}")

    @property
    def why_no_measure(self) -> str:
        """Why the error is no single number, and what can be had instead; for questions that have none."""
        return "its error is said in words only: see its preview"

    def at(self, cost: int) -> Self:
        """Return the same question at another ε, in billionths; a plan tries many of them."""
        query = self.query.model_copy(update={"epsilon": Decimal(to_text(cost))})
        bound: Self = query.bind(self.declaration)  # type: ignore[assignment]  # the same question
        return replace(bound, digest_of=self.digest_of)

    def choices(self, costs: Sequence[int], wanted: float | None) -> Choices | None:
        """Return what the error would be under other numbers of the owner's rule, if there are such.

        Parameters
        ----------
        costs : sequence of int
            The ε to say it for, in billionths.
        wanted : float, optional
            The error that the plan is for.
        """
        return None

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise: who is protected, and the charge."""
        return Guarantee(self.relation, self.query.epsilon)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The steps that answer the question, from its ``mechanism.py``; imported when rows are read."""
        stages = self.query.stages(self)
        if [stage.name for stage in stages] != list(self.shares):
            raise AssertionError(
                f"the stages of {self.query.question} are not those among which its charge is divided"
            )
        return stages

    def fingerprint(self, repeat: int = 0, declared: Declared | None = None) -> str:
        """Identify the question to this dataset; the same fingerprint gets the same stored answer.

        Anybody who can guess the question can compute it, so it is not written down (see ``Accountant``).
        ``declared`` is one of the account's declarations, if the question was not asked under this one: see
        ``fingerprints``.
        """
        query, own = self.query, self.declaration
        other = None if declared is None or declared.declaration == own.to_dict() else declared.declaration
        parts = [query.question, query.schema_version, query.to_dict(), own.digest(other), repeat]
        # Rules are in none of these. While an account is not amended a name stands for one rule, and accounts
        # that never are keep the fingerprints that they always had.
        return digest(parts if declared is None or not declared.amended else [*parts, declared.hash])

    def answer(self, table: ir.Table, noise: Noise) -> Any:
        """Carry out the stages in order and return the value: the one way from a table to an answer."""
        released: dict[str, Any] = {}
        name = ""
        try:
            for stage in self.stages:
                name = stage.name
                summary = stage.summarise(table, dict(released))
                released[name] = stage.release(summary, dict(released), noise)
        except Exception as problem:
            raise StageFailure(name) from problem
        return released[name]


class StageFailure(Exception):
    """A stage raised an error: its name, and the cause, for public tables and the owner's log."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.stage = stage
