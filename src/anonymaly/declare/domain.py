# SPDX-License-Identifier: Apache-2.0
"""What the owner makes public about a column: bounds, categories, kind. Nothing here comes from rows."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    Field,
    StrictInt,
    StrictStr,
    TypeAdapter,
    field_validator,
    model_validator,
)

from anonymaly.core.suggestions import guess, listed
from anonymaly.core.value import Number, Ordered, Value, added, is_text
from anonymaly.declare.column import DeclaredColumn
from anonymaly.engine.columns import Kind
from anonymaly.engine.reading import Reading
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


class Interval(DeclaredColumn):
    """A number between two public bounds, optionally on a grid of ``step``.

    Examples
    --------
    >>> Interval(0, 120).contains(121)
    False
    """

    type: Literal["interval"] = "interval"
    low: Number
    """The lower bound, included."""
    high: Number
    """The upper bound, included."""
    step: Number | None = None
    """The distance between possible values, if they lie on a grid that starts at the lower bound."""

    if TYPE_CHECKING:

        def __init__(
            self,
            low: float,
            high: float,
            step: float | None = None,
            *,
            read: Reading | None = None,
            type: str = "interval",
        ) -> None: ...

    @model_validator(mode="after")
    def _ordered(self) -> Interval:
        if not self.low < self.high:
            raise InputError(
                f"the lower bound {self.low} is not below the upper bound {self.high}",
                field="low",
                next_step="Give the lower bound first.",
            )
        if not math.isfinite(self.width):
            raise InputError(
                "the distance between the bounds is too large for a number",
                field="high",
                next_step="Give bounds that real values come near.",
            )
        if self.step is not None:
            steps = self.width / self.step if self.step > 0 else 0
            if not (1 <= steps < math.inf and math.isclose(steps, round(steps), rel_tol=1e-9)):
                raise InputError(
                    f"{self.step} does not divide the width {self.width}",
                    field="step",
                    next_step="Give a positive step with both bounds on its grid.",
                )
        return self

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low

    def contains(self, value: Any) -> bool:
        """Say whether a value lies within the bounds; null and NaN do not."""
        if isinstance(value, bool) or not isinstance(value, Real | Decimal):
            return False
        if isinstance(value, Decimal) and not value.is_finite():
            return False
        return bool(self.low <= value <= self.high)  # type: ignore[operator]  # all real numbers compare

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "number"

    def describe(self) -> str:
        """Say the domain in a few words."""
        return f"{self.low} to {self.high}" + (f" in steps of {self.step}" if self.step is not None else "")


class Unbounded(DeclaredColumn):
    """A number without publicly known bounds.

    Questions that need bounds refuse it, or find them privately for a share of ε, as ``Score`` does.
    """

    type: Literal["unbounded"] = "unbounded"

    def contains(self, value: Any) -> bool:
        """Say whether a value is a finite number."""
        if isinstance(value, bool) or not isinstance(value, Real | Decimal):
            return False
        return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "number"

    def describe(self) -> str:
        """Say the domain in a few words."""
        return "a number of unknown bounds"


class Categories(DeclaredColumn):
    """One of a public list of values."""

    type: Literal["categories"] = "categories"
    values: Annotated[tuple[StrictStr | StrictInt, ...], Ordered] = Field(min_length=1)
    """The possible values, all text or all whole numbers."""
    other: StrictStr | StrictInt | None = added(None)
    """A further value, which stands for all that are not in the list; to a policy it is an undeclared one."""

    if TYPE_CHECKING:

        def __init__(
            self,
            values: Sequence[str] | Sequence[int],
            *,
            other: str | int | None = None,
            read: Reading | None = None,
            type: str = "categories",
        ) -> None: ...

    @field_validator("values", mode="before")
    @classmethod
    def _plain(cls, values: Any) -> Any:
        return [_plain_category(value) for value in values] if isinstance(values, list | tuple) else values

    @field_validator("values")
    @classmethod
    def _distinct(cls, values: tuple[str | int, ...]) -> tuple[str | int, ...]:
        if len({type(value) for value in values}) > 1:
            raise InputError(
                "mixes text and whole numbers",
                field="values",
                next_step="Write all of them as text, in quotes.",
            )
        if len(set(values)) < len(values):
            repeated = next(value for value, times in Counter(values).items() if times > 1)
            raise InputError(f"names {repeated!r} twice", field="values", next_step="Name each value once.")
        return values

    @field_validator("other", mode="before")
    @classmethod
    def _plain_other(cls, value: Any) -> Any:
        return None if value is None else _plain_category(value, "other")

    @model_validator(mode="after")
    def _told_apart(self) -> Categories:
        if self.other is not None and (
            self.other in self.values or isinstance(self.other, str) != self.of_text
        ):
            raise InputError(
                f"is {self.other!r}, which is one of the values, or not of their kind",
                field="other",
                next_step="Name what is undeclared by a value of its own, such as Other, or -1 of numbers.",
            )
        if self.read is not None and self.of_text:
            for name, _ in self.read.same:
                if name not in self.values:
                    raise InputError(
                        f"has spellings of {name!r}, which is not one of the values",
                        field="read.same",
                        next_step="Name declared values, each with its other spellings.",
                    )
            try:
                self.read.refuse_clashes({str(value): str(value) for value in self.values}, always_trim=False)
            except InputError as error:
                raise InputError(
                    error.problem, field=f"read.{error.field}", next_step=error.next_step
                ) from None
        return self

    @property
    def labels(self) -> tuple[str | int, ...]:
        """The values that a column can have once it is read: those of the list, and the other one."""
        return self.values if self.other is None else (*self.values, self.other)

    @property
    def reading(self) -> Reading | None:
        """How the engine reads the column; where texts are changed, each value is a spelling of itself."""
        if self.read is None or not ((self.read.fold or self.read.trim) and self.of_text):
            return self.read
        spellings = dict(self.read.same)
        same = {str(value): spellings.get(str(value), ()) for value in self.values}
        return Reading(**{**self.read.to_dict(), "same": same})

    @property
    def of_text(self) -> bool:
        """Whether the values are text rather than whole numbers."""
        return isinstance(self.values[0], str)

    def contains(self, value: Any) -> bool:
        """Say whether a value is in the list; the other value is not."""
        return self.is_label(value) and value != self.other

    def is_label(self, value: Any) -> bool:
        """Say whether a column that is read can have a value."""
        return isinstance(value, str | Real) and not isinstance(value, bool) and value in self.labels

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "text" if self.of_text else "whole number"

    def describe(self) -> str:
        """Say the domain in a few words."""
        shown = ", ".join(str(value) for value in self.values[:5])
        others = "" if self.other is None else f", or {self.other} for all others"
        return (
            f"one of {shown}" + (f" … ({len(self.values)} values)" if len(self.values) > 5 else "") + others
        )


def _plain_category(value: Any, field: str = "values") -> Any:
    if isinstance(value, bool):
        raise InputError(
            "has true or false among its values, which is how YAML reads yes, no, on and off",
            field=field,
            next_step="Put such values in quotes, or declare a Flag.",
        )
    if isinstance(value, Integral):
        # Frames and engines that hold numbers as floats cannot tell longer ones apart.
        if abs(int(value)) >= 2**53:
            raise InputError(
                "has a whole number of more than 53 bits, which not every source can hold",
                field=field,
                next_step="Write all of them as text, in quotes.",
            )
        return int(value)
    if not isinstance(value, str):
        raise InputError(
            f"must be text or whole numbers, got {type(value).__name__}",
            field=field,
            next_step="Put the values in quotes.",
        )
    if "\0" in value or not is_text(value):
        raise InputError(
            "has a character that no engine can hold", field=field, next_step="Leave that value out."
        )
    return str(value)


class Flag(DeclaredColumn):
    """True or false."""

    type: Literal["flag"] = "flag"

    def contains(self, value: Any) -> bool:
        """Say whether a value is true or false; null is neither."""
        return isinstance(value, bool)

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "flag"

    def describe(self) -> str:
        """Say the domain in a few words."""
        return "true or false"


def read_moment(text: Any) -> datetime:
    """Read a date or a date and time without a zone, as in 2026-01-31 or 2026-01-31 12:00."""
    if isinstance(text, datetime) and str(text) != "NaT":  # pandas' null is a datetime, too
        # Rebuilt, because subclasses carry more than their JSON says.
        moment = datetime.combine(text.date(), text.timetz())
    elif isinstance(text, date) and not isinstance(text, datetime):
        moment = datetime(text.year, text.month, text.day)
    else:
        try:
            moment = datetime.fromisoformat(str(text))
        except ValueError:
            raise ValueError("must be a date and time such as 2026-01-31 or 2026-01-31 12:00") from None
    if moment.tzinfo is not None:
        raise ValueError("must have no time zone: columns are compared as they are stored")
    return moment


class Timestamps(DeclaredColumn):
    """A date and time between two public bounds, without a time zone."""

    type: Literal["timestamps"] = "timestamps"
    start: datetime
    """The earliest moment, included."""
    end: datetime
    """The latest moment, included."""

    if TYPE_CHECKING:

        def __init__(
            self,
            start: str | date,
            end: str | date,
            *,
            read: Reading | None = None,
            type: str = "timestamps",
        ) -> None: ...

    @field_validator("start", "end", mode="before")
    @classmethod
    def _moment(cls, value: Any) -> datetime:
        return read_moment(value)

    @model_validator(mode="after")
    def _ordered(self) -> Timestamps:
        if not self.start < self.end:
            raise InputError(
                f"{self.start} is not before {self.end}",
                field="start",
                next_step="Give the earlier moment first.",
            )
        return self

    def contains(self, value: Any) -> bool:
        """Say whether a moment lies between the two."""
        return isinstance(value, datetime) and value.tzinfo is None and self.start <= value <= self.end

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "moment"

    def describe(self) -> str:
        """Say the domain in a few words."""
        return f"{self.start} to {self.end}"


class Opaque(DeclaredColumn):
    """A column that is passed on but never looked into: an identifier, a note."""

    type: Literal["opaque"] = "opaque"

    def contains(self, value: Any) -> bool:
        """Say whether there is a value at all: anything but null."""
        return value is not None

    @property
    def kind(self) -> Kind:
        """What a table's column is read as."""
        return "opaque"

    def describe(self) -> str:
        """Say the domain in a few words."""
        return "anything, never looked into"


class Bins(Value):
    """A numeric column cut at public edges; each bin includes its lower edge, the last one both.

    Examples
    --------
    >>> ages = Bins("age", [0, 18, 65, 120])
    >>> ages.labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    >>> ages.labels[ages.index(18)]
    '[18, 65)'
    """

    type: Literal["bins"] = "bins"
    column: StrictStr
    """The numeric column."""
    edges: Annotated[tuple[Number, ...], Ordered] = Field(min_length=2)
    """The edges of the bins in increasing order, the two outermost among them."""

    if TYPE_CHECKING:

        def __init__(self, column: str, edges: Sequence[float], *, type: str = "bins") -> None: ...

    @field_validator("edges")
    @classmethod
    def _increasing(cls, edges: tuple[float, ...]) -> tuple[float, ...]:
        for left, right in itertools.pairwise(edges):
            if not left < right:
                raise InputError(
                    f"{right} follows {left}", field="edges", next_step="Give the edges in increasing order."
                )
        return edges

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins' names, in order."""
        pairs = list(itertools.pairwise(self.edges))
        last = len(pairs) - 1
        return tuple(f"[{a}, {b}{']' if place == last else ')'}" for place, (a, b) in enumerate(pairs))

    def index(self, value: float) -> int | None:
        """Return the number of the bin that holds a value, or None if no bin does."""
        if not self.edges[0] <= value <= self.edges[-1]:
            return None
        return min(bisect.bisect_right(self.edges, value), len(self.edges) - 1) - 1


Domain = Interval | Unbounded | Categories | Flag | Timestamps | Opaque

_DOMAIN: TypeAdapter[Domain] = TypeAdapter(Annotated[Domain, Field(discriminator="type")])
KINDS = ("interval", "unbounded", "categories", "flag", "timestamps", "opaque")


def read_domain(data: Any, *, field: str) -> Domain:
    """Read a column's declaration from plain data, as the YAML file holds it."""
    advice = f"Give type ({', '.join(KINDS)}) and its fields, as in {{type: interval, low: 0, high: 120}}."
    if isinstance(data, Domain):
        return data
    if not isinstance(data, Mapping) or data.get("type") not in KINDS:
        meant = guess(str(data.get("type", "")), KINDS) if isinstance(data, Mapping) else ""
        raise InputError("is not a declaration of a column", field=field, next_step=f"{meant}{advice}")
    try:
        return _DOMAIN.validate_python({str(name): item for name, item in data.items()})
    except InputError as error:
        place = f"{field}.{error.field}" if error.field else field
        raise InputError(error.problem, field=place, next_step=error.next_step) from None


def arrow_type(domain: Domain) -> pa.DataType | None:
    """Return the Arrow type of a declared column, or None for an opaque one, which may have any type.

    Examples
    --------
    >>> arrow_type(Interval(0, 120)), arrow_type(Opaque())
    (DataType(double), None)
    """
    import pyarrow as pa  # noqa: PLC0415  (a declaration alone never needs it)

    match domain:
        case Interval() | Unbounded():
            return pa.float64()
        case Categories():
            return pa.string() if domain.of_text else pa.int64()
        case Flag():
            return pa.bool_()
        case Timestamps():
            return pa.timestamp("us")
        case _:
            return None


def find_domain(name: str, columns: Mapping[str, Domain], *, field: str) -> Domain:
    """Return the domain of a declared column, or raise an error that lists the declared ones."""
    if name not in columns:
        raise no_such_column(name, columns, field=field)
    return columns[name]


def no_such_column(
    name: str,
    declared: Iterable[str],
    *,
    field: str,
    place: str = "",
    hint: str = "",
    error: type[InputError] = InputError,
) -> InputError:
    """Return the error that lists the declared columns, after a hint; ``place`` is of the name in a text."""
    names = list(declared)
    return error(
        f"there is no declared column {name!r}{place}",
        field=field,
        next_step=f"{hint}{guess(name, names)}Declared columns: {listed(names, name)}.",
    )
