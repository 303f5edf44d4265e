# SPDX-License-Identifier: Apache-2.0
"""A question bound to a declaration: what follows from the two, derived once, before any row is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anonymaly.ask.secret import Digest, without_secret
from anonymaly.core.value import digest
from anonymaly.promise import Everyone, Guarantee, Relation

if TYPE_CHECKING:
    import ibis.expr.types as ir

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
class Expectation:
    """What an asker may know before the charge: the noise and the error that it causes."""

    noise: str
    error: str
    half_width: float | None = None  # 95 % of answers are within this of the truth; None for other answers
    details: Mapping[str, Any] | None = None  # plain data, such as an error curve, if words are not enough

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain data."""
        plain = {"noise": self.noise, "error": self.error, "half_width_95": self.half_width}
        return plain if self.details is None else {**plain, "details": dict(self.details)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Expectation:
        """Read the expectation back from plain data."""
        return cls(data["noise"], data["error"], data["half_width_95"], data.get("details"))


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
    def policy(self) -> Policy | Publication | None:
        """What the view's rows are judged by, if the question needs that."""
        return None

    @property
    def used(self) -> Used | None:
        """What of the declaration the question depends on; None if it may be all of it.

        An amendment of anything else leaves the question what it was, and its earlier answer free.
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
        """What ``expect`` says, computed once."""
        return self.expect()

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
