# SPDX-License-Identifier: Apache-2.0
"""The histograms that ``share`` is measured on, and who is sensitive in them: section 6.1.2.

The policies are drawn, record by record, so a share of non-sensitive records is met on average. Close:
every record is kept with one probability, until mean and standard deviation of the bins' numbers are within
a tenth of those of all records. Far: records of the High region, 40 % of the bins on either side of a
random one, are five times as likely to be kept at any moment: with probabilities 1 - e^-5t and 1 - e^-t.
That is sampling with those weights and without replacement; the paper's replacement would make some bins
larger than they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.noise import ExactProbability, Noise
from studies.one_sided.paper import CLOSENESS, REACH, WEIGHT

FILE = "dpbench_1d.npz"
# In the order of the paper's Figure 9: the sparsest first.
HISTOGRAMS = ("Adult", "Nettrace", "Medcost", "Searchlogs", "Income", "Hepth", "Patent")


def read_histograms(folder: Path) -> dict[str, Integers]:
    """Read the seven histograms of DPBench."""
    with np.load(folder / FILE, allow_pickle=False) as archive:
        return {name: archive[name.upper()].astype(np.int64) for name in HISTOGRAMS}


def non_sensitive(counts: Integers, policy: str, ratio: str, noise: Noise) -> Integers:
    """Draw who is not sensitive.

    Examples
    --------
    >>> part = non_sensitive(np.full(50, 1000), "Far", "0.50", Noise.seeded(1))
    >>> bool(abs(part.sum() / 50_000 - 0.5) < 0.02), bool((part <= 1000).all())
    (True, True)
    """
    return close(counts, ratio, noise) if policy == "Close" else far(counts, ratio, noise)


def close(counts: Integers, ratio: str, noise: Noise) -> Integers:
    """Keep every record with the same probability, and the shape nearly (MSampling)."""
    mean, deviation = _shape(counts)
    while True:
        kept = noise.thin(counts, Fraction(ratio))
        if kept.any():
            its_mean, its_deviation = _shape(kept)
            if (
                abs(its_mean - mean) <= CLOSENESS * mean
                and abs(its_deviation - deviation) <= CLOSENESS * deviation
            ):
                return kept


def far(counts: Integers, ratio: str, noise: Noise) -> Integers:
    """Keep records of a region more often than others (HiLoSampling)."""
    middle = noise.uniform(len(counts))
    high = np.abs(np.arange(len(counts)) - middle) <= len(counts) * REACH
    inside, outside = int(counts[high].sum()), int(counts[~high].sum())
    least, most = 0.0, 64.0
    for _ in range(60):
        time = (least + most) / 2
        expected = inside * (1 - exp(-WEIGHT * time)) + outside * (1 - exp(-time))
        least, most = (time, most) if expected < float(ratio) * (inside + outside) else (least, time)
    moment = Fraction(round(time * 2**40), 2**40)
    kept = np.zeros_like(counts)
    for region, speed in ((high, WEIGHT), (~high, 1)):
        probability = ExactProbability.exponential(moment * speed).complement()
        kept[region] = noise.thin(counts[region], probability)
    return kept


def _shape(counts: Integers) -> tuple[float, float]:
    places = np.arange(len(counts))
    mean = float(np.average(places, weights=counts))
    return mean, float(np.sqrt(np.average((places - mean) ** 2, weights=counts)))


def sparsity(histograms: Mapping[str, Integers]) -> dict[str, tuple[float, int]]:
    """Return the share of empty bins and the number of records of each histogram.

    Examples
    --------
    >>> sparsity({"Small": np.array([0, 3, 0, 1])})
    {'Small': (0.5, 4)}
    """
    return {name: (float((counts == 0).mean()), int(counts.sum())) for name, counts in histograms.items()}
