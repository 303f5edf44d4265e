# SPDX-License-Identifier: Apache-2.0
"""A Score against a declaration: who the columns are, what each stage may spend, and which method results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonymaly.ask.binding import Released
from anonymaly.core.rate import noise_rate, rows_moved
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Interval, Unbounded
from anonymaly.errors import InputError
from anonymaly.questions.score.bounds import least_count
from anonymaly.questions.score.method import Facts, Method
from anonymaly.questions.score.methods import METHODS, pick
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.threshold import Quantile

if TYPE_CHECKING:
    from anonymaly.questions.score.query import Score

# What the stages before and after the model may spend of ε, where nobody said otherwise.
SHARES = {"bounds": Fraction(1, 5), "records": Fraction(1, 50), "threshold": Fraction(1, 10)}
ORDER = ("bounds", "records", "model", "threshold")
# Records, to try before any charge what will be planned after counting them: rules only grow with their
# number, so what can be planned at both ends can be planned in between. More are planned for as so many.
FEWEST_RECORDS, MOST_RECORDS = 1, 10**12


@dataclass(frozen=True)
class Plan:
    """All that follows from the question and the declaration, before any row is read."""

    columns: tuple[str, ...]
    known: dict[str, tuple[float, float]]
    method_name: str
    options: dict[str, Any]
    records: int | None
    quantile: Quantile | None
    shares: dict[str, int]  # nano-ε of each stage, in their order
    people: int  # rows that may come or go with one person: m, and 2m where one is replaced
    rows: int  # the most rows a person has

    @property
    def unknown(self) -> tuple[str, ...]:
        """The columns whose bounds are found privately."""
        return tuple(name for name in self.columns if name not in self.known)

    def space(self, released: Released) -> Space:
        """Return the columns with declared bounds, and with released ones where none are declared."""
        found = dict(zip(self.unknown, released.get("bounds", ()), strict=True))
        pairs = [self.known[name] if name in self.known else found[name] for name in self.columns]
        return Space(self.columns, tuple(low for low, _ in pairs), tuple(high for _, high in pairs))

    def facts(self, records: int | None) -> Facts:
        """Return what the method may look at."""
        rate = noise_rate(self.shares["model"], moves=self.people)
        return Facts(len(self.columns), rate, records)

    def method(self, released: Released) -> Method:
        """Return the method, planned with the public or the counted number of records."""
        counted = released.get("records")
        records = self.records if counted is None else min(max(FEWEST_RECORDS, counted), MOST_RECORDS)
        return METHODS[self.method_name].plan(self.options, self.facts(records))

    def rate(self, stage: str) -> Fraction:
        """Return the noise rate of a stage that counts: its share over what one person can change."""
        share = self.shares[stage]
        match stage:
            case "bounds":  # one histogram for each column
                return noise_rate(share, moves=self.people, parts=len(self.unknown))
            case "records":  # a replaced person's rows and the new ones differ by at most m in number
                return noise_rate(share, moves=self.rows)
            case "threshold" if self.quantile is not None:
                return self.quantile.rate(share, self.people)
        return self.facts(None).rate


def make_plan(query: Score, declaration: Declaration) -> Plan:
    """Check a question against the declaration and return what follows from it."""
    known = _known(query.columns, declaration)
    people = rows_moved(declaration.rows, declaration.adjacency)
    options = query.options()
    name = pick(options) if query.method == "auto" else query.method
    kind = METHODS[name]
    for option in options:
        if option not in kind.options:
            raise InputError(
                f"is not a parameter of the method {name}",
                field=option,
                next_step=f"It takes {', '.join(kind.options)}.",
            )
    counted = query.rows is None and kind.needs_records(options)
    wanted = {
        "bounds": len(known) < len(query.columns),
        "records": counted,
        "threshold": query.contamination is not None,
    }
    quantile = None if query.contamination is None else Quantile(Fraction(query.contamination))
    plan = Plan(
        columns=query.columns,
        known=known,
        method_name=name,
        options=options,
        records=query.rows,
        quantile=quantile,
        shares=_shares(query, wanted),
        people=people,
        rows=declaration.rows,
    )
    # Everything that could fail is tried before the charge.
    for records in (FEWEST_RECORDS, MOST_RECORDS) if counted else (query.rows,):
        plan.method({"records": records} if counted else {}).expect(plan.facts(records))
    for stage in plan.shares:
        rate = plan.rate(stage)
        if stage == "bounds":
            least_count(rate)
    return plan


def _known(columns: tuple[str, ...], declaration: Declaration) -> dict[str, tuple[float, float]]:
    """Return the declared bounds; columns that are declared to have none are left out."""
    known = {}
    for name in columns:
        domain = declaration.columns.get(name)
        if domain is None:
            raise InputError(
                f"there is no declared column {name!r}",
                field="columns",
                next_step=f"Declared columns: {', '.join(declaration.columns)}.",
            )
        if columns.count(name) > 1:
            raise InputError(f"names {name} twice", field="columns", next_step="Name each column once.")
        if not isinstance(domain, Interval | Unbounded):
            raise InputError(
                f"{name} is {domain.describe()}; a distance needs numbers",
                field="columns",
                next_step="Leave it out, or declare numbers as am.Interval(low, high).",
            )
        if isinstance(domain, Interval):
            low, high = float(domain.low), float(domain.high)
            # Long whole numbers that differ may be one double, and nothing can be divided by their distance.
            if not 0 < high - low < math.inf:
                raise InputError(
                    f"the bounds of {name}, {domain.describe()}, are too near or too far to divide between",
                    field="columns",
                    next_step="Leave it out, or declare wider bounds, or values without their offset.",
                )
            known[name] = (low, high)
    return known


def _shares(query: Score, wanted: dict[str, bool]) -> dict[str, int]:
    """Split the charge: each stage before and after the model gets its share, the model what is left."""
    given = dict(query.shares)
    for name in given:
        if name not in SHARES or not wanted[name]:
            raise InputError(
                f"{name} is no stage of this question",
                field="shares",
                next_step=f"Stages with a share: {', '.join(n for n in SHARES if wanted[n]) or 'none'}.",
            )
    parts = {name: Fraction(str(given.get(name, SHARES[name]))) for name in SHARES if wanted[name]}
    if any(part <= 0 for part in parts.values()) or sum(parts.values()) >= 1:
        raise InputError(
            "must be above 0 and leave something for the model",
            field="shares",
            next_step="Give parts of ε such as bounds=0.2.",
        )
    spent = {name: int(query.cost * part) for name, part in parts.items()}
    if min(spent.values(), default=1) < 1:
        raise InputError(
            f"is too small to be split into {len(spent) + 1} stages",
            field="epsilon",
            next_step="Give a larger one.",
        )
    parts_of_cost = {**spent, "model": query.cost - sum(spent.values())}
    return {name: parts_of_cost[name] for name in ORDER if name in parts_of_cost}
