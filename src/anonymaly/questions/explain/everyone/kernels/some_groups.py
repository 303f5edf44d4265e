# SPDX-License-Identifier: Apache-2.0
"""The margins of a sample of groups: for each, the records of all cells that it holds are added up."""

from __future__ import annotations

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.core.threads import equal_ranges, in_threads
from anonymaly.questions.explain.everyone.group_list import GroupSample
from anonymaly.questions.explain.everyone.kernels.margin import margin_of
from anonymaly.questions.explain.everyone.margins import Margin
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.rule import MarginRule
from anonymaly.questions.explain.everyone.summary import StepCounts

BATCH = 256  # groups whose counts are held at once


@compiled
def count_steps(
    masks: Integers,
    cell_codes: Integers,
    offsets: Integers,
    steps: Integers,
    counts: Integers,
    found: Integers,
) -> None:
    """Add up the counts of each step, for a row of masks each: an attribute's codes as bits."""
    for group in range(len(masks)):
        found[group] = 0
        for cell in range(len(cell_codes)):
            holds = True
            for axis in range(masks.shape[1]):
                holds &= (masks[group, axis] >> cell_codes[cell, axis]) & 1 == 1
            if holds:
                for place in range(offsets[cell], offsets[cell + 1]):
                    found[group, steps[place]] += counts[place]


@compiled
def judge_rows(numbers: Integers, rule: MarginRule, margins: Integers) -> None:
    """Write the margin of each row of numbers, which follow one another."""
    for group in range(len(margins)):
        margins[group] = margin_of(numbers, group * rule.width, rule)


def sample_margins(
    sample: GroupSample, summary: StepCounts, margin: Margin, grid: MetricGrid, value: float
) -> Integers:
    """Return the margin of each group of a sample."""
    cells, firsts = np.unique(summary.cells, return_index=True)
    offsets = np.append(firsts, len(summary.cells)).astype(np.int64)
    codes = np.stack(np.unravel_index(cells, [axis.codes for axis in sample.axes]), axis=1).astype(np.int64)
    masks = np.stack(
        [
            np.array([axis.mask(int(option)) for option in sample.names[:, place]], np.int64)
            for place, axis in enumerate(sample.axes)
        ],
        axis=1,
    )
    rule = margin.rule(grid, value)
    margins = np.empty(sample.size, np.int64)

    def work(part: tuple[int, int]) -> None:
        for start in range(part[0], part[1], BATCH):
            end = min(start + BATCH, part[1])
            found = np.empty((end - start, grid.steps), np.int64)
            count_steps(masks[start:end], codes, offsets, summary.steps, summary.counts, found)
            numbers = np.ascontiguousarray(margin.columns(found, grid, value)).reshape(-1)
            judge_rows(numbers, rule, margins[start:end])

    in_threads(work, equal_ranges(sample.size, BATCH))
    return margins
