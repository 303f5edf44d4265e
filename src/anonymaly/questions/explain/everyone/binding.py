# SPDX-License-Identifier: Apache-2.0
"""``explain`` for everyone, bound to a declaration: groups, margin, and what each draw may spend."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.core.rate import noise_rate
from anonymaly.core.suggestions import guess
from anonymaly.core.value import frozen_items
from anonymaly.declare.attributes import undeclared_number
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Interval, find_domain
from anonymaly.detectors import DETECTORS
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.questions.explain.everyone.axes import GroupAxis
from anonymaly.questions.explain.everyone.axes.build import fits, simple_axes, subset_axes
from anonymaly.questions.explain.everyone.axes.nested import Dyadic
from anonymaly.questions.explain.everyone.axes.subsets import SubsetAxis
from anonymaly.questions.explain.everyone.choices import WRONG
from anonymaly.questions.explain.everyone.group_list import most_in_sample
from anonymaly.questions.explain.everyone.margins import MARGINS, Margin
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.value import shown_value
from anonymaly.questions.explain.everyone.why import WhyRates

if TYPE_CHECKING:
    from anonymaly.questions.explain.query import Explain

# What only the form under a rule knows, with the value that means it was not given.
UNDER_A_RULE = ("utility", "target", "search", "samples", "tries", "start", "starts")


@dataclass(frozen=True, kw_only=True)
class EveryoneBinding(Binding):
    """What the stages need: the list of groups, the margin, and the rates."""

    query: Explain
    axes: tuple[GroupAxis, ...]
    sampled: bool  # whether the list is a sample of all groups
    grid: MetricGrid
    margin: Margin
    record_value: float
    listed: int  # how many groups the list has at most
    rate: Fraction  # of each draw, for one unit of the margin
    none_at: int  # the utility of "stands out in no group"
    why: WhyRates | None

    @property
    def metric(self) -> str:
        """The column in which the record may stand out."""
        return self.query.metric

    @property
    def used(self) -> Used:
        """The metric and the attributes."""
        return Used(frozenset([self.metric, *(axis.column for axis in self.axes)]))

    @property
    def shares(self) -> Mapping[str, int]:
        """What the draws and the reasons may spend."""
        return shares_of(self.query)

    @cached_property
    def needed(self) -> float:
        """The margin of "stands out in no group", in records."""
        return self.none_at / self.margin.unit

    def expect(self) -> Expectation:
        """Say which margin a record needs, and how often a wrong group is named."""
        noise = f"permute-and-flip, ε {float(self.rate * self.margin.unit):.3g} for each record of margin"
        among = f"{'a sample of ' if self.sampled else ''}{self.listed:,} groups"
        if any(isinstance(axis, Dyadic) for axis in self.axes):
            among += " (of intervals, those of 1, 2, 4, … neighbours: all would be too many)"
        needed = math.ceil(self.needed)
        wrong = f"in at most {float(WRONG):.0%} of draws a group in which it does not stand out is named"
        why = "" if self.why is None else f"; {self.why.expect()}"
        return Expectation(
            noise,
            f"a record needs a margin of about {shown_value(needed)} records, among {among}; {wrong}{why}",
            details={"groups": self.listed, "needed": self.needed},
            measure=Measure(needed, "records", "a record needs a margin of about so many to be seen"),
        )


def shares_of(query: Explain) -> dict[str, int]:
    """Return what the draws and the reasons may spend, in billionths of ε."""
    why = int(query.cost * Fraction(query.why))
    if not query.why:
        return {"group": query.cost}
    if not why:
        raise InputError(
            "is too small to be divided between a group and its reasons",
            field="epsilon",
            next_step="Give a larger one, or why=0.",
        )
    return {"group": query.cost - why, "why": why}


def bind_for_everyone(query: Explain, declaration: Declaration) -> EveryoneBinding:
    """Check the question against the declaration; write the margin's name and parameters out."""
    _refuse_what_needs_a_rule(query)
    metric = find_domain(query.metric, declaration.columns, field="metric")
    if not isinstance(metric, Interval):
        raise InputError(
            f"{query.metric} is {metric.describe()}, not a number with bounds",
            field="metric",
            next_step="Name a column that is declared as an Interval.",
        )
    record = _record(query, metric)
    grid = MetricGrid.of(metric, query.steps)
    margin = _margin(query.standing_out, dict(query.parameters))
    axes: tuple[GroupAxis, ...]
    subsets: tuple[SubsetAxis, ...] = ()
    if query.among == "simple":
        axes, sampled = simple_axes(query.attributes, declaration.columns, record, query.steps), False
    else:
        axes = subsets = subset_axes(query.attributes, declaration.columns, record)
        sampled = not fits(subsets, query.steps)
    listed = most_in_sample(subsets) if sampled else math.prod(axis.options for axis in axes)
    shares = shares_of(query)
    rate = noise_rate(
        shares["group"],
        moves=margin.spread(declaration.rows, declaration.adjacency),
        parts=query.groups,
        next_step="Give a larger epsilon, or fewer groups.",
    )
    why = None
    if "why" in shares:
        why = WhyRates.of(
            shares["why"], query.groups, query.steps, rows=declaration.rows, adjacency=declaration.adjacency
        )
    parameters = frozen_items(dataclasses.asdict(margin))  # type: ignore[call-overload]
    return EveryoneBinding(
        query=query.model_copy(update={"detector": margin.name, "parameters": parameters}),
        declaration=declaration,
        axes=axes,
        sampled=sampled,
        grid=grid,
        margin=margin,
        record_value=float(record[query.metric]),
        listed=listed,
        rate=rate,
        none_at=none_at(rate, listed * query.groups),
        why=why,
    )


def none_at(rate: Fraction, draws: int) -> int:
    """Return the least t with ``draws``·e^(−rate·t) at most `WRONG`: compared exactly, not rounded (Lemma 5).

    Examples
    --------
    >>> none_at(Fraction(1, 10), 1000)
    100
    """
    return laws.one_sided_geometric_quantile(rate, 1 - WRONG / draws) + 1


def _refuse_what_needs_a_rule(query: Explain) -> None:
    kind = type(query)
    given = [name for name in UNDER_A_RULE if getattr(query, name) != kind.model_fields[name].default]
    only_detectors = [name for name in DETECTORS if name not in MARGINS]
    if query.detector in only_detectors:
        given = ["detector", *given]
        problem = f"{query.detector} has no margin that one row changes little"
    elif given:
        problem = "is used under a rule only"
    else:
        return
    raise InputError(
        problem,
        field=given[0],
        next_step="Cite rule=…, the name of a same_contexts rule that the owner declared, or leave it out: "
        f"without a rule everyone is protected, and detector is one of {', '.join(MARGINS)}.",
    )


def _record(query: Explain, metric: Interval) -> dict[str, Any]:
    """Return the record by column; the messages name fields, never values."""
    record: dict[str, Any] = dict(query.record)
    names = [item if isinstance(item, str) else item.column for item in query.attributes]
    _refuse_twice(names, query.metric)
    needed = [*names, query.metric]
    missing = [name for name in needed if name not in record]
    extra = [name for name in record if name not in needed]
    if missing or extra:
        raise InputError(
            f"has no {missing[0]}" if missing else f"has {extra[0]}, which the question does not use",
            field="record",
            next_step=f"Give {', '.join(needed)}.",
        )
    if not metric.contains(record[query.metric]):
        given = record[query.metric]
        raise undeclared_number(query.metric, given, metric.describe(), field="record")
    return record


def _refuse_twice(names: Sequence[str], metric: str) -> None:
    for name in names:
        if name == metric:
            raise InputError(
                f"names the metric {name}",
                field="attributes",
                next_step="A record stands out *in* the metric.",
            )
        if names.count(name) > 1:
            raise InputError(f"names {name} twice", field="attributes", next_step="Name each column once.")


def _margin(name: str, parameters: Mapping[str, Any]) -> Margin:
    if name not in MARGINS:
        raise InputError(
            f"there is no {name!r}",
            field="detector",
            next_step=f"{guess(name, MARGINS)}One of {', '.join(MARGINS)}.",
        )
    kind = MARGINS[name]
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as problem:
        fields = [item.name for item in dataclasses.fields(kind)]  # type: ignore[arg-type]
        reason = str(problem) if isinstance(problem, ValueError) else f"do not fit {name}"
        raise InputError(reason, field="parameters", next_step=f"{name} takes {', '.join(fields)}.") from None
