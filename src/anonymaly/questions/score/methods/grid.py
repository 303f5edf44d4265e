# SPDX-License-Identifier: Apache-2.0
"""The grid method (Rauch et al. 2021): noisy counts of cells, walked until k records are found."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np

from anonymaly.ask.binding import Expectation, Measure
from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.noise.public import PublicCoins
from anonymaly.questions.score.methods.grid_rule import FALSE_CELLS, NEIGHBOURS, cells_for
from anonymaly.questions.score.methods.lattice import APART_BITS, STEPS, Lattice, axes_in_index
from anonymaly.questions.score.methods.method import (
    CELL,
    FRESH_COPY,
    SCORES,
    Body,
    MethodFacts,
    Scorer,
    ScoringMethod,
)
from anonymaly.questions.score.methods.publishing import DENSEST, release_cells, threshold_for
from anonymaly.questions.score.options import (
    HIGHEST_THRESHOLD,
    METHOD_OPTIONS,
    MOST_CELLS,
    MOST_NEIGHBOURS,
    Distance,
    Form,
    Origin,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from anonymaly.noise import Noise
    from anonymaly.questions.score.kernels.shells import Rule

RATE = re.compile(r"[0-9]{1,20}(/[0-9]{1,20})?")
LARGEST_SIZE = 2**200  # of a lattice
MOST_PUBLISHED = 2**22  # cells, on average


@dataclass(frozen=True)
class GridMethod(ScoringMethod):
    """Cells of a lattice over the unit cube; the score is the distance at which enough records are met."""

    name: ClassVar[str] = "grid"
    options: ClassVar[tuple[str, ...]] = METHOD_OPTIONS["grid"]

    dimensions: int
    neighbours: int
    cells: int
    weighted: bool
    distance: Distance
    origin: Origin
    depth: float
    threshold: int | None  # None: every cell is published, or none is
    form: Form
    rate: str  # of the noise, as an exact fraction: what a held model draws with

    @classmethod
    def plan(cls, options: Mapping[str, Any], facts: MethodFacts) -> Self:
        """Return the grid with the options given, and the number of cells and the threshold by rule."""
        given = {name: item for name, item in options.items() if item is not None}
        form = given.get("form", "published")
        cells = given.get("cells") or cells_for(facts)
        lattice = Lattice(facts.dimensions, cells)
        if lattice.size > LARGEST_SIZE:
            raise InputError(
                f"{cells} cells on each of {facts.dimensions} axes are more than 2^200 in all",
                field="cells",
                next_step="Use fewer columns, or the method for many columns: method='marginals'.",
            )
        if form == "held" and facts.dimensions > axes_in_index(cells):
            raise InputError(
                f"a held model of {cells} cells per axis has at most {axes_in_index(cells)} columns",
                field="form",
                next_step="Use fewer cells, or the published form.",
            )
        distance = given.get("distance", "manhattan")
        _refuse_long_walks(facts.dimensions, cells, distance)
        return cls(
            dimensions=facts.dimensions,
            neighbours=given.get("neighbours", NEIGHBOURS),
            cells=cells,
            weighted=given.get("weighted", False),
            distance=distance,
            origin=given.get("origin", "cell"),
            depth=float(given.get("depth", _farthest(facts.dimensions, distance))),
            threshold=None if form == "held" else _threshold(given.get("threshold"), lattice, facts.rate),
            form=form,
            rate=str(facts.rate),
        )

    @classmethod
    def needs_records(cls, options: Mapping[str, Any]) -> bool:
        """Say whether the rule for the number of cells is used: it needs the number of records."""
        return options.get("cells") is None

    @property
    def held(self) -> bool:
        """Whether exact counts stay inside: such a model cannot be saved."""
        return self.form == "held"

    @property
    def lattice(self) -> Lattice:
        """The cells."""
        return Lattice(self.dimensions, self.cells)

    def parameters(self) -> dict[str, Any]:
        """Return every option as plain data."""
        return {name: item for name, item in asdict(self).items() if name != "dimensions"}

    @classmethod
    def restore(cls, dimensions: int, parameters: Mapping[str, Any]) -> Self:
        """Return the grid that had these parameters."""
        grid = super().restore(dimensions, parameters)
        whole = [grid.cells, grid.neighbours, 0 if grid.threshold is None else grid.threshold]
        if (
            # Its length is checked before it is read: 1e999999999 is a number, too.
            RATE.fullmatch(grid.rate) is None
            or Fraction(grid.rate) <= 0
            or not all(type(item) is int for item in whole)
            or not 2 <= grid.cells <= MOST_CELLS
            or not 1 <= grid.neighbours <= MOST_NEIGHBOURS
            or not 0 <= whole[2] <= HIGHEST_THRESHOLD
            or grid.distance not in get_args(Distance)
            or grid.origin not in get_args(Origin)
            or grid.form != "published"
            or not isinstance(grid.weighted, bool)
            or type(grid.depth) not in (int, float)
            or not 0 < grid.depth < math.inf
        ):
            raise ValueError("no parameters of a grid")
        _refuse_long_walks(dimensions, grid.cells, grid.distance)
        return grid

    def count(self, cube: ir.Table) -> ir.Table:
        """Count the records of each cell."""
        return self.lattice.count(cube)

    def release(self, counts: pa.Table, rate: Fraction, noise: Noise) -> Body:
        """Publish the cells above the threshold, or freeze exact counts with a fresh key."""
        cells, records = self.lattice.unpack(counts)
        if self.held:
            # A fresh key for each release: 256 bits that nobody has seen (Lemma 4).
            key = noise.uniform(2**256).to_bytes(32, "little")
            return {"cells": cells, "counts": records, "key": np.frombuffer(key, np.uint8)}
        kept, noisy = release_cells(cells, records, self.lattice, self.threshold, rate, noise)
        return {"cells": kept.astype(_narrow(self.cells)), "counts": noisy}

    def check(self, body: Body) -> None:
        """Refuse arrays that are not cells with counts."""
        cells, counts = body["cells"], body["counts"]
        fits = cells.ndim == 2 and cells.shape == (len(counts), self.dimensions) and counts.ndim == 1
        if (
            set(body) != {"cells", "counts"}
            or not fits
            or cells.dtype.kind != "u"
            or counts.dtype != np.int64
        ):
            raise InputError("holds no cells with counts", field="model", next_step=FRESH_COPY)
        if cells.size and int(cells.max()) >= self.cells:
            raise InputError("has a cell outside its lattice", field="model", next_step=FRESH_COPY)

    def scorer(self, body: Body) -> Scorer:
        """Return the walk over the released cells."""
        from anonymaly.questions.score.kernels.grid_scorer import make_scorer  # noqa: PLC0415  (compiled)

        return make_scorer(body, self.rule, Fraction(self.rate), held=self.held)

    @property
    def rule(self) -> Rule:
        """What the score is, for the walk."""
        from anonymaly.questions.score.kernels.shells import Rule  # noqa: PLC0415  (beside compiled code)

        squared = self.distance == "euclidean"
        steps = Fraction(repr(self.depth)) * self.cells * STEPS  # 1.4 as it is written
        within = math.floor(steps**2 if squared else steps)
        return Rule(
            neighbours=self.neighbours,
            width=self.cells,
            squared=squared,
            weighted=self.weighted,
            from_cell=self.origin == "cell",
            depth=self.depth,
            # All cells at that distance, however far from the point's own cell.
            farthest=min((within + 1) << APART_BITS, 2**62) - 1,
        )

    def score_range(self, body: Body) -> tuple[float, float]:
        """Return 0 and the score of a walk that met nothing."""
        return 0.0, self.depth * (self.neighbours if self.weighted else 1)

    def draw(self, body: Body, count: int, seed: int = 0) -> Floats:
        """Return points drawn from the published cells by their counts."""
        coins, shape = PublicCoins(seed), (count, self.dimensions)
        if not np.any(body["counts"] > 0):
            return coins.even(math.prod(shape)).reshape(shape)
        cells = body["cells"][coins.places(body["counts"], count)]
        points: Floats = (cells + coins.even(cells.size).reshape(shape)) / self.cells
        return points

    def expect(self, facts: MethodFacts) -> Expectation:
        """Say what noise each cell has, and how far off its count may be."""
        deviation = laws.two_sided_geometric_deviation(facts.rate)
        noise = (
            f"two-sided geometric on each of {self.lattice.size:,} cells, standard deviation {deviation:.4g}"
        )
        half = laws.two_sided_geometric_half_width(facts.rate, Fraction(95, 100))
        error = f"each cell's count within ±{half:,} in 95 of 100 draws"
        if self.threshold:
            error += f"; cells below {self.threshold:,} are not published"
        measure = Measure(half, "records", f"{CELL} of a cell's true count{SCORES}")
        return Expectation(noise, error, half, measure=measure)


def _refuse_long_walks(dimensions: int, cells: int, distance: str) -> None:
    """Refuse lattices whose keys do not fit 64 bits (see `walk.py`)."""
    if dimensions * (cells**2 if distance == "euclidean" else cells) >= 2**APART_BITS:
        raise InputError(
            f"{cells} cells on each of {dimensions} axes are too many for {distance} distances",
            field="cells",
            next_step="Give fewer, or distance='manhattan'.",
        )


def _farthest(dimensions: int, distance: str) -> float:
    """Return the largest distance in the unit cube."""
    return float(dimensions) if distance == "manhattan" else math.sqrt(dimensions)


def _threshold(given: int | None, lattice: Lattice, rate: Fraction) -> int | None:
    if given is None:
        return threshold_for(lattice, rate, FALSE_CELLS)
    if lattice.size > DENSEST and given < threshold_for(lattice, rate, Fraction(MOST_PUBLISHED)):
        raise InputError(
            f"too many of {lattice.size:,} cells would reach {given} for a file to hold them",
            field="threshold",
            next_step="Leave it out, or give a larger one.",
        )
    return given


def _narrow(width: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if width <= 256 else np.uint16
