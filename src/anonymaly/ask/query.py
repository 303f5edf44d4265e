# SPDX-License-Identifier: Apache-2.0
"""`Query`, the base of all questions: a frozen, hashable value with one JSON form."""

from __future__ import annotations

import importlib
import json
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Generic, Self, TypeVar

from pydantic import BeforeValidator, PlainSerializer

from anonymaly.ask.catalogue import QUESTIONS, foreign, load, refuse_unnamed
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.value import Value
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, arrow_type
from anonymaly.declare.rules import Rule
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.ask.binding import Binding, Stage
    from anonymaly.ask.secret import Digest
    from anonymaly.ask.store import KeptFile
    from anonymaly.promise import Guarantee


if TYPE_CHECKING:
    import typing_extensions

    # What an answer's value is; any, where a question does not say.
    T = typing_extensions.TypeVar("T", default=Any)

    class Typed(Value, Generic[T]):
        """What a question answers with, for type checkers."""
else:
    T = TypeVar("T")

    class Typed(Value):
        """A question at run time: the type of its value makes no class of its own."""

        def __class_getitem__(cls, kind: Any) -> type[Typed]:
            return cls


Epsilon = Annotated[
    Decimal,
    BeforeValidator(lambda value: Decimal(to_text(to_nano(value)))),
    PlainSerializer(str, return_type=str),
]


@dataclass(frozen=True)
class Example:
    """A question on a small invented table, which the contract suite and the audits ask."""

    query: Query
    records: Mapping[str, list[Any]]  # column → values
    columns: Mapping[str, Domain]
    rules: Mapping[str, Rule] = field(default_factory=dict)
    person: str | None = None  # a declared column
    max_rows: int | None = None

    def dataset(self, records: Mapping[str, list[Any]] | None = None, **options: Any) -> Dataset:
        """Return the table, or one with the same declaration and other records."""
        import pyarrow as pa  # noqa: PLC0415  (only tests and audits make tables of examples)

        given = self.records if records is None else records
        # Typed by the declaration: the values of a column of nulls do not show its type.
        table = pa.table(
            {name: pa.array(values, arrow_type(self.columns[name])) for name, values in given.items()}
        )
        declared = {
            "name": "example",
            "columns": self.columns,
            "rules": self.rules,
            "person": self.person,
            "max_rows": self.max_rows,
        }
        return Dataset(table, **{**declared, **options})


class Query(Typed[T]):
    """A frozen question that knows its cost and promise before any row is read.

    A question defines ``question``, its fields and the abstract methods below. Beside it, ``binding.py``
    derives what follows from a declaration, ``mechanism.py`` has the stages, ``value.py`` the answer.
    ``epsilon`` is always the total charge, in the account's adjacency.
    """

    takes_positions: ClassVar[bool] = False
    question: ClassVar[str]
    media_type: ClassVar[str] = "application/json"
    tabular: ClassVar[bool] = False  # whether the value is a Table, which can be written to a file
    # Fields about a person: the ledger and reports keep their digest only.
    personal_fields: ClassVar[frozenset[str]] = frozenset()
    # Fields that only say how the answer is put into words. They are no part of the question: its canonical
    # form is without them, so they are not written down, and another label is the same question.
    wording_fields: ClassVar[frozenset[str]] = frozenset()

    epsilon: Epsilon
    """The total charge, in the account's adjacency."""

    def __dir__(self) -> list[str]:
        # What questions are made of is for those who write one; whoever asks one needs its fields.
        return [name for name in super().__dir__() if name not in FOR_AUTHORS]

    @property
    def cost(self) -> int:
        """The charge in nano-ε: exactly epsilon."""
        return to_nano(self.epsilon)

    @property
    def schema_version(self) -> int:
        """The version of the question's fields; a question that gets other ones says which it has."""
        return 1

    @property
    def kept(self) -> bool:
        """Whether the answer can be stored; if not, only simulations may ask the question."""
        return True

    def bind(self, declaration: Declaration) -> Binding:
        """Check the fields against the declaration and return what follows from both."""
        bound: Binding = self._part("binding").bind(self, declaration)
        return bound

    def for_plan(self, declaration: Declaration) -> Self:
        """Return the question as a plan may bind it: what its error does not depend on may be left out."""
        return self

    def own_record(self) -> dict[str, Any]:
        """Return the record that is asked about, if there is one: a rehearsal invents a row like it."""
        return {}

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the steps that answer the question, from its ``mechanism.py``."""
        stages: tuple[Stage, ...] = self._part("mechanism").stages(bound)
        return stages

    @classmethod
    def _part(cls, name: str) -> Any:
        """Return a module of the question's folder; all folders have the same ones (CONTRIBUTING.md).

        Imported when needed: a preview needs neither an engine nor compiled noise.
        """
        home = next(kind for kind in cls.__mro__ if "question" in vars(kind))
        return importlib.import_module(f"{home.__module__.rpartition('.')[0]}.{name}")

    @classmethod
    @abstractmethod
    def example(cls) -> Example:
        """Return the question on a small invented table."""

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return the examples that the contract suite asks: one, unless the question has several forms."""
        return (cls.example(),)

    @abstractmethod
    def describe(self) -> str:
        """Say in a few words what is asked, without personal fields: the ledger keeps the text."""

    def labels(self) -> tuple[str, ...] | None:
        """Return what whoever asks calls the records asked about, in order; None if they do not say."""
        return None

    def completed(self, value: Any) -> Any:
        """Return a value with what only whoever asks knows, and no store keeps; by default as it is."""
        return value

    @classmethod
    def show(cls, value: Any, asks: str, labels: Sequence[str] | None = None) -> str:
        """Write a value for people to read; ``asks`` is the question's own description."""
        part = cls._part("value")
        return str(part.show(value, asks) if labels is None else part.show(value, asks, labels))

    @classmethod
    def encode(cls, value: Any, file: BinaryIO) -> None:
        """Write a value to the store."""
        cls._part("value").encode(value, file)

    @classmethod
    def decode(cls, file: KeptFile) -> Any:
        """Read a value back from the store."""
        return cls._part("value").decode(file)

    @classmethod
    def recalled(cls, value: Any, query: Mapping[str, Any], guarantee: Guarantee) -> Any:
        """Return a value that was read back with what its question and promise say of it, if that is used.

        Parameters
        ----------
        value
            As ``decode`` returns it.
        query : mapping
            The question's fields as the ledger keeps them.
        guarantee : Guarantee
            The promise that it was asked under.
        """
        found = getattr(cls._part("value"), "recalled", None)
        return value if found is None else found(value, query, guarantee)

    def for_ledger(self, digest_of: Digest) -> dict[str, Any]:
        """Return the question as the ledger keeps it: fields about a person as digests."""
        return {
            name: digest_of(f"field:{name}", item) if name in self.personal_fields else item
            for name, item in self.to_dict().items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data; ``from_json`` reads it back."""
        return {"question": self.question, **super().to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a question of this type from plain data; unknown fields are refused."""
        fields = dict(data) if isinstance(data, Mapping) else data
        if isinstance(fields, dict) and fields.pop("question", cls.question) != cls.question:
            raise InputError(
                f"is not {cls.question!r}",
                field="question",
                next_step="Query.from_json reads any question by its name.",
            )
        return super().from_dict(fields)

    @staticmethod
    def from_json(text: str | bytes | Mapping[str, Any], *, named: Collection[str] | None = None) -> Query:
        """Read any question from its JSON.

        Parameters
        ----------
        text : str, bytes or mapping
            The question.
        named : collection of str, optional
            The questions of other packages that a declaration names: no other package is then imported. If it
            is not given, any that is installed is.

        Examples
        --------
        >>> Query.from_json('{"question": "count", "epsilon": "0.1"}')
        Count(epsilon=Decimal('0.1'), where=None)
        """
        if isinstance(text, str | bytes):
            try:
                text = json.loads(text, parse_float=exact_number)
            except (ValueError, RecursionError):
                raise InputError(
                    "is not JSON",
                    field="query",
                    next_step='Write, for instance, {"question": "count", "epsilon": "0.1"}.',
                ) from None
        name = text.get("question") if isinstance(text, Mapping) else None
        if not isinstance(name, str) or not isinstance(text, Mapping):
            raise InputError(
                "names no question", field="question", next_step=f"Questions: {', '.join(QUESTIONS)}."
            )
        # Ours first: to look for what other packages offer takes milliseconds.
        if named is not None and name not in QUESTIONS and name in foreign():
            refuse_unnamed(name, named)
        kind: type[Query] = load(name)
        return kind.read(text)


FOR_USERS = {"question", "epsilon", "describe", "to_dict", "from_dict", "from_json", "example"}
FOR_AUTHORS = {name for name in vars(Query) if not name.startswith("__") and name not in FOR_USERS} | {
    "takes_positions",
    "named_only",
}


def exact_number(text: str) -> float | str:
    """Read a number as a float, but leave 0.10000000000000000001, which is not 0.1, as text."""
    number = float(text)
    try:
        return number if Decimal(repr(number)) == Decimal(text) else text
    except InvalidOperation:  # an exponent of more digits than any number's
        return text
