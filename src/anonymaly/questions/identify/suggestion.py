# SPDX-License-Identifier: Apache-2.0
"""A β and a radius from public data, by the rule of Asif et al. 2021 for normally distributed data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel, Metric
from anonymaly.errors import InputError, Refused
from anonymaly.questions.identify.balls import Balls
from anonymaly.questions.identify.kernels.counter import count_balls
from anonymaly.questions.identify.summary import read_points

# With these "anomaly" means "three standard deviations away" (their footnote 4).
SHARE = 1.2e-3  # β over the number of records
SPREAD = 0.13  # the radius over the standard deviation


@dataclass(frozen=True)
class Suggestion:
    """A model's numbers, and what they would do.

    Attributes
    ----------
    beta, radius
        The numbers.
    anomalous
        The share of the public records that would be anomalies in a table of that many records.
    """

    columns: tuple[str, ...]
    beta: int
    radius: float
    metric: Metric
    scaled: bool
    anomalous: float

    def model(self, k: int = 1) -> AnomalyModel:
        """Return the model to declare."""
        return AnomalyModel(self.columns, self.radius, self.beta, k, self.metric, self.scaled)


def suggest(
    public: Any,
    columns: Sequence[str],
    *,
    records: int | None = None,
    metric: Metric = "euclidean",
    scaled: bool = False,
) -> Suggestion:
    """Suggest β and a radius from public data: β = 0.0012·n, radius = 0.13·√(σ₁² + … + σ_d²).

    Never give it the private table: a model fitted to rows reveals something of them, and no promise made
    under it holds any longer. Use published data of an earlier period, or synthetic data.

    Parameters
    ----------
    public : frame or public Dataset
        Records without secrets that resemble the private ones.
    columns : sequence of str
        The numeric columns of the model.
    records : int, optional
        About how many records the private table has, if that is public; by default as many as these.
    metric : {"euclidean", "manhattan", "chebyshev"}
        How distance is measured.
    scaled : bool
        Divide columns by their declared widths; needs a Dataset, which declares them.

    Notes
    -----
    The rule is exact for one normally distributed column. With many columns nearly every record has few
    others within that radius: look at ``anomalous``, and if that is not the share you mean, choose a larger
    radius.

    Examples
    --------
    >>> import pandas
    >>> heights = pandas.DataFrame({"height": np.random.default_rng(0).normal(170, 10, 20_000)})
    >>> suggestion = suggest(heights, ["height"], records=100_000)
    >>> suggestion.beta, round(suggestion.radius, 1), round(suggestion.anomalous, 3)
    (120, 1.3, 0.003)
    """
    dataset = _public(public, columns, scaled)
    points = _points(dataset, columns, scaled)
    number = len(points) if records is None else records
    if number < 1 or len(points) < 2:
        raise InputError(
            "are too few to learn from", field="records", next_step="Give at least two, with all values."
        )
    beta = max(1, round(SHARE * number))
    radius = SPREAD * math.sqrt(float(np.var(points, axis=0).sum()))
    here = max(1, round(beta * len(points) / number))
    within = count_balls(points, Balls(points, radius, metric, here + 1)).within
    return Suggestion(tuple(columns), beta, radius, metric, scaled, float((within <= here).mean()))


def _public(public: Any, columns: Sequence[str], scaled: bool) -> Dataset:
    if not isinstance(public, Dataset):
        if scaled:
            raise InputError(
                "needs declared widths, and a frame declares none",
                field="scaled",
                next_step="Give Dataset(frame, columns={…}, public=True).",
            )
        # Bounds do not matter here: nothing is moved into them.
        declared = {name: Interval(-1e150, 1e150) for name in columns}
        return Dataset(public, name="public", columns=declared, public=True)
    if not public.public:
        raise Refused(
            f"{public.name} is not declared public, and a model fitted to private rows voids every promise "
            "made under it",
            field="public",
            next_step="Give data without secrets: Dataset(..., public=True), or a frame.",
        )
    return public


def _points(dataset: Dataset, columns: Sequence[str], scaled: bool) -> Floats:
    scales = []
    for name in columns:
        domain = dataset.declaration.columns.get(name)
        if not isinstance(domain, Interval):
            raise InputError(
                f"{name} is not declared as an Interval", field="columns", next_step="Name numeric columns."
            )
        scales.append(float(domain.width) if scaled else 1.0)
    return read_points(dataset.table, columns, scales)
