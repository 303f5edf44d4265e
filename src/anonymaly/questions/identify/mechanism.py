# SPDX-License-Identifier: Apache-2.0
"""Construction 1 of Asif et al. 2021: an answer, flipped more rarely the farther away the other one is.

It knows nothing of anomalies: of ``verdicts.py`` it needs a bit and a number of steps for each record, which
keep the conditions of Lemma 1 of GUARANTEE.md.
"""

from __future__ import annotations

from fractions import Fraction

from anonymaly.ask.binding import Stage
from anonymaly.core.arrays import Booleans
from anonymaly.noise import Noise
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.binding import IdentifyBinding
from anonymaly.questions.identify.summary import count_neighbours, place_rows
from anonymaly.questions.identify.verdicts import Verdicts


def stages(bound: IdentifyBinding) -> tuple[Stage, ...]:
    """Count the neighbours and copies of each record, then judge and flip."""
    return (
        Stage(
            name="verdicts",
            summarise=lambda table, released: count_neighbours(
                place_rows(table, bound.axes), bound.balls, bound.columns, bound.scales
            ),
            release=lambda counts, released, noise: release_answers(counts, bound, noise),
        ),
    )


def release_answers(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> bool | list[bool]:
    """Return the answer about the record, or a list of answers about the records."""
    flipped = release_verdicts(bound.judge(counts.own, counts.within), bound.rate, noise)
    answers = [bool(answer) for answer in flipped]
    return answers if bound.query.records is not None else answers[0]


def release_verdicts(verdicts: Verdicts, rate: Fraction, noise: Noise) -> Booleans:
    """Return the answers, each flipped with probability e^(−rate·(λ−1))/(1+e^rate), exactly (Lemma 2)."""
    return noise.add_two_sided_geometric(verdicts.margins, rate) >= 0
