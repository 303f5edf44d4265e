# SPDX-License-Identifier: Apache-2.0
"""A question as a value, and the stages that answer it."""

from __future__ import annotations

import importlib
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Self

import pyarrow as pa
from pydantic import BeforeValidator, Field, PlainSerializer

from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.value import Value, digest
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain
from anonymaly.declare.rules import Policy, Rule
from anonymaly.engine.statements import EngineFailure
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.promise import Everyone, Guarantee, Relation

if TYPE_CHECKING:
    import ibis.expr.types as ir

Released = Mapping[str, Any]
_TYPES = {
    "interval": pa.float64(),
    "unbounded": pa.float64(),
    "categories": pa.string(),
    "flag": pa.bool_(),
    "timestamps": pa.timestamp("us"),
}
Questions = Mapping[str, str]  # question → "module:Class", as in questions.py

Epsilon = Annotated[
    Decimal,
    BeforeValidator(lambda value: Decimal(to_text(to_nano(value)))),
    PlainSerializer(str, return_type=str),
]


@dataclass(frozen=True)
class Stage:
    """One step of an answer: read rows into something small, then release it with noise.

    ``summarise(table, released)`` is the only function that meets the table and draws no randomness;
    ``release(summary, released, noise)`` is the only one that draws. Both see what earlier stages released.
    """

    name: str
    share: int  # nano-ε; the shares of a question sum to its cost
    summarise: Callable[[ir.Table, Released], Any]
    release: Callable[[Any, Released, Noise], Any]


@dataclass(frozen=True)
class Example:
    """A question on a small invented table: what the contract suite and the audits ask of it."""

    query: Query
    records: Mapping[str, list[Any]]  # column → values
    columns: Mapping[str, Domain]
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def dataset(self, records: Mapping[str, list[Any]] | None = None, **options: Any) -> Dataset:
        """Return the table, or one declared alike with other records."""
        given = self.records if records is None else records
        # Typed by the declaration: a column of nulls alone has no type that could be told from its values.
        table = pa.table(
            {name: pa.array(values, _TYPES.get(self.columns[name].type)) for name, values in given.items()}
        )
        return Dataset(table, **{"name": "example", "columns": self.columns, "rules": self.rules, **options})


class StageFailure(Exception):
    """A stage raised; says which, and keeps the cause for public tables and the owner's log."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.stage = stage


def root_cause(failure: StageFailure) -> BaseException:
    """Return the error that started it, for tables that hold no secrets."""
    cause = failure.__cause__
    return (cause.__cause__ if isinstance(cause, EngineFailure) else cause) or failure


def answer_with(query: Query, stages: tuple[Stage, ...], table: ir.Table, noise: Noise) -> Any:
    """Carry out the stages in order and return the value: the one way from a table to an answer."""
    released: dict[str, Any] = {}
    name = ""
    try:
        for stage in stages:
            name = stage.name
            summary = stage.summarise(table, dict(released))
            released[name] = stage.release(summary, dict(released), noise)
        name = "combine"
        return query.combine(released)
    except Exception as problem:
        raise StageFailure(name) from problem


def view_for(query: Query, dataset: Dataset, declaration: Declaration) -> ir.Table:
    """Return what a question's stages see of a table."""
    policy = query.judged_by(declaration)
    return dataset.table if policy is None else dataset.judged(policy)


class Query(Value):
    """A frozen question that knows its cost and promise before any row is read.

    A question defines ``question``, its fields, and the methods below that raise or return defaults.
    ``epsilon`` is always the total charge, in the account's adjacency.
    """

    takes_positions: ClassVar[bool] = False
    question: ClassVar[str]
    schema_version: ClassVar[int] = 1
    media_type: ClassVar[str] = "application/json"
    tabular: ClassVar[bool] = False  # whether the value is a Table, which can be written to a file
    # Fields about a person: the ledger and reports keep their digest only.
    personal_fields: ClassVar[frozenset[str]] = frozenset()

    epsilon: Epsilon = Field(description="The total charge, in the account's adjacency.")

    @property
    def cost(self) -> int:
        """The charge in nano-ε: exactly epsilon."""
        return to_nano(self.epsilon)

    @property
    def kept(self) -> bool:
        """Whether the answer can be kept in a store; one that cannot is for simulations alone."""
        return True

    def resolve(self, declaration: Declaration) -> Self:
        """Check the fields against the declaration and return the question in its canonical spelling."""
        return self

    def relation(self, declaration: Declaration) -> Relation:
        """Return who is protected; everyone, unless the question cites a declared rule."""
        return Everyone(adjacency=declaration.adjacency, rows=declaration.unit_rows)

    def judged_by(self, declaration: Declaration) -> Policy | None:
        """Return the policy by which the view's rows are to be judged, if the question needs one."""
        return None

    @classmethod
    @abstractmethod
    def example(cls) -> Example:
        """Return the question on a small invented table."""

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return all the ways in which the contract suite asks it; one, unless it has several forms."""
        return (cls.example(),)

    @abstractmethod
    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Return the steps that answer the question."""

    @abstractmethod
    def describe(self) -> str:
        """Say in a few words what is asked, without the value of any personal field: the ledger keeps it."""

    @abstractmethod
    def expect(self, declaration: Declaration) -> Expectation:
        """Say what noise the answer will carry and how far off it may be."""

    def combine(self, released: Released) -> Any:
        """Make the answer's value from what the stages released; by default the last stage's."""
        return list(released.values())[-1]

    @classmethod
    def show(cls, value: Any, asks: str) -> str:
        """Write a value for people to read; ``asks`` is the question's own description."""
        return f"{asks}: {value}"

    def encode(self, value: Any, file: BinaryIO) -> None:
        """Write a value to the store."""
        file.write(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())

    @classmethod
    def decode(cls, file: BinaryIO) -> Any:
        """Read a value back from the store."""
        return json.load(file)

    def promise(self, declaration: Declaration) -> Guarantee:
        """Return the promise: who is protected, and the charge."""
        return Guarantee(self.relation(declaration), self.epsilon)

    def fingerprint(self, declaration: Declaration, repeat: int = 0) -> str:
        """Identify the question to this dataset; the same fingerprint gets the same stored answer."""
        return digest([self.question, self.schema_version, self.to_dict(), declaration.digest(), repeat])

    def for_ledger(self) -> dict[str, Any]:
        """Return the question as the ledger keeps it: fields about a person as digests."""
        fields = self.to_dict()
        return {name: digest(item) if name in self.personal_fields else item for name, item in fields.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data; ``from_json`` reads it back."""
        return {"question": self.question, **super().to_dict()}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Read a question of this type from plain data; unknown fields are refused."""
        fields = dict(data) if isinstance(data, Mapping) else data
        if isinstance(fields, dict) and fields.pop("question", cls.question) != cls.question:
            raise InputError(
                f"is not {cls.question!r}", field="question", next_step="Use that question's own type."
            )
        return super().read(fields)

    @staticmethod
    def from_json(text: str | bytes | Mapping[str, Any], questions: Questions) -> Query:
        """Read any question from its JSON.

        Examples
        --------
        >>> from anonymaly.ask.catalogue import QUESTIONS
        >>> Query.from_json('{"question": "count", "epsilon": "0.1"}', QUESTIONS)
        Count(epsilon=Decimal('0.1'), where=None)
        """
        if isinstance(text, str | bytes):
            try:
                text = json.loads(text, parse_float=_exact)
            except (ValueError, RecursionError):
                raise InputError(
                    "is not JSON",
                    field="query",
                    next_step='Write, for instance, {"question": "count", "epsilon": "0.1"}.',
                ) from None
        name = text.get("question") if isinstance(text, Mapping) else None
        if not isinstance(name, str) or not isinstance(text, Mapping):
            raise InputError(
                "names no question", field="question", next_step=f"Questions: {', '.join(questions)}."
            )
        return load_question(name, questions).read(text)


def _exact(text: str) -> float | str:
    """Read a number as a float, but leave 0.10000000000000000001, which is not 0.1, as text."""
    number = float(text)
    return number if Decimal(repr(number)) == Decimal(text) else text


def load_question(name: str, questions: Questions) -> type[Query]:
    """Import the type of a question from its line in the table of questions."""
    if name not in questions:
        raise InputError(
            f"there is no question {name!r}",
            field="question",
            next_step=f"Questions: {', '.join(questions)}.",
        )
    module, _, kind = questions[name].partition(":")
    question: type[Query] = getattr(importlib.import_module(module), kind)
    return question


@dataclass(frozen=True)
class Expectation:
    """What an asker may know before the charge: the noise and the error it makes."""

    noise: str
    error: str
    half_width: float | None = None  # 95 % of answers are within this of the truth, where that is a number
    details: Mapping[str, Any] | None = None  # plain data, such as an error curve, where words are not enough

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain data."""
        told = {"noise": self.noise, "error": self.error, "half_width_95": self.half_width}
        return told if self.details is None else {**told, "details": dict(self.details)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Expectation:
        """Read the expectation back from plain data."""
        return cls(data["noise"], data["error"], data["half_width_95"], data.get("details"))
