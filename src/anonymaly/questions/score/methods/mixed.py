# SPDX-License-Identifier: Apache-2.0
"""The method for real tables: noisy histograms of numbers, moments, labels, and of what is missing.

Every record is counted once in each column's histogram, also where it has no value: that is a cell, too.
Where public facts say that there are records enough, bins follow the records, pairs of columns are counted,
and so are the places of records along random directions of all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from anonymaly.ask.binding import Expectation, Measure
from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.rate import drawable
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.questions.score.methods import mixed_rule as rule
from anonymaly.questions.score.methods.method import (
    CELL,
    FRESH_COPY,
    SCORES,
    Body,
    MethodFacts,
    Scorer,
    ScoringMethod,
)
from anonymaly.questions.score.methods.mixed_edges import Edges, equal_edges, together
from anonymaly.questions.score.methods.mixed_layout import FINE, HistogramLayout
from anonymaly.questions.score.options import METHOD_OPTIONS

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from anonymaly.noise import Noise
    from anonymaly.questions.score.methods.mixed_parts import MixedParts

MOST_CELLS = 2**24


@dataclass(frozen=True)
class MixedMethod(ScoringMethod):
    """Histograms of every column, of pairs, and of random directions.

    Parameters
    ----------
    dimensions
        How many columns.
    labels
        The places of each column's labels, 0 for numbers and moments.
    bins, pair_bins
        The bins of a number, and in pairs; 0 leaves pairs out.
    adaptive
        Whether bins follow the records, by two stages before the model's own.
    sketches, side, coins
        Random directions, two by two, the cells on each, and the public coins they are made of.
    edges
        The edges of each number's bins on the lattice; none where they are equally wide.

    Examples
    --------
    >>> MixedMethod.plan({}, MethodFacts(dimensions=30, rate=Fraction(1), records=285)).bins
    10
    >>> MixedMethod.plan({}, MethodFacts(2, Fraction(1), 100, labels=(0, 4)))
    MixedMethod(dimensions=2, labels=(0, 4), bins=6, pair_bins=6, adaptive=False)
    """

    dimensions: int
    labels: tuple[int, ...]
    bins: int
    pair_bins: int
    adaptive: bool = False
    sketches: int = 0
    side: int = 0
    coins: int = 0
    edges: tuple[Edges, ...] = ()

    name: ClassVar[str] = "mixed"
    options: ClassVar[tuple[str, ...]] = METHOD_OPTIONS["mixed"]

    def __repr__(self) -> str:
        shown = {
            name: getattr(self, name) for name in ("dimensions", "labels", "bins", "pair_bins", "adaptive")
        }
        further = {"sketches": self.sketches} if self.sketches else {}
        return f"MixedMethod({', '.join(f'{name}={item}' for name, item in {**shown, **further}.items())})"

    def __post_init__(self) -> None:
        _whole(self.bins, "bins", 2, FINE)
        if self.pair_bins:
            _whole(self.pair_bins, "pair_bins", 2, FINE)
        if self.dimensions < 2 and self.pair_bins:
            raise InputError(
                "one column has no pairs", field="pair_bins", next_step="Give 0, or more columns."
            )
        cells = sum(left * right for left, right in self.layout.pair_shapes)
        if cells > MOST_CELLS:
            raise InputError(
                f"makes {cells:,} cells of {len(self.layout.pairs):,} pairs",
                field="pair_bins",
                next_step=f"Give fewer, or 0: at most {MOST_CELLS:,} cells.",
            )

    @classmethod
    def plan(cls, options: Mapping[str, Any], facts: MethodFacts) -> Self:
        """Return the method with the given options; the rule chooses the others."""
        labels = facts.labels or (0,) * facts.dimensions
        bins, pair_bins, adaptive = (options.get(name) for name in ("bins", "pair_bins", "adaptive"))
        if adaptive and not facts.numbers:
            raise InputError(
                "there is no number whose bins could follow the records",
                field="adaptive",
                next_step="Leave it out.",
            )
        by_rule = adaptive is None and bins is None
        adaptive = rule.is_adaptive(facts) if by_rule else bool(adaptive)
        sketches = rule.sketches_for(facts) if adaptive and by_rule else 0
        last = 1 - 2 * rule.COARSE if adaptive else Fraction(1)
        beside = last * (1 - rule.SKETCH_SHARE) if sketches else last
        if pair_bins is None:
            # Where directions are measured, pairs cost the columns more than they add.
            pair_bins = 0 if sketches else rule.pair_bins_for(facts, labels, beside)
        pairs = len(rule.paired(labels, pair_bins)) if pair_bins else 0
        if bins is None:
            bins = rule.bins_for(facts, beside * (1 - rule.pair_share(pairs)))
        side = rule.sketch_side(facts, sketches) if sketches else 0
        return cls(facts.dimensions, labels, bins, pair_bins, adaptive, sketches, side)

    @classmethod
    def needs_records(cls, options: Mapping[str, Any]) -> bool:
        """Say whether the rule has something to fill in."""
        return options.get("bins") is None or options.get("pair_bins") is None

    @cached_property
    def layout(self) -> HistogramLayout:
        """Where the cells are."""
        return HistogramLayout(self.labels, self.pair_bins, self.sketches, self.side, self.coins)

    @property
    def numbers(self) -> int:
        """How many columns are numbers or moments."""
        return self.labels.count(0)

    def edges_of(self, axis: int) -> Edges:
        """Return the edges of a number's bins."""
        number = self.labels[:axis].count(0)
        return self.edges[number] if self.edges else equal_edges(self.bins)

    def parameters(self) -> dict[str, Any]:
        """Return everything as plain data."""
        found = {name: item for name, item in asdict(self).items() if name != "dimensions"}
        return {**found, "labels": list(self.labels), "edges": [list(edges) for edges in self.edges]}

    @classmethod
    def restore(cls, dimensions: int, parameters: Mapping[str, Any]) -> Self:
        """Return the method that had these parameters; raises if it cannot have had them."""
        given = dict(parameters)
        given["labels"] = tuple(given["labels"])
        given["edges"] = tuple(tuple(edges) for edges in given["edges"])
        whole = [
            *given["labels"],
            given["bins"],
            given["pair_bins"],
            given["sketches"],
            given["side"],
            given["coins"],
        ]
        whole += [edge for edges in given["edges"] for edge in edges]
        if not all(type(item) is int and item >= 0 for item in whole) or type(given["adaptive"]) is not bool:
            raise ValueError("no parameters of the mixed method")
        rising = all(
            edges[0] == 0 and edges[-1] == FINE and all(low < high for low, high in pairwise(edges))
            for edges in given["edges"]
        )
        few = given["sketches"] <= rule.MOST_SKETCHES and given["side"] <= FINE and given["coins"] < 2**64
        fits = len(given["edges"]) in (0, given["labels"].count(0))
        if len(given["labels"]) != dimensions or not (rising and few and fits):
            raise ValueError("no parameters of the mixed method")
        return cls(dimensions, **given)

    def rates(self, rate: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Return the rates of a column, a pair and a sketch: over all histograms they sum to ``rate``.

        Examples
        --------
        >>> MixedMethod(4, (0, 0, 0, 2), bins=8, pair_bins=5).rates(Fraction(1))
        (Fraction(7, 40), Fraction(1, 20), Fraction(0, 1))
        """
        sketched = rate * rule.SKETCH_SHARE if self.sketches else Fraction(0)
        share, pairs = rule.pair_share(len(self.layout.pairs)), len(self.layout.pairs)
        rest = rate - sketched
        return (
            drawable(rest * (1 - share) / self.dimensions),
            drawable(rest * share / pairs) if pairs else Fraction(0),
            drawable(sketched / self.sketches) if self.sketches else Fraction(0),
        )

    def count(self, cube: ir.Table) -> ir.Table:
        """Count the cells of all histograms, numbers on the fine lattice."""
        return self.layout.count(cube)

    def release(self, counts: pa.Table, rate: Fraction, noise: Noise) -> Body:
        """Add two-sided geometric noise to every cell of every histogram, empty ones too."""
        columns, pairs, sketches = self.exact(counts)
        rates = self.rates(rate)
        noisy = [
            noise.add_two_sided_geometric(found, drawn) if drawn else found
            for found, drawn in zip((columns, pairs, sketches), rates, strict=True)
        ]
        deviations = [laws.two_sided_geometric_deviation(drawn) if drawn else 0.0 for drawn in rates]
        return dict(zip(("columns", "pairs", "sketches"), noisy, strict=True)) | {
            "deviations": np.array(deviations)
        }

    def exact(self, counts: pa.Table) -> tuple[Integers, Integers, Integers]:
        """Return the exact counts of bins, pairs and sketches, each in one list."""
        columns, pairs, sketches = self.layout.arrays(counts)
        binned = [
            cells if number else np.append(together(cells[:-1], self.edges_of(axis)), cells[-1])
            for axis, (number, cells) in enumerate(zip(self.labels, columns, strict=True))
        ]
        flat = [cells.ravel() for cells in pairs]
        return np.concatenate(binned), np.concatenate([np.zeros(0, np.int64), *flat]), sketches.ravel()

    @property
    def cells(self) -> list[int]:
        """The cells of each column's histogram as it is released, with that of missing ones."""
        return [(number or len(self.edges_of(axis)) - 1) + 1 for axis, number in enumerate(self.labels)]

    def check(self, body: Body) -> None:
        """Raise InputError unless the arrays have this method's shapes."""
        sizes = {
            "columns": sum(self.cells),
            "pairs": sum(left * right for left, right in self.layout.pair_shapes),
            "sketches": self.sketches * self.side**2,
            "deviations": 3,
        }
        kinds = {name: np.float64 if name == "deviations" else np.int64 for name in sizes}
        fits = set(body) == set(sizes) and all(
            body[name].shape == (size,) and body[name].dtype == kinds[name] for name, size in sizes.items()
        )
        if not fits or not (np.isfinite(body["deviations"]) & (body["deviations"] >= 0)).all():
            raise InputError("does not hold the histograms it should", field="model", next_step=FRESH_COPY)

    def parts(self, body: Body) -> MixedParts:
        """Return what a score is made of, by column, pair and sketch."""
        from anonymaly.questions.score.methods.mixed_parts import MixedParts  # noqa: PLC0415

        return MixedParts(self, body)

    def scorer(self, body: Body) -> Scorer:
        """Return a function that adds up a point's parts; what is missing adds nothing."""
        return self.parts(body).score

    def score_range(self, body: Body) -> tuple[float, float]:
        """Return the sums of the smallest and of the largest parts."""
        return self.parts(body).bounds

    def draw(self, body: Body, count: int, seed: int = 0) -> Floats:
        """Return points like those that the model was made of."""
        return self.parts(body).draw(count, seed)

    def expect(self, facts: MethodFacts) -> Expectation:
        """Say how far off the count of a cell will be."""
        last = facts.rate * (1 - 2 * rule.COARSE) if self.adaptive else facts.rate
        column_rate, pair_rate, sketch_rate = self.rates(last)
        deviation = laws.two_sided_geometric_deviation
        noise = f"two-sided geometric on {self.dimensions} histograms, with a cell for missing values, "
        noise += f"standard deviation {deviation(column_rate):.4g}"
        if self.layout.pairs:
            noise += f"; on {len(self.layout.pairs)} pairs, {deviation(pair_rate):.4g}"
        if self.sketches:
            noise += f"; on {self.sketches} pairs of random directions, {deviation(sketch_rate):.4g}"
        half_width = laws.two_sided_geometric_half_width(column_rate, Fraction(95, 100))
        return Expectation(
            noise,
            f"a column's cell is within ±{half_width:,} of its true count in 95 of 100 draws",
            measure=Measure(half_width, "records", f"{CELL} of the true count of a column's cell{SCORES}"),
        )


def _whole(value: Any, field: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            f"must be a whole number from {least} to {most:,}, got {value!r}",
            field=field,
            next_step="Leave it out, and a rule chooses from the number of columns, ε and records.",
        )
