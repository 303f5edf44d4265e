# SPDX-License-Identifier: Apache-2.0
"""The answer of ``explain`` for everyone: groups in which a record stands out, and why, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymaly.core.value import Number, Value, added
from anonymaly.declare.dates import Dates
from anonymaly.declare.domain import Bins
from anonymaly.declare.predicates import (
    Comparison,
    Conjunction,
    Disjunction,
    IsNull,
    Membership,
    Negation,
    Predicate,
)

if TYPE_CHECKING:
    from anonymaly.pictures.chart import Chart

Label = StrictBool | StrictInt | StrictStr


class GroupPart(Value):
    """What a group says about one attribute: any value, some values, or an interval of them.

    Examples
    --------
    >>> print(GroupPart("job", "values", ["Nurse", "Cook"]))
    job in {Nurse, Cook}
    >>> print(GroupPart("age", "interval", ["[18, 65)", "[65, 120]"], by=Bins("age", [0, 18, 65, 120])))
    age from 18 to 120
    """

    column: StrictStr
    how: Literal["any", "values", "interval"] = "any"
    values: tuple[Label, ...] = ()
    """The values; of an interval, its first and its last part."""
    left_out: tuple[Label, ...] = ()
    """The other declared values, where saying these is shorter."""
    by: Annotated[Bins | Dates, Field(discriminator="type")] | None = None
    """How the column is cut, if it is."""
    since: datetime | None = added(None)
    """The declared start of dates, if the first part of the calendar begins before it."""
    until: datetime | None = added(None)
    """The declared end of dates, if the interval reaches up to it."""

    if TYPE_CHECKING:

        def __init__(
            self,
            column: str,
            how: str = "any",
            values: Sequence[Any] = (),
            left_out: Sequence[Any] = (),
            by: Bins | Dates | None = None,
            since: datetime | None = None,
            until: datetime | None = None,
        ) -> None: ...

    def predicate(self) -> Predicate | None:
        """Return the part as a condition on the column; None if it is none, or one of weekdays."""
        if self.how == "any":
            return None
        if isinstance(self.by, Bins):
            places = [self.by.labels.index(str(label)) for label in self.values]
            if self.how == "interval":
                return self._between_edges(self.by, *places)
            bins = tuple(self._between_edges(self.by, place, place) for place in places)
            return bins[0] if len(bins) == 1 else Disjunction(bins)
        if isinstance(self.by, Dates):
            return self._between_dates(self.by)
        if len(self.values) == 1:
            return Comparison(self.column, "==", self.values[0])
        return Membership(self.column, self.values)

    def _between_edges(self, bins: Bins, first: int, last: int) -> Predicate:
        ends = Comparison(self.column, ">=", bins.edges[first]), self._upper(bins, last)
        return Conjunction(ends)

    def _upper(self, bins: Bins, last: int) -> Comparison:
        return Comparison(self.column, "<=" if last == len(bins.edges) - 2 else "<", bins.edges[last + 1])

    def _between_dates(self, dates: Dates) -> Predicate | None:
        if not dates.parts:
            return None
        first, last = (_number(dates, str(label)) for label in self.values)
        begin, end = self.since or dates.begin(first), dates.begin(last + 1)
        ends = [] if begin is None else [Comparison(self.column, ">=", begin)]
        if self.until is not None:
            ends.append(Comparison(self.column, "<=", self.until))
        elif end is not None:
            ends.append(Comparison(self.column, "<", end))
        return Conjunction(tuple(ends)) if len(ends) > 1 else ends[0]

    def __str__(self) -> str:
        if self.how == "any":
            return f"any {self.column}"
        if self.how == "interval":
            return self._interval()
        if self.left_out and len(self.left_out) < len(self.values):
            return f"{self.column} all but {', '.join(map(str, self.left_out))}"
        if len(self.values) == 1:
            return f"{self.column} = {self.values[0]}"
        return f"{self.column} in {{{', '.join(map(str, self.values))}}}"

    def _interval(self) -> str:
        first, last = self.values
        if isinstance(self.by, Bins):
            low = self.by.edges[self.by.labels.index(str(first))]
            place = self.by.labels.index(str(last))
            below = "" if place == len(self.by.edges) - 2 else "below "
            return f"{self.column} from {low} to {below}{self.by.edges[place + 1]}"
        return f"{self.column} {first}" if first == last else f"{self.column} {first} to {last}"


def _number(dates: Dates, label: str) -> int:
    """Return the number that a label of a calendar stands for."""
    year, part = int(label[:4]), label[5:].removeprefix("Q")
    return year * dates.parts + (int(part) - 1 if part else 0)


class Group(Value):
    """A group in which a record stands out, with what was released about it.

    Examples
    --------
    >>> parts = [GroupPart("job", "values", ["Nurse"]), GroupPart("city")]
    >>> group = Group(parts, size=2310, metric="pay")
    >>> print(group)
    among records with job = Nurse, any city
    >>> group.expression
    "job == 'Nurse' and pay is not null"
    """

    parts: Annotated[tuple[GroupPart, ...], Field(min_length=1)]
    """What it says about each attribute."""
    size: StrictInt | None = None
    """About how many records are in it; None if ε was not spent on that."""
    within: StrictInt | None = None
    """95 of 100 draws of the size are within this of the true one, before rounding; None if it is exact."""
    quartiles: tuple[Number, Number, Number] | None = None
    """Below about a quarter, half and three quarters of the group; None if they are too few to say."""
    metric: StrictStr | None = added(None)
    """The metric, which every record of the group has; answers from before this was kept do not name it."""

    if TYPE_CHECKING:

        def __init__(
            self,
            parts: Sequence[GroupPart],
            size: int | None = None,
            within: int | None = None,
            quartiles: Sequence[float] | None = None,
            metric: str | None = None,
        ) -> None: ...

    @property
    def expression(self) -> str | None:
        """The group as a filter that `Count(where=…)` reads; None for weekdays, which no filter knows."""
        conditions = [part.predicate() for part in self.parts if part.how != "any"]
        if self.metric is not None:
            conditions.append(Negation(IsNull(self.metric)))
        known = tuple(condition for condition in conditions if condition is not None)
        if not known or len(known) < len(conditions):
            return None
        return str(known[0] if len(known) == 1 else Conjunction(known))

    @property
    def brief(self) -> str:
        """The group in words, without what it leaves open."""
        asked = [str(part) for part in self.parts if part.how != "any"]
        return f"among records with {', '.join(asked)}" if asked else "among all records"

    def __str__(self) -> str:
        if all(part.how == "any" for part in self.parts):
            return "among all records"
        return f"among records with {', '.join(map(str, self.parts))}"


class Explanation(Value):
    """Groups in which a record stands out, in the order drawn; none, if it does in none clearly enough.

    Examples
    --------
    >>> job = GroupPart("job", "values", ["Nurse"])
    >>> found = Explanation("pay", 412, [Group([job], 2310, 12, [102, 115, 131])], needed=9, why=True)
    >>> print(found)
    stands out in pay among records with job = Nurse
    about 2,310 records; about half of them between 102 and 131; this one has 412
    >>> print(Explanation("pay", 412, [], needed=9, why=True))
    stands out in no group (or not clearly enough: a record needs a margin of about 9 records)
    """

    metric: StrictStr
    """The column in which the record may stand out."""
    # Answers that were stored before it was left out hold it.
    record_value: Number | None = added(None)
    """The record's value in it, as the asker gave it; None where nobody asks: answers are kept without it."""
    groups: tuple[Group, ...]
    """The groups."""
    needed: Number
    """The margin, in records, that a record needs to be seen at this ε."""
    why: StrictBool
    """Whether ε was spent on sizes and quartiles."""

    if TYPE_CHECKING:

        def __init__(
            self, metric: str, record_value: float | None, groups: Sequence[Group], needed: float, why: bool
        ) -> None: ...

    def about(self, record_value: float | None) -> Explanation:
        """Return the same about a record's value, or about none."""
        return Explanation(self.metric, record_value, self.groups, self.needed, self.why)

    @property
    def stands_out(self) -> bool:
        """Whether there is a group."""
        return bool(self.groups)

    def reason(self, group: Group) -> str:
        """Say what was released about a group, beside the record's value if that is known."""
        about = "" if group.within is None else "about "
        said = [] if group.size is None else [f"{about}{group.size:,} records"]
        if group.quartiles is not None:
            low, _, high = map(shown_value, group.quartiles)
            said.append(f"about half of them between {low} and {high}")
        elif self.why:
            at = " at this ε" if about else ""
            said.append(f"too few to say where their {self.metric} lies{at}")
        if self.record_value is not None:
            said.append(f"this one has {shown_value(self.record_value)}")
        return "; ".join(said)

    def lines(self, group: Group) -> list[str]:
        """Say of a group that the record stands out in it, and why."""
        return [f"stands out in {self.metric} {group}", *filter(None, [self.reason(group)])]

    def __str__(self) -> str:
        if not self.groups:
            needed = f"a record needs a margin of about {shown_value(self.needed)} records"
            return f"stands out in no group (or not clearly enough: {needed})"
        lines = []
        for group in self.groups:
            lines += self.lines(group)
        return "\n".join(lines)

    def pictures(self) -> list[Chart]:
        """Return the record against each group whose quartiles are known."""
        from anonymaly.questions.explain.everyone.picture import charts  # noqa: PLC0415  (it draws this)

        return list(charts(self))

    def _repr_html_(self) -> str:
        from anonymaly.questions.explain.everyone.picture import to_html  # noqa: PLC0415  (only notebooks)

        return to_html(self)


def shown_value(number: float) -> str:
    """Write a number as people read it: thousands in groups, and of a fraction at most six digits.

    Examples
    --------
    >>> shown_value(412000.0), shown_value(3.14159265), shown_value(2264310.72)
    ('412,000', '3.14159', '2,264,311')
    """
    whole = float(number).is_integer() or 1e5 <= abs(number) < 1e15
    return f"{round(number):,}" if whole else f"{number:,.6g}"
