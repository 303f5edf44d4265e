# SPDX-License-Identifier: Apache-2.0
"""Counts of sequences with noise, above a threshold, as Lemmas 2 to 4 of GUARANTEE.md say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.ask.binding import Stage
from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.noise.sparse import draw_empty_cells
from anonymaly.questions.share_ngrams.binding import ShareNgramsBinding
from anonymaly.questions.share_ngrams.summary import SequenceCounts, count_sequences
from anonymaly.questions.share_ngrams.value import ReleasedNgrams

DENSEST = 2**20  # sequences up to which each gets its noise one by one

Published = tuple[Integers, Integers]


def stages(bound: ShareNgramsBinding) -> tuple[Stage, ...]:
    """Count the sequences on the engine, then release those that reach the threshold."""
    return (
        Stage(
            name="ngrams",
            summarise=lambda table, released: count_sequences(table, bound),
            release=lambda counts, released, noise: release_ngrams(counts, bound, noise),
        ),
    )


def release_ngrams(counts: SequenceCounts, bound: ShareNgramsBinding, noise: Noise) -> ReleasedNgrams:
    """Return the sequences whose noisy count reaches the threshold."""
    if bound.cited is not None:
        cells, noisy = release_one_sided(counts, bound.threshold, bound.rate, noise)
    elif bound.sequences.size <= DENSEST:
        cells, noisy = release_dense(counts, bound.sequences.size, bound.threshold, bound.rate, noise)
    else:
        cells, noisy = release_sparse(counts, bound.sequences.size, bound.threshold, bound.rate, noise)
    return ReleasedNgrams(
        bound.place,
        bound.sequences.length,
        bound.threshold,
        cells,
        noisy,
        shortest=bound.sequences.shortest,
    )


def release_one_sided(counts: SequenceCounts, threshold: int, rate: Fraction, noise: Noise) -> Published:
    """Take one-sided noise from each count (Lemma 2); what nobody has stays below 1 whatever its noise."""
    noisy = counts.persons - noise.one_sided_geometric(rate, len(counts.persons))
    kept = noisy >= threshold
    return counts.cells[kept], noisy[kept]


def release_dense(
    counts: SequenceCounts, size: int, threshold: int, rate: Fraction, noise: Noise
) -> Published:
    """Add two-sided noise to every count, also where nobody is (Lemma 3)."""
    whole = np.zeros(size, np.int64)
    whole[counts.cells] = counts.persons
    noisy = noise.add_two_sided_geometric(whole, rate)
    kept = np.flatnonzero(noisy >= threshold)
    return kept, noisy[kept]


def release_sparse(
    counts: SequenceCounts, size: int, threshold: int, rate: Fraction, noise: Noise
) -> Published:
    """Do the same without listing the sequences that nobody has (Lemma 4)."""
    noisy = noise.add_two_sided_geometric(counts.persons, rate)
    kept = noisy >= threshold
    taken = set(counts.cells.tolist())
    empty, values = draw_empty_cells(size - len(taken), taken, size, threshold, rate, noise)
    cells = np.concatenate([counts.cells[kept], np.array(empty, np.int64)])
    numbers = np.concatenate([noisy[kept], values])
    # By number, so that sequences that somebody has look like the others.
    order = np.argsort(cells)
    return cells[order], numbers[order]
