# SPDX-License-Identifier: Apache-2.0
"""From counts to groups and reasons: margins of all listed groups, a draw for each group, then noise."""

from __future__ import annotations

import numpy as np

from anonymaly.ask.binding import Stage
from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.explain.everyone.axes.subsets import SubsetAxis
from anonymaly.questions.explain.everyone.binding import EveryoneBinding
from anonymaly.questions.explain.everyone.group_list import GroupList, GroupSample
from anonymaly.questions.explain.everyone.summary import (
    StepCounts,
    count_steps_by_cell,
    count_steps_of_groups,
)
from anonymaly.questions.explain.everyone.value import Explanation, Group

Names = tuple[tuple[int, ...], ...]


def stages(bound: EveryoneBinding) -> tuple[Stage, ...]:
    """Draw the groups; then, with a share of its own, say how large they are and where their values lie."""

    def explain(names: Names, counts: list[Integers], noise: Noise) -> Explanation:
        return explanation(bound, names, counts, noise)

    if bound.why is None:
        return (
            Stage(
                name="group",
                summarise=lambda table, released: count_steps_by_cell(table, bound),
                release=lambda summary, released, noise: explain(
                    draw_groups(summary, bound, noise), [], noise
                ),
            ),
        )
    return (
        Stage(
            name="group",
            summarise=lambda table, released: count_steps_by_cell(table, bound),
            release=lambda summary, released, noise: draw_groups(summary, bound, noise),
        ),
        Stage(
            name="why",
            summarise=lambda table, released: count_steps_of_groups(table, bound, released["group"]),
            release=lambda counts, released, noise: explain(released["group"], counts, noise),
        ),
    )


def draw_groups(summary: StepCounts, bound: EveryoneBinding, noise: Noise) -> Names:
    """Draw one group after another, each from those that are not too like the ones before (Lemmas 4 to 6).

    "Stands out in no group" is a candidate of every draw, and leaves no name.
    """
    listed, margins = listed_margins(summary, bound, noise)
    open_to_choice = np.ones(listed.size, np.bool_)
    names: list[tuple[int, ...]] = []
    for _ in range(bound.query.groups):
        candidates = np.flatnonzero(open_to_choice)
        chosen = noise.choose(np.append(margins[candidates], bound.none_at), bound.rate)
        if chosen == len(candidates):
            continue
        names.append(listed.name(int(candidates[chosen])))
        if len(names) < bound.query.groups:
            open_to_choice &= ~listed.like(names[-1])
    return tuple(names)


def listed_margins(
    summary: StepCounts, bound: EveryoneBinding, noise: Noise
) -> tuple[GroupList | GroupSample, Integers]:
    """Return the list of groups and the margin of each; no group is left out for its margin."""
    # Compiled, so imported when rows are read.
    from anonymaly.questions.explain.everyone.kernels.all_groups import all_margins  # noqa: PLC0415
    from anonymaly.questions.explain.everyone.kernels.some_groups import sample_margins  # noqa: PLC0415

    margin, grid, value = bound.margin, bound.grid, bound.record_value
    if bound.sampled:
        sample = GroupSample.draw(tuple(axis for axis in bound.axes if isinstance(axis, SubsetAxis)), noise)
        return sample, sample_margins(sample, summary, margin, grid, value)
    cells = int(np.prod([axis.codes for axis in bound.axes]))
    numbers = margin.columns(summary.by_cell(cells, grid.steps), grid, value)
    return GroupList(bound.axes), all_margins(bound.axes, numbers, margin.rule(grid, value))


def explanation(bound: EveryoneBinding, names: Names, counts: list[Integers], noise: Noise) -> Explanation:
    """Return the groups in words, with what is released about each."""
    groups = []
    for place, name in enumerate(names):
        parts = [axis.part(option) for axis, option in zip(bound.axes, name, strict=True)]
        if bound.why is None:
            groups.append(Group(parts, metric=bound.metric))
            continue
        size, quartiles = bound.why.release(counts[place], bound.grid, noise)
        groups.append(Group(parts, size, bound.why.half_width, quartiles, bound.metric))
    # The record's value is the asker's: it is added to what they are shown, and kept nowhere.
    return Explanation(bound.metric, None, groups, bound.needed, bound.why is not None)
