# SPDX-License-Identifier: Apache-2.0
"""A score bound to a declaration: the columns' bounds, what each stage may spend, and the method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from anonymaly.ask.binding import Binding, Expectation, Used
from anonymaly.core.rate import noise_rate, rows_moved
from anonymaly.core.suggestions import guess
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, Interval, Opaque, Timestamps, Unbounded, find_domain
from anonymaly.errors import InputError
from anonymaly.questions.score.bounds import least_count
from anonymaly.questions.score.methods import AUTO, METHODS, pick
from anonymaly.questions.score.methods.marginals import MarginalsMethod
from anonymaly.questions.score.methods.method import MethodFacts, ScoringMethod
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.methods.mixed_rule import COARSE
from anonymaly.questions.score.mixed_labels import labels_of, places_of, refuse_long, second_of
from anonymaly.questions.score.options import SHARES
from anonymaly.questions.score.threshold import Quantile

if TYPE_CHECKING:
    from anonymaly.questions.score.query import Score

ORDER = ("bounds", "records", "coarse", "finer", "model", "threshold")
OF_MODEL = ("coarse", "finer", "model")  # among which the model's ε is divided
# The fewest and the most records that are planned for. Both ends are tried before any charge: the numbers
# that rules choose only grow with the records, so what can be planned at both ends can be planned between.
FEWEST_RECORDS, MOST_RECORDS = 1, 10**12
# n·ε for each column from which a free threshold flags about as many as are wanted.
ENOUGH = 20


@dataclass(frozen=True, kw_only=True)
class ScoreBinding(Binding):
    """What the stages of a score need."""

    known: dict[str, tuple[float, float]]  # declared bounds
    options: dict[str, Any]  # the method's parameters that were given
    quantile: Quantile | None
    split: dict[str, int]  # nano-ε of each stage, in their order
    given: Score  # as it was asked

    @property
    def by_default(self) -> bool:
        """Whether no method was named."""
        return self.given.method is None and self.mixed

    @property
    def asked(self) -> Score:
        """The question, by its own type."""
        return cast("Score", self.query)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that records are compared by."""
        return self.asked.columns

    @property
    def used(self) -> Used:
        """The columns that records are compared by."""
        return Used(frozenset(self.columns))

    @property
    def shares(self) -> Mapping[str, int]:
        """What each stage may spend, in nano-ε."""
        return self.split

    @property
    def moved(self) -> int:
        """The number of rows that change with one person: m, and 2m if a person is replaced."""
        return rows_moved(self.declaration.rows, self.declaration.adjacency)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The columns whose bounds are found privately."""
        return tuple(
            name
            for name, domain in zip(self.columns, self.domains, strict=True)
            if isinstance(domain, Unbounded)
        )

    @property
    def mixed(self) -> bool:
        """Whether records with missing values are counted, and columns may be other than numbers."""
        return self.asked.method == MixedMethod.name

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The declared domains of the columns."""
        return tuple(self.declaration.columns[name] for name in self.columns)

    @property
    def labels(self) -> tuple[int, ...]:
        """The places of each column's labels, 0 for numbers; nothing for methods of numbers only."""
        return tuple(places_of(labels_of(domain)) for domain in self.domains) if self.mixed else ()

    @property
    def whole_rate(self) -> Fraction:
        """The noise rate of all of the model's stages together."""
        share = sum(self.shares.get(name, 0) for name in OF_MODEL)
        return noise_rate(share, moves=self.moved)

    def model_rate(self, method: ScoringMethod) -> Fraction:
        """Return the rate of the model's last stage.

        Where the released number of records says that bins do not follow them, the two stages before spend
        nothing, and it spends their shares as well.
        """
        adaptive = isinstance(method, MixedMethod) and method.adaptive
        return self.rate("model") if adaptive else self.whole_rate

    def facts(self, records: int | None) -> MethodFacts:
        """Return the public facts that the method may use."""
        return MethodFacts(len(self.columns), self.whole_rate, records, self.labels)

    def method(self, counted: int | None = None) -> ScoringMethod:
        """Return the method, planned with the public or the privately counted number of records."""
        return METHODS[str(self.asked.method)].plan(self.options, self.facts(self.records(counted)))

    def records(self, counted: int | None) -> int | None:
        """Return the number of records that rules may use: that of the question, or the counted one."""
        return self.asked.rows if counted is None else min(max(FEWEST_RECORDS, counted), MOST_RECORDS)

    def rate(self, stage: str) -> Fraction:
        """Return the noise rate of a stage: its share divided by what one person can change."""
        share = self.shares[stage]
        match stage:
            case "bounds":  # one histogram for each column
                return noise_rate(share, moves=self.moved, parts=len(self.unknown))
            case "coarse" | "finer":  # one histogram for each number
                return noise_rate(share, moves=self.moved, parts=self.labels.count(0))
            case "records":  # the numbers of a replaced person's old and new rows differ by at most m
                return noise_rate(share, moves=self.declaration.rows)
            case "threshold" if self.quantile is not None:
                return self.quantile.rate(share, self.moved)
        return noise_rate(share, moves=self.moved)

    def expect(self) -> Expectation:
        """Return the noise of the model's counts, and what a free threshold is worth."""
        expected = self._expected_of_model()
        if not self.mixed or self.quantile is None or "threshold" in self.split:
            return expected
        enough = math.ceil(ENOUGH * len(self.columns) / self.whole_rate)
        said = "the threshold is the model's quantile, not the table's: columns that go together flag more"
        noise = "it is mostly noise, and may flag nearly none or nearly all"
        if self.asked.rows is None:
            said += f"; below about {enough:,} records {noise}"
        elif self.asked.rows < enough:
            said += f"; {noise}: at this ε it takes about {enough:,} records"
        return replace(expected, error=f"{expected.error}; {said}")

    def _expected_of_model(self) -> Expectation:
        if "records" not in self.split:
            expected = self.method().expect(self.facts(self.asked.rows))
            if expected.measure is not None:
                expected = replace(expected, measure=replace(expected.measure, falls=self._split_is_fixed))
            given = self.asked.rows
            if given is None:
                return expected
            # The promise is about what is computed from rows; this number came with the question.
            public = f"the number of records is not hidden: rows={given:,} is public with the answer"
            return replace(expected, error=f"{expected.error}; {public}")
        return Expectation(
            f"two-sided geometric, ε {float(self.whole_rate):.3g} for all counts that a record is in",
            "depends on the parameters, which follow from a private count of the records",
        )

    @property
    def why_no_measure(self) -> str:
        """Say which numbers must be given for the noise of a cell to be known."""
        given = "cells" if self.asked.method == "grid" else "bins and pair_bins"
        return (
            "the noise of a cell depends on how many cells there are, which follows from a private count of "
            f"the records; with {given} given it is a number, and with rows, if that is public"
        )

    @property
    def _split_is_fixed(self) -> bool:
        """Whether ε is divided among histograms in the same parts whatever it is.

        A rule that leaves pairs out where ε is small gives columns more of it there.
        """
        if self.mixed and self.options.get("bins") is None:
            return self.options.get("adaptive") is not None and self.options.get("pair_bins") is not None
        return self.asked.method == "grid" or self.options.get("pair_bins") is not None

    @property
    def earlier(self) -> Binding | None:
        """The question as it was before there was the mixed method, which its default then was not."""
        if not self.by_default or not set(self.options) <= set(MarginalsMethod.options):
            return None
        if len([domain for domain in self.domains if isinstance(domain, Interval | Unbounded)]) < len(
            self.columns
        ):
            return None
        before: Binding = bind(self.given.model_copy(update={"method": AUTO}), self.declaration)
        return replace(before, digest_of=self.digest_of)


def bind(query: Score, declaration: Declaration) -> ScoreBinding:
    """Check everything that can be checked without rows, and replace the default by a method's name."""
    if query.method not in (None, AUTO, *METHODS):
        raise InputError(
            f"there is no method {query.method!r}",
            field="method",
            next_step=f"{guess(str(query.method), METHODS)}Leave it out, or give {AUTO} or one of "
            f"{', '.join(METHODS)}.",
        )
    given, options = query, query.options()
    name = pick(options, query.method) if query.method in (None, AUTO) else str(query.method)
    kind = METHODS[name]
    for option in options:
        if option not in kind.options:
            raise InputError(
                f"is not a parameter of the method {name}",
                field=option,
                next_step=f"It takes {', '.join(kind.options)}.",
            )
    known = _known(query.columns, declaration, name)
    needed = kind.needs_records(options)
    if query.rows is None and needed:
        query = query.model_copy(update={"rows": declaration.about_rows})
    counted = query.rows is None and needed
    mixed = name == MixedMethod.name
    wanted = {
        "bounds": any(isinstance(declaration.columns[column], Unbounded) for column in query.columns),
        "records": counted,
        # The model's own quantile costs nothing; that of the table is found where somebody pays for it.
        "threshold": query.contamination is not None and (not mixed or "threshold" in dict(query.shares)),
    }
    bound = ScoreBinding(
        query=query.model_copy(update={"method": name}),
        declaration=declaration,
        known=known,
        options=options,
        quantile=None if query.contamination is None else Quantile(Fraction(query.contamination)),
        split=_shares(query, wanted),
        given=given,
    )
    if mixed and _may_adapt(bound, counted):
        bound = replace(bound, split=_three_stages(bound.split))
    # Everything that could fail is tried before the charge.
    for records in (FEWEST_RECORDS, MOST_RECORDS) if counted else (None,):
        bound.method(records).expect(bound.facts(records))
    for stage in bound.shares:
        rate = bound.rate(stage)
        if stage == "bounds":
            least_count(rate)
    return bound


def _may_adapt(bound: ScoreBinding, counted: bool) -> bool:
    """Say whether bins may follow the records: what the public number says, or a released one may."""
    method = bound.method(MOST_RECORDS if counted else None)
    return isinstance(method, MixedMethod) and method.adaptive


def _three_stages(split: dict[str, int]) -> dict[str, int]:
    """Divide the model's ε among its stages."""
    first = int(split["model"] * COARSE)
    if first < 1:
        raise _too_small(len(split) + 2)
    parts = {**split, "coarse": first, "finer": first, "model": split["model"] - 2 * first}
    return {name: parts[name] for name in ORDER if name in parts}


def _known(columns: tuple[str, ...], declaration: Declaration, method: str) -> dict[str, tuple[float, float]]:
    """Return the declared bounds of numbers and moments, without the columns that are unbounded."""
    known = {}
    for name in columns:
        domain = find_domain(name, declaration.columns, field="columns")
        if columns.count(name) > 1:
            raise InputError(f"names {name} twice", field="columns", next_step="Name each column once.")
        if isinstance(domain, Opaque):
            raise InputError(
                f"{name} is {domain.describe()}, so it cannot be compared",
                field="columns",
                next_step="Leave it out, or declare what it holds.",
            )
        if method != MixedMethod.name and not isinstance(domain, Interval | Unbounded):
            raise InputError(
                f"{name} is {domain.describe()}; the method {method} needs numbers",
                field="columns",
                next_step="Leave the method out: mixed takes every column.",
            )
        refuse_long(name, labels_of(domain))
        ends = _ends(domain)
        if ends is not None:
            # Two different long whole numbers may be the same double, and their distance 0 is no divisor.
            if not 0 < ends[1] - ends[0] < math.inf:
                raise InputError(
                    f"the bounds of {name}, {domain.describe()}, are too close together or too far apart",
                    field="columns",
                    next_step="Leave the column out, or declare other bounds, or shift its values.",
                )
            known[name] = ends
    return known


def _ends(domain: Domain) -> tuple[float, float] | None:
    if isinstance(domain, Interval):
        return float(domain.low), float(domain.high)
    return (second_of(domain.start), second_of(domain.end)) if isinstance(domain, Timestamps) else None


def _shares(query: Score, wanted: dict[str, bool]) -> dict[str, int]:
    """Split the charge: the other stages get their shares, and the model gets what is left."""
    given = dict(query.shares)
    for name in given:
        if name not in SHARES or not wanted[name]:
            raise InputError(
                f"{name} is not a stage of this question",
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
        raise _too_small(len(spent) + 1)
    parts_of_cost = {**spent, "model": query.cost - sum(spent.values())}
    return {name: parts_of_cost[name] for name in ORDER if name in parts_of_cost}


def _too_small(stages: int) -> InputError:
    return InputError(
        f"is too small to be split into {stages} stages", field="epsilon", next_step="Give a larger one."
    )
