# SPDX-License-Identifier: Apache-2.0
"""Tables 2 to 11: how long each search takes and how near to the best valid context it comes."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings
from anonymaly.questions.explain.searches.graph import KnownContexts
from studies.journal import Journal
from studies.pcor.asking import Asked, Asking
from studies.pcor.outliers import measure_outliers
from studies.pcor.paper import EPSILON, EPSILONS, SAMPLE_NUMBERS, SAMPLES, paper_rate
from studies.progress import Progress
from studies.seeds import seed_of

# The most contexts that uniform sampling draws. The paper's has no bound, and took up to a day.
TRIES = 100_000


@dataclass(frozen=True)
class Case:
    """One way to ask: a search, what it prefers, ε, how sharp its draws are, its starts and samples."""

    search: str
    utility: str = "population"
    epsilon: str = EPSILON
    accounting: str = "ours"
    starts: int = SearchSettings.starts
    samples: int = SAMPLES

    @property
    def name(self) -> str:
        """The case as a key of the journal."""
        parts = (self.utility, self.search, self.epsilon, self.accounting, str(self.starts))
        return "/".join((*parts, *([] if self.samples == SAMPLES else [f"{self.samples} samples"])))

    @property
    def from_one_start(self) -> Case:
        """The same, beginning at one context as in the paper."""
        return dataclasses.replace(self, starts=1)

    @property
    def as_in_the_paper(self) -> Case:
        """The same, beginning at one context and with the paper's ε1."""
        return dataclasses.replace(self, starts=1, accounting="paper")

    @property
    def rate(self) -> Fraction:
        """ε1, the rate of each draw."""
        if self.accounting == "paper":
            return paper_rate(self.search, self.epsilon, self.samples)
        nano = int(Fraction(self.epsilon) * 10**9)
        return SEARCHES[self.search].rate(nano, self.settings(), adjacency="add_remove")

    @property
    def charge(self) -> float:
        """What the search costs as we account: ε, or for the paper's draws what they are worth."""
        return float(self.rate * SEARCHES[self.search].draws(self.settings()))

    def settings(self, start: int | None = None) -> SearchSettings:
        """Return how the search is set."""
        return SearchSettings(start=start, starts=self.starts, samples=self.samples, tries=TRIES)


def in_all_ways(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases as we do them, those that utility steers from one start too, and as in the paper."""
    ours = tuple(cases)
    one = tuple(case.from_one_start for case in ours if SEARCHES[case.search].steered)
    return (*ours, *one, *(case.as_in_the_paper for case in ours))


def search_cases() -> tuple[Case, ...]:
    """Return the cases of Tables 2 to 5 and 8 to 11."""
    ours = [Case(search) for search in ("exact", "uniform", "random_walk", "depth_first", "breadth_first")]
    ours += [Case(search, "overlap") for search in ("depth_first", "breadth_first")]
    ours += [Case("breadth_first", epsilon=epsilon) for epsilon in EPSILONS if epsilon != EPSILON]
    ours += [Case("breadth_first", samples=samples) for samples in SAMPLE_NUMBERS if samples != SAMPLES]
    return in_all_ways(ours)


def detector_cases() -> tuple[Case, ...]:
    """Return the cases of Tables 6 and 7."""
    return in_all_ways([Case("exact"), Case("breadth_first")])


def measure(
    asking: Asking,
    cases: tuple[Case, ...],
    outliers: int,
    journal: Journal,
    progress: Progress,
    seed: int,
    screen: Callable[[int], bool] | None = None,
) -> None:
    """Measure all cases for a number of random outliers.

    Records that stand out nowhere are kept as such, unless a quick screen says so.
    """

    def measure_one(row: int) -> dict[str, Any] | None:
        if screen is not None and not screen(row):
            return None
        return _measure_one(asking.ask(row, progress), row, cases, seed)

    measure_outliers(
        asking.name, asking.records.rows.num_rows, outliers, journal, progress, seed, measure_one
    )


def warm_up(asking: Asking, cases: tuple[Case, ...], screen: Callable[[int], bool] | None = None) -> None:
    """Ask once, so that no measured time holds the loading of compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        measure(asking, cases, 1, Journal(Path(folder) / "warm.jsonl", {}), Progress(None), 0, screen)


def _measure_one(asked: Asked, row: int, cases: tuple[Case, ...], seed: int) -> dict[str, Any]:
    validity, populations = asked.validity, asked.populations
    valid = np.flatnonzero(validity)
    entry: dict[str, Any] = {"row": row, "contexts": len(validity), "valid": len(valid)}
    if not len(valid):
        return entry
    start = int(valid[Noise.seeded(seed_of(seed, row, "start")).uniform(len(valid))])
    utilities = {"population": populations}
    if any(case.utility == "overlap" for case in cases):
        utilities["overlap"] = asked.overlaps(start)
    entry["best"] = int(populations[valid].max())
    entry["start"] = int(populations[start])
    entry["results"] = dict(_results(asked, cases, start, utilities, seed, row))
    return entry


def _results(
    asked: Asked, cases: tuple[Case, ...], start: int, utilities: Mapping[str, Any], seed: int, row: int
) -> Iterator[tuple[str, dict[str, float | None]]]:
    choices = asked.choices(start)
    for case in cases:
        values, draw = utilities[case.utility], seed_of(seed, row, case.name)
        seconds: float | None
        if case.accounting == "ours" and case.search != "exact":
            context, bound, seconds = asked.release(case.epsilon, draw, _fields(case, choices))
            if bound.rate != case.rate:
                raise AssertionError(f"{case.name} was drawn at another rate")
            seconds += asked.summary_seconds
        else:
            begun = time.perf_counter()
            # All contexts are judged already, and how sharp a draw is takes no time to change.
            context = SEARCHES[case.search].run(
                KnownContexts(asked.validity, values),
                case.settings(start),
                rate=case.rate,
                noise=Noise.seeded(draw),
            )
            seconds = time.perf_counter() - begun + asked.exact_seconds + asked.summary_seconds
        yield (
            case.name,
            {
                "utility": 0.0 if context is None else float(values[context] / values[asked.validity].max()),
                "seconds": seconds if case.accounting == "ours" else None,
                "found": context is not None,
            },
        )


def _fields(case: Case, choices: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"search": case.search, "samples": case.samples, "tries": TRIES}
    if SEARCHES[case.search].takes_start:
        fields |= {"start": choices, "starts": case.starts}
    if case.utility == "overlap":
        fields |= {"utility": "overlap", "target": choices}
    return fields
