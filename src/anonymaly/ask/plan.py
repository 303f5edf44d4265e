# SPDX-License-Identifier: Apache-2.0
"""A plan: the inverse of a preview. Which ε gives a wanted error, and how often it can be paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from anonymaly.ask.binding import Binding, Choices, Measure, shown_number
from anonymaly.ask.odds import HOLDS, Odds
from anonymaly.ask.plan_picture import error_chart
from anonymaly.ask.query import Query
from anonymaly.core.epsilon import LARGEST, read_amount, to_nano, to_number, to_text
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError, Refused
from anonymaly.pictures.chart import Chart
from anonymaly.pictures.page import cells, facts, figure, fragment, heading, paragraph
from anonymaly.pictures.terminal import bar_of, part_of
from anonymaly.promise import Everyone, Guarantee

STEPS = (1, 2, 5)
AROUND = 4  # steps of the ladder on either side of the planned ε
WIDTH = 16  # of the label column
LONGEST = 30  # characters of a bar


@dataclass(frozen=True)
class PlanLine:
    """One ε: the error that it gives, and how many such questions what remains would pay for."""

    cost_nano: int
    error: float | None  # None: too little for this question
    questions: int

    @property
    def epsilon(self) -> float:
        """The ε of this line."""
        return to_number(self.cost_nano)

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {"epsilon": to_text(self.cost_nano), "error": self.error, "questions": self.questions}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> PlanLine:
        """Read the line from plain data."""
        return cls(to_nano(data["epsilon"]), data["error"], data["questions"])


@dataclass(frozen=True, repr=False)
class Plan:
    """What ε a question needs; made without reading a row, and nothing is spent.

    ``query`` is the question with the planned ε, ready to be asked.
    """

    query: Query
    wanted: float | None
    measure: Measure  # at the planned ε
    guarantee: Guarantee
    remaining_nano: int
    limit_nano: int
    lines: tuple[PlanLine, ...]
    choices: Choices | None = None

    @property
    def epsilon(self) -> Decimal:
        """The planned ε."""
        return self.query.epsilon

    @property
    def remaining(self) -> float:
        """The ε that may still be spent."""
        return to_number(self.remaining_nano)

    @property
    def budget(self) -> float:
        """The ε that all answers together may cost."""
        return to_number(self.limit_nano)

    @property
    def questions(self) -> int:
        """How many such questions what remains would pay for, each asked once or repeated."""
        return self.remaining_nano // self.query.cost

    @property
    def odds(self) -> tuple[Odds, Odds] | None:
        """What the question's ε and the whole budget mean in odds; None unless everyone is protected."""
        relation = self.guarantee.relation
        if not isinstance(relation, Everyone):
            return None
        persons = relation.rows is not None
        return (
            Odds(self.query.cost, relation.adjacency, persons),
            Odds(self.limit_nano, relation.adjacency, persons),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "question": self.query.question,
            "asks": self.query.describe(),
            "wanted": self.wanted,
            "epsilon": to_text(self.query.cost),
            "error": self.measure.to_dict(),
            "remaining": to_text(self.remaining_nano),
            "limit": to_text(self.limit_nano),
            "questions": self.questions,
            "lines": [line.to_dict() for line in self.lines],
            "choices": None if self.choices is None else self.choices.to_dict(),
            "odds": None if self.odds is None else [odds.to_dict() for odds in self.odds],
            "holds": HOLDS,
            "guarantee": self.guarantee.to_dict(),
        }

    @classmethod
    def read(cls, query: Query, data: Mapping[str, Any]) -> Plan:
        """Read the plan of a question from plain data."""
        choices = data["choices"]
        return cls(
            query=query.model_copy(update={"epsilon": Decimal(data["epsilon"])}),
            wanted=data["wanted"],
            measure=Measure(**data["error"]),
            guarantee=Guarantee.read(data["guarantee"]),
            remaining_nano=read_amount(data["remaining"]),
            limit_nano=read_amount(data["limit"]),
            lines=tuple(map(PlanLine.read, data["lines"])),
            choices=None if choices is None else Choices.read(choices),
        )

    def pictures(self) -> list[Chart]:
        """Return a picture of the error over ε."""
        points = [(line.epsilon, line.error) for line in self.lines if line.error is not None]
        return [error_chart(points, float(self.epsilon), self.measure.unit, self.wanted)]

    def svg(self) -> str:
        """Return the picture as the text of an SVG file."""
        return "".join(chart.to_svg(alone=True) for chart in self.pictures())

    def _facts(self) -> list[tuple[str, str]]:
        several = "question" if self.questions == 1 else "questions"
        left = f"ε = {to_text(self.remaining_nano)} remains, enough for {self.questions:,} such {several}"
        least = "" if self.wanted is None else f": the least that gives an error of at most {self.wanted:g}"
        in_odds = [
            (name, f"{odds}{then}")
            for name, odds, then in zip(
                ("in odds", "the whole budget"), self.odds or (), ("", f"; {HOLDS}"), strict=False
            )
        ]
        return [
            ("ε", f"{to_text(self.query.cost)}{least}"),
            ("error", str(self.measure)),
            ("budget", left),
            ("protected", self.guarantee.relation.protects()),
            *in_odds,
        ]

    def _table(self) -> list[list[str]]:
        (chart,) = self.pictures()
        assert chart.y is not None  # noqa: S101 - an error has an axis
        return [
            [
                f"{'→ ' if line.cost_nano == self.query.cost else '  '}{to_text(line.cost_nano)}",
                "too little" if line.error is None else shown_number(line.error),
                f"{line.questions:,}",
                "" if line.error is None else bar_of(max(part_of(line.error, chart.y), 1 / LONGEST), LONGEST),
            ]
            for line in self.lines
        ]

    def __str__(self) -> str:
        head = ["  ε", "error", "questions", ""]
        lines = [
            f"{type(self.query).__name__}: {self.query.describe()}",
            *(_fact(label, text) for label, text in self._facts()),
            "",
            *_columns([head, *self._table()], bars=True),
        ]
        if self.choices is not None:
            shown = [[shown_number(number) for number in line] for line in self.choices.lines]
            lines += ["", self.choices.title, *_columns([list(self.choices.head), *shown])]
            lines += [f"- {note}" for note in self.choices.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        several = "question" if self.questions == 1 else "questions"
        return (
            f"<Plan of {type(self.query).__name__}: {self.query.describe()}; ε = {to_text(self.query.cost)}, "
            f"enough for {self.questions:,} {several}>"
        )

    def _repr_html_(self) -> str:
        parts = [
            heading(f"{type(self.query).__name__}: {self.query.describe()}", 3),
            facts(self._facts()),
            *map(figure, self.pictures()),
            cells(["ε", "error", "questions"], [row[:3] for row in self._table()], numbers=(1, 2)),
        ]
        if self.choices is not None:
            shown = [[shown_number(number) for number in line] for line in self.choices.lines]
            parts += [paragraph(self.choices.title), cells(list(self.choices.head), shown)]
            parts += [paragraph(note, "faint") for note in self.choices.notes]
        return fragment(*parts)


def probe_of(query: Query, declaration: Declaration, wanted: Any) -> Query:
    """Return the question that a plan binds: at the largest ε, if the least for an error is looked for."""
    # The ε of the question plays no part then, however small it is.
    epsilon = query.epsilon if wanted is None else Decimal(to_text(LARGEST))
    return query.for_plan(declaration).model_copy(update={"epsilon": epsilon})


def make_plan(bound: Binding, query: Query, wanted: Any, *, remaining: int, limit: int) -> Plan:
    """Plan a question that was accepted: the ε that it was asked with, or the least with the wanted error.

    Parameters
    ----------
    bound : Binding
        The question, bound; its own ε counts only where no error is wanted.
    query : Query
        The question as it was asked, which the plan returns with the planned ε.
    wanted : float or None
        The largest error, in the unit of the question's measure.
    remaining, limit : int
        Of the account, in billionths.
    """
    cost = bound.query.cost
    if wanted is not None:
        wanted = _read_wanted(wanted)
        cost = least_cost(bound, wanted)
    planned = bound.at(cost)
    measure = _measure(planned)
    costs = _ladder(cost)
    return Plan(
        query=query.model_copy(update={"epsilon": Decimal(to_text(cost))}),
        wanted=wanted,
        measure=measure,
        guarantee=planned.guarantee,
        remaining_nano=remaining,
        limit_nano=limit,
        lines=tuple(PlanLine(item, _error(bound, item), remaining // item) for item in costs),
        # Every other one, so that the table of choices is no wider than a terminal.
        choices=planned.choices(costs[costs.index(cost) % 2 :: 2], wanted),
    )


def least_cost(bound: Binding, wanted: float) -> int:
    """Return the least charge with at most the wanted error, in billionths of ε.

    Exact where one billionth more never makes the error larger; where a charge is divided into several
    stages, each rounded, it may be off by as many billionths as there are stages.
    """
    best = _measure(bound.at(LARGEST))
    if not best.falls:
        raise Refused(
            "more ε does not always make this error smaller, because a rule divides it anew, so there is no "
            "least ε",
            field="for_error",
            next_step="Give the numbers that the rule would choose (pair_bins=), or leave for_error out and "
            "look at the table of errors.",
        )
    if best.unit in ("probability", "share") and not 0 < wanted < 1:
        raise InputError(
            f"{wanted:g} is not between 0 and 1, and the error is a {best.unit}: {best.meaning}",
            field="for_error",
            next_step="Give a number such as 0.01; no ε makes it 0.",
        )
    if best.number > wanted:
        raise InputError(
            f"even ε = {to_text(LARGEST)}, the most that a question may cost, gives an error of {best.shown}",
            field="for_error",
            next_step=f"Give at least {best.shown}. The error is: {best.meaning}.",
        )
    low, high = 0, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        error = _error(bound, middle)
        low, high = (low, middle) if error is not None and error <= wanted else (middle, high)
    return high


def _measure(bound: Binding) -> Measure:
    measure = bound.expectation.measure
    if measure is None:
        raise Refused(
            f"{type(bound.query).__name__} has no number to plan for: {bound.why_no_measure}",
            field="for_error",
            next_step="A preview says in words what to expect; a rehearsal shows it on invented rows.",
        )
    return measure


def _error(bound: Binding, cost: int) -> float | None:
    """Return the error at a charge, or None if it is too little to be divided into noise."""
    try:
        return _measure(bound.at(cost)).number
    except InputError:
        return None


def _read_wanted(wanted: Any) -> float:
    try:
        number = math.nan if isinstance(wanted, bool) else float(wanted)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(
            "must be a number of at least 0",
            field="for_error",
            next_step="Give the largest error you can live with, such as 20 records or 0.01.",
        )
    return number


def _ladder(cost: int) -> list[int]:
    """Return 1, 2, 5, 10, … around a charge, and the charge itself."""
    rungs = [step * 10**power for power in range(13) for step in STEPS if step * 10**power <= LARGEST]
    below = [rung for rung in rungs if rung < cost][-AROUND:]
    above = [rung for rung in rungs if rung > cost][:AROUND]
    return [*below, cost, *above]


def _fact(label: str, text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([f"  {label:<{WIDTH}} {first}", *(" " * (WIDTH + 3) + line for line in rest)])


def _columns(rows: list[list[str]], *, bars: bool = False) -> list[str]:
    """Return lines with the first column to the left, numbers to the right, and bars to the left again."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = {0, len(widths) - 1} if bars else {0}
    return [
        "  ".join(
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
