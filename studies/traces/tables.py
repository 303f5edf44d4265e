# SPDX-License-Identifier: Apache-2.0
"""What the paper says of its Figures 1 to 5, beside ours, and our figures as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.journal import Entry
from studies.table import Content, Line, Table
from studies.traces.data import EVERYONE, OPEN, Traces
from studies.traces.found import Found
from studies.traces.grids import FOR_EVERYONE, ONE_SIDED
from studies.traces.paper import (
    BEST_TRUNCATION,
    CROSSING,
    EPSILONS,
    LEARNED,
    LEARNING_ERROR,
    LENGTHS,
    PLACES,
    RESIDENTS,
    SHARES,
    TIMES_AT_SMALL_EPSILON,
    TRAJECTORIES,
    USERS,
)
from studies.traces.trajectories import PER_PERSON

SAID = SHARES[:5]  # Figure 5 leaves the smallest shares out
MEASURES = {
    "held": "that somebody has",
    "frequent": "of 50 and more trajectories",
    "possible": "of all that are possible",
}


def all_tables(
    traces: Traces, trajectories: Sequence[Entry], grids: Sequence[Entry], runs: int
) -> list[Table]:
    """Return all tables."""
    found = Found(trajectories, grids)
    return [
        data_table(traces),
        said_table(found),
        learning_table(found),
        *(ways_table(found, length, measure) for length in LENGTHS for measure in MEASURES),
        *(grid_table(found, grid, epsilon, runs) for grid in found.grids for epsilon in EPSILONS),
        *(percentile_table(found, grid) for grid in found.grids),
    ]


def data_table(traces: Traces) -> Table:
    """Return what stands in for the paper's traces."""
    rows = traces.rows
    busy = int(rows.groupby("trajectory")["busy"].first().sum())
    number = len(traces.visits)
    lines: list[Line] = [
        ("daily trajectories", TRAJECTORIES, number),
        ("users, taxis", USERS, int(rows["taxi"].nunique())),
        ("places", PLACES, int(rows["place"].nunique())),
        ("in the task of Figure 1", LEARNED, number),
        ("residents', busy taxis'", RESIDENTS, busy),
        ("their share", RESIDENTS / LEARNED, busy / number),
        *((f"harmless under P{share[2:]}", float(share), traces.policies[share].share) for share in SHARES),
    ]
    note = "Harmless: no row in a sensitive place. The places are drawn until the share is met."
    return Table("The traces", ("", "paper", "ours"), tuple(lines), note)


def said_table(found: Found) -> Table:
    """Return every comparison that the paper's text makes, and ours."""
    lines = [*_said_of_learning(found), *_said_of_ways(found), *_said_of_grids(found)]
    note = (
        "The paper prints no numbers beside Figures 1 to 5; this is all that its text says of them. Its MRE"
        " is over all possible sequences, where LM T1's noise alone is about 2/ε; what it says of LM T1 and"
        " a sample is nearer to ours over sequences that somebody has. In Figure 4 the paper's OsdpLaplaceL1"
        " adds two-sided noise where all rows are sensitive; ours leaves such cells at 0, and auto does what"
        " the paper's does."
    )
    heads = ("", "of", "paper", "ours")
    return Table("What the paper says, and ours", heads, tuple(lines), note, words=("of", "paper"))


def _said_of_learning(found: Found) -> list[Line]:
    large, said = SHARES[:4], f"close to {LEARNING_ERROR}"
    lines: list[Line] = []
    for epsilon in EPSILONS:  # the text says the same of both
        errors = [found.learning(share, epsilon, "sample") for share in large]
        beside = [
            _ratio(error, found.learning(share, OPEN, "harmless"))
            for share, error in zip(large, errors, strict=True)
        ]
        lines += [
            ("Figure 1", f"a sample's error, ε = {epsilon}, shares 0.99 to 0.50", said, _span(errors)),
            ("Figure 1", "over that of all harmless records", "as low", _span(beside)),
        ]
    private = "; ".join(f"{found.learning(EVERYONE, epsilon, 'ObjDP'):.2f}" for epsilon in EPSILONS)
    lines.append(("Figure 1", "ObjDP's error, ε = 1; ε = 0.01 (random: 0.5)", "close to random", private))
    return lines


def _said_of_ways(found: Found) -> list[Line]:
    lines: list[Line] = []
    for number, length in enumerate(LENGTHS, start=2):
        figure, times = f"Figure {number}", f"about {TIMES_AT_SMALL_EPSILON:g}"
        best = "; ".join(str(found.best_truncation(length, epsilon)) for epsilon in EPSILONS)
        lines.append((figure, f"best truncation of {length}-grams, ε = 1; 0.01", str(BEST_TRUNCATION), best))
        for measure, which in (("possible", "all possible"), ("held", "those that somebody has")):
            middle = _times(found, length, "0.50", "1", measure)
            small = _span([_times(found, length, share, "0.01", measure) for share in SHARES])
            lines += [
                (figure, f"LM T1's error over a sample's, {which}, ε = 1, share 0.50", "comparable", middle),
                (figure, f"LM T1's error over a sample's, {which}, ε = 0.01, all shares", times, small),
            ]
    return lines


def _said_of_grids(found: Found) -> list[Line]:
    lines: list[Line] = []
    for grid in found.grids:
        for epsilon in EPSILONS:
            for method, paper in (
                ("one_sided_l1", f"above {CROSSING}"),
                ("dawaz", f"above {CROSSING}" if epsilon == "1" else "all shares"),
                ("auto", f"above {CROSSING}, OsdpLaplaceL1"),
            ):
                of = f"{method} beats DAWA down to the share, ε = {epsilon}"
                lines.append((f"Figure 4, {grid}", of, paper, found.crossing(grid, epsilon, method)))
        for measure in ("rel50", "rel95"):
            for method in ("one_sided_l1", "dawaz", "auto"):
                dawa = found.grid(grid, EVERYONE, "1", "dawa", measure)
                ratios = [_ratio(found.grid(grid, share, "1", method, measure), dawa) for share in SHARES[:4]]
                of = f"{measure} of {method} over DAWA's, shares 0.99 to 0.50"
                lines.append((f"Figure 5, {grid}", of, "below 1", _span(ratios)))
    return lines


def learning_table(found: Found) -> Table:
    """Return Figure 1: the error of classifiers."""
    lines: list[Line] = [
        ("all harmless, open", *(found.learning(share, OPEN, "harmless") for share in SHARES))
    ]
    for epsilon in EPSILONS:
        sampled = (found.learning(share, epsilon, "sample") for share in SHARES)
        lines.append((f"sample, ε = {epsilon}", *sampled))
    for epsilon in EPSILONS:
        lines.append((f"ObjDP, ε = {epsilon}", *_same(found.learning(EVERYONE, epsilon, "ObjDP"))))
    lines += [
        ("all records, open", *_same(found.learning(EVERYONE, OPEN, "all"))),
        ("the same, without patterns", *_same(found.learning(EVERYONE, OPEN, "all, without patterns"))),
        ("random", *_same(0.5)),
        ("paper: sample, harmless", f"near {LEARNING_ERROR}", *[""] * (len(SHARES) - 2), "higher"),
    ]
    note = (
        "1 - AUC, by share of harmless trajectories; classifiers are judged on all trajectories of taxis that"
        " they have not seen. ObjDP is objective perturbation with the best of three penalties, chosen with"
        " hindsight in its favour. Patterns are sequences of three places that 50 trajectories of the"
        " training part have; ObjDP does without. Label, features and the classifier's penalty were chosen"
        " among several by the errors of all records, and of the harmless ones at 0.50."
    )
    return Table("Figure 1. Error of classifiers: is the taxi busy?", ("", *SHARES), tuple(lines), note)


def ways_table(found: Found, length: int, measure: str) -> Table:
    """Return Figure 2 or 3: the mean relative error of counts of sequences."""
    lines: list[Line] = [("all harmless, open", *_of(found, length, OPEN, "harmless", measure))]
    for epsilon in EPSILONS:
        for series in ("sample", "weighted", "ngrams"):
            lines.append((f"{series}, ε = {epsilon}", *_of(found, length, epsilon, series, measure)))
        for series in (f"LM T{BEST_TRUNCATION}", "ngrams for everyone"):
            figure = found.ways(length, EVERYONE, epsilon, series, measure)
            lines.append((f"{series}, ε = {epsilon}", *_same(figure)))
    note = (
        f"Weighted: the sample's counts over 1 - e^-ε. ngrams: ShareNgrams of up to {max(LENGTHS)} places,"
        f" {PER_PERSON} sequences of a trajectory in all lengths together; what is below its threshold counts"
        " as 0. An error of 1 is that of publishing nothing. LM T1 has noise on every possible sequence, so"
        " that nobody can list what it releases."
    )
    title = (
        f"Figure {length - 2}. MRE of {length}-grams {MEASURES[measure]}, by share of harmless trajectories"
    )
    return Table(title, ("", *SHARES), tuple(lines), note)


def grid_table(found: Found, grid: str, epsilon: str, runs: int) -> Table:
    """Return Figure 4: the mean relative error of places by hour."""
    title = f"Figure 4. MRE of places by hour, {grid}, by share of harmless rows, ε = {epsilon}"
    note = (
        f"{runs} runs. Every row is protected by itself, as the paper's text on value-based policies implies."
    )
    return Table(title, ("", *SHARES), tuple(_methods(found, grid, epsilon, "mre", SHARES)), note)


def percentile_table(found: Found, grid: str) -> Table:
    """Return Figure 5: median and 95th percentile of the relative errors at ε = 1."""
    lines: list[Line] = []
    for measure in ("rel50", "rel95"):
        lines += [(f"{measure}, {line[0]}", *line[1:]) for line in _methods(found, grid, "1", measure, SAID)]
    title = f"Figure 5. Relative errors per cell, {grid}, by share of harmless rows, ε = 1"
    return Table(title, ("", *SAID), tuple(lines))


def _methods(found: Found, grid: str, epsilon: str, measure: str, shares: Sequence[str]) -> list[Line]:
    lines: list[Line] = [
        (method, *(found.grid(grid, share, epsilon, method, measure) for share in shares))
        for method in ONE_SIDED
    ]
    for method in FOR_EVERYONE:
        lines.append((method, *([found.grid(grid, EVERYONE, epsilon, method, measure)] * len(shares))))
    return lines


def _of(found: Found, length: int, epsilon: str, series: str, measure: str) -> list[float]:
    return [found.ways(length, share, epsilon, series, measure) for share in SHARES]


def _times(found: Found, length: int, share: str, epsilon: str, measure: str) -> float:
    sample = found.ways(length, share, epsilon, "sample", measure)
    return _ratio(found.ways(length, EVERYONE, epsilon, f"LM T{BEST_TRUNCATION}", measure), sample)


def _ratio(one: float, other: float) -> float:
    return one / other if other else (1.0 if one == other else float("inf"))


def _same(content: Content) -> tuple[Any, ...]:
    return (content,) * len(SHARES)


def _span(values: Sequence[float]) -> str:
    """Write the least and the largest of some figures.

    Examples
    --------
    >>> _span([0.123, 0.4, 0.2])
    '0.123 to 0.4'
    """
    return f"{min(values):.3g} to {max(values):.3g}"
