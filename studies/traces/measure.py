# SPDX-License-Identifier: Apache-2.0
"""All inputs of Figures 1 to 5, one after another: those that a journal holds are not measured again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from studies.journal import Entry, Journal
from studies.progress import Progress
from studies.traces.data import EVERYONE, OPEN, Traces
from studies.traces.grids import grid_input
from studies.traces.paper import EPSILONS, SHARES
from studies.traces.trajectories import Task


def measure_trajectories(task: Task, journal: Journal, progress: Progress) -> list[Entry]:
    """Measure what the journal does not hold yet of Figures 1 to 3."""
    cases = [(share, epsilon) for epsilon in (OPEN, *EPSILONS) for share in (*SHARES, EVERYONE)]
    names = ("share", "epsilon")
    return _go_on(journal, progress, "trajectories", names, cases, task.input)


def measure_grids(
    traces: Traces, journal: Journal, progress: Progress, *, runs: int, seed: int
) -> list[Entry]:
    """Measure what the journal does not hold yet of Figures 4 and 5."""
    cases = [
        (grid, share, epsilon)
        for grid in traces.grids
        for epsilon in EPSILONS
        for share in (*SHARES, EVERYONE)
    ]
    return _go_on(
        journal, progress, "places by hour", ("grid", "share", "epsilon"), cases,
        lambda grid, share, epsilon: grid_input(traces, grid, share, epsilon, runs, seed),
    )  # fmt: skip


def _go_on(
    journal: Journal,
    progress: Progress,
    title: str,
    names: tuple[str, ...],
    cases: Iterable[tuple[str, ...]],
    measure: Callable[..., Mapping[str, Any]],
) -> list[Entry]:
    """Measure the cases that are missing, and return all of them in order."""
    wanted = list(cases)
    known = {tuple(entry[name] for name in names): entry for entry in journal}
    progress.start(title, total=len(wanted), done=len(known), unit="inputs")
    for number, case in enumerate(wanted):
        if case not in known:
            entry = {**dict(zip(names, case, strict=True)), "results": measure(*case)}
            journal.write(entry)
            known[case] = entry
        progress.advance(number + 1)
    return [known[case] for case in wanted]
