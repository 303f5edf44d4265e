# SPDX-License-Identifier: Apache-2.0
"""The margins of all groups, one after another in an order in which each differs little from the one before.

Options are decided attribute by attribute. For each attribute a table holds what the options decided so far
add up to, for every combination of codes of the attributes that follow. A step in the last attribute adds or
takes away one row of numbers; a step in one before it, a few more. How many steps there are follows from the
list of groups, the grid and the asked value, and is the same for every table: nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled, inlined, whole
from anonymaly.core.progress import tell
from anonymaly.core.threads import in_threads, worker_threads
from anonymaly.questions.explain.everyone.axes import GroupAxis
from anonymaly.questions.explain.everyone.kernels.margin import margin_of
from anonymaly.questions.explain.everyone.rule import MarginRule

CHUNKS_PER_THREAD = 8
SMALL = 1 << 10  # groups up to which a thread does not pay


class Levels(NamedTuple):
    """The attributes in the order in which they are decided; the steps of all are in one list."""

    lengths: Integers  # of a row of each attribute's table: the later codes' combinations, times the numbers
    places: Integers  # where each attribute's row begins in the buffer
    firsts: Integers  # the first step of each attribute, and the end
    strides: Integers  # what an option of each adds to a group's index
    options: Integers  # of each step
    starts: Integers  # of each step among the codes, and the end
    codes: Integers
    signs: Integers


def levels_of(axes: Sequence[GroupAxis], order: Sequence[int], width: int) -> Levels:
    """Put the steps of all attributes into lists; groups are numbered with the first attribute slowest."""
    strides = np.append(np.cumprod([axis.options for axis in reversed(axes)])[-2::-1], 1).astype(np.int64)
    decided = [axes[place] for place in order]
    steps = [axis.steps() for axis in decided]
    lengths = [width]
    for axis in reversed(decided[1:]):
        lengths.append(lengths[-1] * axis.codes)
    lengths = lengths[::-1]
    moves = np.cumsum([0, *(len(item.codes) for item in steps)])
    return Levels(
        lengths=np.array(lengths, np.int64),
        places=np.cumsum([0, *lengths[:-1]]).astype(np.int64),
        firsts=np.cumsum([0, *(len(item.options) for item in steps)]).astype(np.int64),
        strides=strides[list(order)],
        options=np.concatenate([item.options for item in steps]),
        starts=np.append(
            np.concatenate([item.starts[:-1] + base for item, base in zip(steps, moves[:-1], strict=True)]),
            moves[-1],
        ).astype(np.int64),
        codes=np.concatenate([item.codes for item in steps]),
        signs=np.concatenate([item.signs for item in steps]),
    )


@compiled
def add_row(
    target: npt.NDArray[Any], to: int, source: npt.NDArray[Any], begin: int, length: int, sign: int
) -> None:
    """Add a row of numbers to another, or take it away."""
    changed, row = target[to : to + length], source[begin : begin + length]
    if sign > 0:
        for place in range(length):
            changed[place] += row[place]
    else:
        for place in range(length):
            changed[place] -= row[place]


@inlined
def take_step(
    level: int, step: int, table: npt.NDArray[Any], levels: Levels, buffer: npt.NDArray[Any]
) -> None:
    """Go from one option of an attribute to the next."""
    length, place = levels.lengths[level], levels.places[level]
    for move in range(levels.starts[step], levels.starts[step + 1]):
        begin = levels.codes[move] * length
        if level == 0:
            add_row(buffer, place, table, begin, length, levels.signs[move])
        else:
            add_row(buffer, place, buffer, levels.places[level - 1] + begin, length, levels.signs[move])


@compiled
def enter(
    level: int,
    step: int,
    table: npt.NDArray[Any],
    levels: Levels,
    buffer: npt.NDArray[Any],
    net: Integers,
) -> None:
    """Make an attribute's row anew, at any of its steps."""
    length, place = levels.lengths[level], levels.places[level]
    buffer[place : place + length] = 0
    net[:] = 0
    for move in range(levels.starts[levels.firsts[level]], levels.starts[step + 1]):
        net[levels.codes[move]] += levels.signs[move]
    for code in range(len(net)):
        if net[code] > 0:
            if level == 0:
                add_row(buffer, place, table, code * length, length, whole(1))
            else:
                add_row(buffer, place, buffer, levels.places[level - 1] + code * length, length, whole(1))


@compiled
def judge_range(
    start: int,
    end: int,
    table: npt.NDArray[Any],
    levels: Levels,
    rule: MarginRule,
    buffer: npt.NDArray[Any],
    net: Integers,
    digits: Integers,
    margins: Integers,
) -> None:
    """Write the margins of a range of groups, counted in the order of work."""
    last = len(levels.lengths) - 1
    rest = start
    for level in range(last, -1, -1):
        size = levels.firsts[level + 1] - levels.firsts[level]
        digits[level] = rest % size
        rest //= size
    for level in range(last + 1):
        enter(level, levels.firsts[level] + digits[level], table, levels, buffer, net)
    for number in range(start, end):
        index = 0
        for level in range(last + 1):
            index += levels.options[levels.firsts[level] + digits[level]] * levels.strides[level]
        margins[index] = margin_of(buffer, levels.places[last], rule)
        if number + 1 == end:
            break
        level = last
        while digits[level] + 1 == levels.firsts[level + 1] - levels.firsts[level]:
            digits[level] = 0
            level -= 1
        digits[level] += 1
        take_step(level, levels.firsts[level] + digits[level], table, levels, buffer)
        for later in range(level + 1, last + 1):
            enter(later, levels.firsts[later], table, levels, buffer, net)


def all_margins(axes: Sequence[GroupAxis], table: npt.NDArray[Any], rule: MarginRule) -> Integers:
    """Return the margin of every group, the first attribute's options slowest.

    Parameters
    ----------
    axes
        The attributes.
    table
        For every combination of their codes, in their order, the numbers that the rule looks at.
    rule
        What the margin is.
    """
    # The attribute with the most options last: its steps are the cheapest.
    order = sorted(range(len(axes)), key=lambda place: axes[place].options)
    codes = [axis.codes for axis in axes]
    turned = np.ascontiguousarray(
        np.moveaxis(table.reshape(*codes, rule.width), range(len(axes)), _places(order))
    )
    flat = turned.reshape(-1)
    levels = levels_of(axes, order, rule.width)
    size = int(np.prod([axis.options for axis in axes]))
    margins = np.empty(size, np.int64)
    threads = worker_threads()
    length = max(1, -(-size // (threads * CHUNKS_PER_THREAD)))
    ranges = [(start, min(start + length, size)) for start in range(0, size, length)]
    room = int(levels.places[-1] + levels.lengths[-1])

    def work(part: tuple[int, int]) -> int:
        judge_range(
            *part, flat, levels, rule, np.empty(room, flat.dtype), np.empty(max(codes), np.int64),
            np.empty(len(axes), np.int64), margins,
        )  # fmt: skip
        return part[1]

    in_threads(work, ranges, each=lambda done: tell("groups", done, size), alone=size <= SMALL)
    return margins


def _places(order: Sequence[int]) -> list[int]:
    """Return where each attribute goes, from which attribute comes to each place."""
    return [list(order).index(place) for place in range(len(order))]
