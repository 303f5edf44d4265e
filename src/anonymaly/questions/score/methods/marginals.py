# SPDX-License-Identifier: Apache-2.0
"""The method for many columns: noisy histograms of each column and, where useful, of each pair of columns.

Every record is counted once in each histogram, so noise grows with the number of columns (or of pairs), not
with the number of cells: that is why it works where a grid over all columns at once is nearly empty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from anonymaly.ask.binding import Expectation, Measure
from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.rate import drawable
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.noise.public import PublicCoins
from anonymaly.questions.score.methods.marginal_parts import MarginalParts
from anonymaly.questions.score.methods.method import (
    CELL,
    FRESH_COPY,
    SCORES,
    Body,
    MethodFacts,
    Scorer,
    ScoringMethod,
    coordinate,
)
from anonymaly.questions.score.methods.nearest_counts import nearest_counts
from anonymaly.questions.score.options import METHOD_OPTIONS

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from anonymaly.noise import Noise


# The rule, chosen by experiment (docs/questions/score.md): with t = records × rate the bins number 1.5·∛t, as
# many as leave the noise of a smoothed bin below the shape that the bin resolves.
BINS_FACTOR = 1.5
FEWEST_BINS, MOST_BINS = 4, 256
# Pairs get three tenths (half, where they are no more than columns), and only where 1.5·∛(t of one pair)
# gives five bins per side: with fewer, they were measured to cost the columns more than they add.
PAIR_SHARE, FEW_PAIRS_SHARE = Fraction(3, 10), Fraction(1, 2)
FEWEST_PAIR_BINS, MOST_PAIR_BINS = 5, 16
MOST_PAIRED_COLUMNS = 40  # 780 pairs; the engine counts each record once for each of them
LARGEST_BINS = 4096  # that an asker may ask for


@dataclass(frozen=True)
class MarginalsMethod(ScoringMethod):
    """Histograms of every column, and of every pair of columns if ``pair_bins`` is not 0.

    Parameters
    ----------
    dimensions
        How many columns.
    bins
        Cells of a column's histogram.
    pair_bins
        Cells a side of a pair's histogram; 0 leaves pairs out.

    Examples
    --------
    >>> MarginalsMethod.plan({}, MethodFacts(dimensions=30, rate=Fraction(1), records=285))
    MarginalsMethod(dimensions=30, bins=10, pair_bins=0)
    >>> MarginalsMethod.plan({}, MethodFacts(dimensions=6, rate=Fraction(1), records=8738))
    MarginalsMethod(dimensions=6, bins=28, pair_bins=8)
    """

    dimensions: int
    bins: int
    pair_bins: int

    name: ClassVar[str] = "marginals"
    options: ClassVar[tuple[str, ...]] = METHOD_OPTIONS["marginals"]

    def __post_init__(self) -> None:
        _whole(self.bins, "bins", 2, LARGEST_BINS)
        if self.pair_bins != 0 or type(self.pair_bins) is not int:
            _whole(self.pair_bins, "pair_bins", 2, LARGEST_BINS)
            if self.dimensions < 2:
                raise InputError(
                    "one column has no pairs", field="pair_bins", next_step="Give 0, or more columns."
                )
            if self.pairs * self.pair_bins**2 > 2**24:
                raise InputError(
                    f"makes {self.pairs * self.pair_bins**2:,} cells of {self.pairs:,} pairs",
                    field="pair_bins",
                    next_step="Give fewer, or 0: at most 16,777,216 cells.",
                )

    @classmethod
    def plan(cls, options: Mapping[str, Any], facts: MethodFacts) -> Self:
        """Return the method with the given bins; the rule chooses the others."""
        bins, pair_bins = options.get("bins"), options.get("pair_bins")
        if pair_bins is None:
            pair_bins = _pair_bins(facts)
        if bins is None:
            share = 1 - _pair_share(facts.dimensions) if pair_bins else Fraction(1)
            bins = min(max(math.ceil(_resolution(facts, share)), FEWEST_BINS), MOST_BINS)
        return cls(facts.dimensions, bins, pair_bins)

    @classmethod
    def needs_records(cls, options: Mapping[str, Any]) -> bool:
        """Say whether the rule has something to fill in."""
        return options.get("bins") is None or options.get("pair_bins") is None

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        return self.dimensions * (self.dimensions - 1) // 2

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of bins."""
        return {"bins": self.bins, "pair_bins": self.pair_bins}

    def rates(self, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Return the rates of a column's histogram and of a pair's: over all histograms they sum to ``rate``.

        Examples
        --------
        >>> MarginalsMethod(4, bins=8, pair_bins=5).rates(Fraction(1))
        (Fraction(7, 40), Fraction(1, 20))
        """
        if not self.pair_bins:
            return drawable(rate / self.dimensions), Fraction(0)
        share = _pair_share(self.dimensions)
        return drawable(rate * (1 - share) / self.dimensions), drawable(rate * share / self.pairs)

    def count(self, cube: ir.Table) -> ir.Table:
        """Count the cells of all histograms in one aggregate: a record has one place in each of them."""
        import ibis  # noqa: PLC0415  (half a second that a preview does not need)

        axes, side = range(self.dimensions), self.pair_bins
        # Bins first, in a step of their own: engines would compute them again for every pair.
        bins = {f"b{axis}": _bin(cube, axis, self.bins) for axis in axes}
        sides = {f"s{axis}": _bin(cube, axis, side) for axis in axes if side}
        binned = cube.select(**bins, **sides)
        places = [binned[f"b{axis}"] + axis * self.bins for axis in axes]
        first = self.dimensions * self.bins
        for number, (left, right) in enumerate(self._pairs() if side else []):
            places.append(binned[f"s{left}"] * side + binned[f"s{right}"] + (first + number * side**2))
        placed = binned.select(place=ibis.array([place.cast("int32") for place in places]).unnest())
        return placed.group_by("place").agg(records=placed.count())

    def release(self, counts: pa.Table, rate: Fraction, noise: Noise) -> Body:
        """Add two-sided geometric noise to every cell of every histogram, empty ones too."""
        columns, pairs = self._arrays(counts)
        column_rate, pair_rate = self.rates(rate)
        return {
            "columns": noise.add_two_sided_geometric(columns, column_rate),
            "pairs": noise.add_two_sided_geometric(pairs, pair_rate) if self.pair_bins else pairs,
            "deviations": np.array(
                [
                    laws.two_sided_geometric_deviation(column_rate),
                    laws.two_sided_geometric_deviation(pair_rate) if self.pair_bins else 0.0,
                ]
            ),
        }

    def without_noise(self, counts: pa.Table) -> Body:
        """Return the counts as they are: the non-private twin, for public data."""
        columns, pairs = self._arrays(counts)
        return {"columns": columns, "pairs": pairs, "deviations": np.zeros(2)}

    def check(self, body: Body) -> None:
        """Raise InputError unless the arrays have this method's shapes."""
        shapes = {"columns": (self.dimensions, self.bins), "pairs": self._pair_shape(), "deviations": (2,)}
        kinds = {"columns": np.int64, "pairs": np.int64, "deviations": np.float64}
        fits = set(body) == set(shapes) and all(
            body[name].shape == shape and body[name].dtype == kinds[name] for name, shape in shapes.items()
        )
        if not fits or not (np.isfinite(body["deviations"]) & (body["deviations"] >= 0)).all():
            raise InputError("does not hold the histograms it should", field="model", next_step=FRESH_COPY)

    def scorer(self, body: Body) -> Scorer:
        """Return a function that adds up, over all histograms, how rare a point's cells are."""
        from anonymaly.questions.score.kernels.rarity import sum_tables  # noqa: PLC0415  (compiled)

        columns, pairs = self.tables(body)

        def score(points: Floats) -> Floats:
            return sum_tables(np.ascontiguousarray(points, np.float64), columns, pairs)

        return score

    def score_range(self, body: Body) -> tuple[float, float]:
        """Return the sums of the smallest and of the largest entries of all tables."""
        columns, pairs = self.tables(body)
        tables = [*columns, *pairs]
        return sum(float(table.min()) for table in tables), sum(float(table.max()) for table in tables)

    def parts(self, body: Body) -> MarginalParts:
        """Return what a score is made of, by column and pair."""
        return MarginalParts(self, body)

    def draw(self, body: Body, count: int, seed: int = 0) -> Floats:
        """Return points whose columns are drawn one by one from their histograms."""
        coins, points = PublicCoins(seed), np.empty((count, self.dimensions))
        for axis, noisy in enumerate(body["columns"]):
            points[:, axis] = (coins.places(nearest_counts(noisy), count) + coins.even(count)) / self.bins
        return points

    def expect(self, facts: MethodFacts) -> Expectation:
        """Say how far off the count of a cell will be."""
        column_rate, pair_rate = self.rates(facts.rate)
        noise = (
            f"two-sided geometric on {self.dimensions} histograms of {self.bins} cells, standard deviation "
        )
        noise += f"{laws.two_sided_geometric_deviation(column_rate):.4g}"
        if self.pair_bins:
            noise += f"; on {self.pairs} pairs of {self.pair_bins} × {self.pair_bins} cells, "
            noise += f"{laws.two_sided_geometric_deviation(pair_rate):.4g}"
        half_width = laws.two_sided_geometric_half_width(column_rate, Fraction(95, 100))
        return Expectation(
            noise,
            f"a column's cell is within ±{half_width:,} of its true count in 95 of 100 draws",
            measure=Measure(half_width, "records", f"{CELL} of the true count of a column's cell{SCORES}"),
        )

    def tables(self, body: Body) -> tuple[Floats, Floats]:
        """Return what each cell of columns and pairs adds to a score."""
        from anonymaly.questions.score.kernels.rarity import column_tables, pair_tables  # noqa: PLC0415

        deviations = body["deviations"]
        return (
            column_tables(body["columns"], float(deviations[0])),
            pair_tables(body["pairs"], float(deviations[1]), self.dimensions),
        )

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the pairs in the order of their histograms, which `sum_tables` follows."""
        return [(left, right) for left in range(self.dimensions) for right in range(left)]

    def _pair_shape(self) -> tuple[int, int, int]:
        return (self.pairs if self.pair_bins else 0, self.pair_bins, self.pair_bins)

    def _arrays(self, counts: pa.Table) -> tuple[Integers, Integers]:
        first = self.dimensions * self.bins
        cells = np.zeros(first + math.prod(self._pair_shape()), np.int64)
        cells[counts.column("place").to_numpy()] = counts.column("records").to_numpy()
        return cells[:first].reshape(self.dimensions, self.bins), cells[first:].reshape(self._pair_shape())


def _bin(cube: ir.Table, axis: int, bins: int) -> ir.IntegerColumn:
    return (cube[coordinate(axis)] * bins).floor().cast("int32").clip(upper=bins - 1)


def _pair_share(dimensions: int) -> Fraction:
    return FEW_PAIRS_SHARE if dimensions <= 3 else PAIR_SHARE


def _resolution(facts: MethodFacts, share: Fraction) -> float:
    """Return the bins that a histogram with this share of the rate can resolve."""
    if facts.records is None:
        raise InputError(
            "are needed to choose the bins",
            field="records",
            next_step="Say how many records there are, or give bins and pair_bins.",
        )
    # A count found privately may be negative; there is always at least one record to plan for.
    return BINS_FACTOR * math.cbrt(max(facts.records, 1) * facts.rate * share)


def _pair_bins(facts: MethodFacts) -> int:
    pairs = facts.dimensions * (facts.dimensions - 1) // 2
    if pairs == 0 or facts.dimensions > MOST_PAIRED_COLUMNS:
        return 0
    bins = round(_resolution(facts, _pair_share(facts.dimensions) / pairs))
    return min(bins, MOST_PAIR_BINS) if bins >= FEWEST_PAIR_BINS else 0


def _whole(value: Any, field: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            f"must be a whole number from {least} to {most:,}, got {value!r}",
            field=field,
            next_step="Leave it out, and a rule chooses from the number of columns, ε and records.",
        )
