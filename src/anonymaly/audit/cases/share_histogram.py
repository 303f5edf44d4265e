# SPDX-License-Identifier: Apache-2.0
"""What ``share-histogram`` claims, written from GUARANTEE.md rather than from code, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Sensitivity
from anonymaly.audit.cases.policies import ADULT, CHILD, COLUMNS, OTHER, RECORDS, RULES, worst_pair
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.recording import DATA_ARGUMENTS
from anonymaly.core.epsilon import Number
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Bins
from anonymaly.declare.rules import Policy
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.share_histogram.binding import ShareHistogramBinding
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.query import ShareHistogram
from anonymaly.questions.share_histogram.summary import CellCounts
from anonymaly.questions.share_histogram.value import ReleasedHistogram

Run = Callable[[CellCounts, ShareHistogramBinding, Noise], Any]

# What is kept of how many records, and what a cut into buckets is chosen by.
DATA = MappingProxyType(
    {**DATA_ARGUMENTS, "thin": frozenset({"counts"}), "partition": frozenset({"exponents"})}
)
# On both tables: cells far apart from each other and from 0, so that levelling them hides no noise.
CROWD: Database = (*[ADULT] * 20, *[CHILD] * 60)
AGES = Bins("age", [0, 18, 65, 200])
TOO_OLD = RECORDS[-1]  # of 150 years, and nobody above 120 is declared
# Of which all of ε is lost in one count, from whatever it is, or from a count of nobody.
TIGHT, TIGHT_FROM_NOBODY = ("one_sided", "geometric"), ("one_sided_l1", "sample")


class _HistogramCase(Case):
    """The case, with counts and estimates written as plain arrays and lists, which can be compared."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)

        def summarise(table: Any, released: Released) -> dict[str, Any]:
            cells: CellCounts = stage.summarise(table, released)
            return {"every": cells.every, "non_sensitive": cells.non_sensitive}

        def release(seen: Mapping[str, Any], released: Released, noise: Any) -> list[float]:
            found: ReleasedHistogram = stage.release(CellCounts(**seen), released, noise)
            sums = [] if found.sums is None else found.sums.tolist()
            return [*found.estimates.tolist(), *sums]

        return (Stage(stage.name, summarise, release),)


def histogram_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    method: str = "hybrid",
    crowd: Database = (),
    decided: bool = False,
    kind: type[ShareHistogram] = ShareHistogram,
) -> Case:
    """Return ``share-histogram`` as an audit sees it, by ward.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    method : str
        How counts are released.
    crowd : records
        Those that both tables of the worst pair have besides.
    decided : bool
        Whether it is by age under a policy on ages, whose text decides cells; in the worst pair somebody of
        an undeclared age goes, in a bin that reaches beyond the declared ones.
    kind : type
        The question's type: ``ShareHistogram``, or a broken variant of it.

    Examples
    --------
    >>> len(histogram_case(epsilon="1", adjacency="replace").worst_pair[0])
    2
    """
    by, policy = ([AGES], "grown") if decided else (["ward"], "adults")
    query = kind(by=by, policy=policy, method=method, epsilon=epsilon)
    before, after = worst_pair(adjacency, 1)
    if decided:
        before, after = (OTHER, TOO_OLD), (OTHER, *([] if adjacency == "add_remove" else [ADULT]))
    unit = "records by age" if decided else "records"
    return _HistogramCase(
        name=f"share-histogram, {method}, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # In the replace form a record leaves one cell and another comes to a cell.
        sensitivity={"histogram": Sensitivity(1 if adjacency == "add_remove" else 2, _moved)},
        worst_pair=((*crowd, *before), (*crowd, *after)),
        # A replaced record moves two counts, and by two-sided noise each loses half.
        tight=method in (TIGHT if crowd else TIGHT_FROM_NOBODY)
        and (adjacency == "add_remove" or method != "geometric"),
        # Without a look at the policy the promise is to everyone, in both directions.
        direction="forward" if METHODS[method].reads_non_sensitive else "both",
        adjacency=adjacency,
        rules={**RULES, "grown": Policy("age >= 18")},
        data_arguments=DATA,
    )


def _moved(first: Mapping[str, Any], second: Mapping[str, Any]) -> float:
    """Return by how much all counts moved; infinite if a non-sensitive one fell."""
    if (second["non_sensitive"] < first["non_sensitive"]).any():
        return math.inf
    return float(np.abs(second["every"] - first["every"]).sum())


def _released(run: Run, **options: Any) -> Case:
    """Return the case of a histogram that is released in another way; its claims stay the real one's."""

    class BrokenHistogram(ShareHistogram):
        def stages(self, bound: Any) -> tuple[Stage, ...]:
            (stage,) = super().stages(bound)

            def release(cells: CellCounts, released: Released, noise: Noise) -> ReleasedHistogram:
                found = run(cells, bound, noise)
                return found if isinstance(found, ReleasedHistogram) else ReleasedHistogram(bound.by, found)

            return (dataclasses.replace(stage, release=release),)

    return histogram_case(epsilon="1", kind=BrokenHistogram, **options)


def _occupied_only(cells: CellCounts, bound: ShareHistogramBinding, noise: Noise) -> Any:
    """Leave empty cells empty."""
    drawn = bound.method.run(cells.every, cells.non_sensitive, rates=bound.rates, noise=noise)
    return np.where(cells.every > 0, drawn + 1, 0)


def _exact_sums(cells: CellCounts, bound: ShareHistogramBinding, noise: Noise) -> ReleasedHistogram:
    """Take sums of what was counted, not of what was released."""
    drawn = bound.method.run(cells.every, cells.non_sensitive, rates=bound.rates, noise=noise)
    return ReleasedHistogram(bound.by, drawn, cells.every)


def _shown_numbers(cells: CellCounts, bound: ShareHistogramBinding, noise: Noise) -> Any:
    """Choose by the numbers of records as they are: here, one method more than a certain number."""
    drawn = bound.method.run(cells.every, cells.non_sensitive, rates=bound.rates, noise=noise)
    return drawn * 0 if int((cells.every - cells.non_sensitive).sum()) < 1 else drawn


def _harmless_beyond(cells: CellCounts, bound: ShareHistogramBinding, noise: Noise) -> Any:
    """Call a bin harmless by its edges alone, and count whoever is there with one-sided noise."""
    return cells.every - noise.one_sided_geometric(bound.rates["one_sided"], cells.every.size)


def _listed(adjacency: Adjacency, method: str) -> ListedCase:
    crowd = () if method in TIGHT_FROM_NOBODY else CROWD
    build = partial(histogram_case, adjacency=adjacency, method=method, crowd=crowd)
    if build(epsilon=1).tight:
        return ListedCase(build, samples=7_000 if method == "geometric" else 6_500, thorough_samples=200_000)
    if method.startswith("dawa"):
        # Two totals move, each with less than half of ε: of more ε more is seen.
        # Of a replaced record `dawaz` shows least.
        samples = 9_000 if (method, adjacency) == ("dawaz", "replace") else 3_500
        return ListedCase(build, samples, thorough_samples=20_000, epsilon="3", thorough_epsilon="3")
    return ListedCase(build, samples=1_000, thorough_samples=20_000, thorough_epsilon="2")


SHARE_HISTOGRAM_CASES: tuple[ListedCase, ...] = tuple(
    _listed(adjacency, method) for adjacency, method in product(get_args(Adjacency), METHODS)
) + tuple(
    ListedCase(
        partial(histogram_case, adjacency=adjacency, method="auto", decided=True),
        samples=1_000,
        thorough_samples=20_000,
        thorough_epsilon="2",
    )
    for adjacency in get_args(Adjacency)
)
SHARE_HISTOGRAM_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "histogram: non-sensitive counts as they are",
        "bound",
        lambda: _released(lambda cells, bound, noise: cells.non_sensitive),
        samples=400,
    ),
    Mutant("histogram: empty cells stay empty", "bound", lambda: _released(_occupied_only), samples=400),
    Mutant("histogram: sums of exact counts", "bound", lambda: _released(_exact_sums), samples=400),
    Mutant(
        "histogram: a bin called harmless that reaches beyond the declared domain",
        "bound",
        lambda: _released(_harmless_beyond, method="auto", decided=True),
        samples=400,
    ),
    Mutant(
        "histogram: a choice by exact numbers",
        "bound",
        # In the replace form a sensitive record goes.
        lambda: _released(_shown_numbers, method="auto", adjacency="replace"),
        samples=400,
    ),
)
