# SPDX-License-Identifier: Apache-2.0
"""Record and replay: a question on a table, then on a neighbour with the same coins; what shows must agree.

A stage may differ between the two in one thing only, its summary, and in that by no more than its declared
sensitivity. What it calls for noise, asks of the engine, logs, or fails with must be the same, because the
proof of a question is about its noise and speaks of none of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.binding import Released
from anonymaly.audit.case import Case
from anonymaly.audit.neighbours import Pair
from anonymaly.audit.recording import Call, RecordingNoise, recorded_lines, recorded_statements
from anonymaly.declare.dataset import Dataset


@dataclass(frozen=True)
class Run:
    """What one run of a question's stages did and made."""

    calls: tuple[Call, ...]
    statements: tuple[str, ...]
    lines: tuple[str, ...]
    summaries: Mapping[str, Any]
    released: Mapping[str, Any]
    chosen: Mapping[str, list[Any]]
    value: Any
    failure: str | None

    def released_before(self, stage: str) -> Released:
        """Return what the stages before this one released."""
        before = takewhile(lambda name: name != stage, self.summaries)
        return {name: self.released[name] for name in before}

    @property
    def traces(self) -> dict[str, tuple[Any, ...]]:
        """What must be the same on neighbouring tables, by what it is called in a report."""
        return {
            "noise call": self.calls,
            "engine statement": self.statements,
            "log line": self.lines,
            "failure": () if self.failure is None else (self.failure,),
        }


@dataclass(frozen=True)
class Replay:
    """Both runs of a pair of tables, and every difference that must not be."""

    pair: Pair
    first: Run
    second: Run
    problems: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.problems

    def distance(self, case: Case, stage: str) -> float:
        """Return how far apart the two summaries of a stage are."""
        return case.sensitivity[stage].distance(self.first.summaries[stage], self.second.summaries[stage])


def run(case: Case, dataset: Dataset, *, seed: int, after: Run | None = None) -> Run:
    """Carry out a question's stages on a table with recorded, seeded noise.

    With a run to come ``after``, later stages see what that one released, and go on from what it chose, so
    that a replay differs from it in its rows alone. Every stage has coins of its own: one stage's detour does
    not shift the next one's.
    """
    bound = case.bind()
    stages, table = case.stages(bound), dataset.view(bound.policy)
    calls: list[Call] = []
    summaries: dict[str, Any] = {}
    released: dict[str, Any] = {}
    chosen: dict[str, list[Any]] = {}
    shown = released if after is None else after.released
    value: Any = None
    failure = None
    name = ""
    with recorded_statements(table) as statements, recorded_lines() as lines:
        try:
            for place, stage in enumerate(stages):
                name = stage.name
                seen = dict(shown)
                summary, summaries[name] = _kept(stage.summarise(table, _earlier(seen, stages[:place])))
                noise = RecordingNoise.seeded(1000 * seed + place)
                noise.stage, noise.data_arguments = name, case.data_arguments
                noise.given, chosen[name] = list(after.chosen.get(name, ()) if after else ()), noise.chosen
                try:
                    released[name] = stage.release(summary, _earlier(seen, stages[:place]), noise)
                finally:
                    calls += noise.calls
            value = shown[name]
        except Exception as problem:  # what a question fails with is part of what is compared
            failure = f"{type(problem).__name__} in stage {name}"
    return Run(tuple(calls), tuple(statements), tuple(lines), summaries, released, chosen, value, failure)


def replay(case: Case, pair: Pair, *, seed: int = 0, first: Run | None = None) -> Replay:
    """Run on the first table twice and on the second once, with the same coins, and compare.

    Where the run on the first table is known from another pair, it is not done again.

    Examples
    --------
    >>> from anonymaly.audit.cases.count import count_case
    >>> case = count_case(epsilon="0.5")
    >>> replay(case, Pair("the worst pair", *case.worst_pair)).problems
    ()
    """
    problems = []
    if first is None:
        dataset = case.dataset(pair.first)
        first, again = run(case, dataset, seed=seed), run(case, dataset, seed=seed)
        problems += [f"asked again with the same coins: {text}" for text in _unequal(first, again)]
    second = run(case, case.dataset(pair.second), seed=seed, after=first)
    problems += [text for kind in first.traces for text in _compare(kind, first, second)]
    problems += _silent(case, first)
    if pair.same:
        problems += _unequal(first, second)
    for stage, sensitivity in case.sensitivity.items():
        if stage in first.summaries and stage in second.summaries:
            one, other = first.summaries[stage], second.summaries[stage]
            broken = sensitivity.violation(one, other, first.released_before(stage))
            problems += [f"stage {stage}: {broken}"] if broken else []
    return Replay(pair, first, second, tuple(problems))


def equal(first: Any, second: Any) -> bool:
    """Compare two summaries or values of any kind a question makes."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(equal(first[name], second[name]) for name in first)
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        one, other = np.asarray(first), np.asarray(second)
        numbers = one.dtype.kind in "fc" and other.dtype.kind in "fc"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=numbers)
    if isinstance(first, pa.Table) and isinstance(second, pa.Table):
        return bool(first.equals(second))
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(equal, first, second))
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first):
        return math.isnan(second)
    return type(first) is type(second) and bool(first == second)


def _unequal(first: Run, second: Run) -> list[str]:
    """Say where two runs that must be equal in everything are not."""
    found = [text for kind in first.traces for text in _compare(kind, first, second)]
    for what, one, other in (
        ("summary", first.summaries, second.summaries),
        ("released value", first.released, second.released),
    ):
        for stage in {**one, **other}:
            if stage not in one or stage not in other or not equal(one[stage], other[stage]):
                found.append(f"another {what} of stage {stage}")
    return found


def _compare(kind: str, first: Run, second: Run) -> list[str]:
    """Say where a trace first differs."""
    for place, (one, other) in enumerate(zip_longest(first.traces[kind], second.traces[kind])):
        if one != other:
            return [
                f"{kind} {place + 1} is {one or 'missing'} on the one and {other or 'missing'} on the other"
            ]
    return []


def _silent(case: Case, run: Run) -> list[str]:
    """Name the stages that released something without drawing from the noise they were given.

    A stage that an earlier release made needless releases None, and draws nothing.
    """
    drawing = {call.stage for call in run.calls}
    something = [stage for stage, released in run.released.items() if released is not None]
    return [f"stage {stage} drew no noise" for stage in something if stage not in drawing]


def _earlier(released: Released, stages: Sequence[Any]) -> dict[str, Any]:
    return {stage.name: released[stage.name] for stage in stages if stage.name in released}


def _kept(summary: Any) -> tuple[Any, Any]:
    """Return a summary to release from and one to keep; a stream of batches can be read only once."""
    if isinstance(summary, pa.RecordBatchReader):
        table = summary.read_all()
        return table.to_reader(), table
    return summary, summary
