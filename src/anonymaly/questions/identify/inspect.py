# SPDX-License-Identifier: Apache-2.0
"""What an owner may look at and nobody else: who is an anomaly, who is protected, and how well."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from anonymaly.ask.cited import cited_model
from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.core.epsilon import Number, to_nano
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel
from anonymaly.engine.statements import collect
from anonymaly.questions.identify.axes import Axis, inclusive_radius, read_axes
from anonymaly.questions.identify.balls import BallCounts, Balls
from anonymaly.questions.identify.binding import answer_rate, least_slack, raised_k
from anonymaly.questions.identify.kernels.counter import Progress, count_balls
from anonymaly.questions.identify.summary import coordinate
from anonymaly.questions.identify.verdicts import StepBound, Verdicts, is_anomaly, judge

EXTRA_ERROR = Fraction(1, 10**12)


@dataclass(frozen=True)
class Anomalies:
    """Every record that has all values of the model, and what it is under the model.

    Attributes
    ----------
    records
        Their values.
    own, within
        How many records equal it, and how many are within the radius, no farther than β+1.
    anomalous
        Whether it is an anomaly.
    sensitive
        Whether it is protected: whether k records more could make it normal.
    """

    records: pa.Table
    own: Integers
    within: Integers
    anomalous: Booleans
    sensitive: Booleans

    def to_arrow(self) -> pa.Table:
        """Return values and labels as one table, in the rows' order."""
        return _labelled(self, ("own", "within", "anomalous", "sensitive"))


@dataclass(frozen=True)
class PrivacyMap:
    """For every record that has all values of the model, what a question about it would reveal.

    Attributes
    ----------
    records
        Their values.
    anomalous, sensitive
        What the record is under the model.
    accuracy
        The probability that a question about it is answered rightly.
    epsilon
        How much more or less likely an answer about it becomes, at most, when one such record comes or goes:
        ε_i of Asif et al. 2021. It is the question's ε, or less, for all that are sensitive.
    """

    records: pa.Table
    anomalous: Booleans
    sensitive: Booleans
    accuracy: Floats
    epsilon: Floats

    def to_arrow(self) -> pa.Table:
        """Return values and figures as one table, in the rows' order."""
        return _labelled(self, ("anomalous", "sensitive", "accuracy", "epsilon"))


@dataclass(frozen=True)
class Regularity:
    """Whether all tables with a protected record hang together, so that no answer can rule one out."""

    regular: bool
    reason: str


def anomalies(dataset: Dataset, model: str | AnomalyModel, *, progress: Progress | None = None) -> Anomalies:
    """Label every record: an anomaly or not, protected or not.

    Parameters
    ----------
    dataset
        The owner's table.
    model
        The name of a declared model, or one written out.
    progress
        Called with the number of records that are done, and that of all records.
    """
    reading = _read(dataset, model)
    chosen = reading.model
    counts = reading.count(chosen.beta + 1, progress)
    own = np.maximum(counts.own, 1)  # not counted where there are too many neighbours for that to matter
    return Anomalies(
        records=reading.records,
        own=own,
        within=counts.within,
        anomalous=is_anomaly(own, counts.within, chosen.beta),
        sensitive=counts.within >= chosen.beta + 1 - chosen.k,
    )


def privacy_map(
    dataset: Dataset,
    model: str | AnomalyModel,
    *,
    epsilon: Number,
    bound: StepBound = "improved",
    progress: Progress | None = None,
) -> PrivacyMap:
    """Return for every record how often questions about it are answered rightly, and what they reveal of it.

    Parameters
    ----------
    dataset
        The owner's table.
    model
        The name of a declared model, or one written out.
    epsilon
        The charge of a question about one record, in the add/remove adjacency.
    bound
        ``"improved"`` or ``"paper"`` for sensitive privacy, ``"differential"`` for differential privacy.
    progress
        Called with the number of records that are done, and that of all records.
    """
    reading = _read(dataset, model)
    chosen, declaration = reading.model, dataset.declaration
    rate = answer_rate(to_nano(epsilon), declaration)
    k, slack = raised_k(chosen, declaration), least_slack(rate, EXTRA_ERROR)
    # Two more than a question counts, so that a record more or less is known from the same counts.
    counts = reading.count(chosen.beta + slack + 2, progress)
    own = np.maximum(counts.own, 1)

    def verdicts(more: int) -> Verdicts:
        return judge(own + more, counts.within + more, beta=chosen.beta, k=k, bound=bound, slack=slack)

    here = log_answers(verdicts(0), rate)
    losses = [
        np.abs(one - other)
        for more in (-1, 1)
        for one, other in zip(here, log_answers(verdicts(more), rate), strict=True)
    ]
    anomalous = is_anomaly(own, counts.within, chosen.beta)
    return PrivacyMap(
        records=reading.records,
        anomalous=anomalous,
        sensitive=counts.within >= chosen.beta + 1 - chosen.k,
        accuracy=np.exp(np.where(anomalous, *here)),
        epsilon=np.max(losses, axis=0),
    )


def regularity(dataset: Dataset, model: str | AnomalyModel) -> Regularity:
    """Say whether the model is regular on the declared domain; reads no rows.

    Under a regular model all tables that hold a protected record are joined by steps that are protected, so
    that whatever is answered on one can be answered on all others (Asif et al. 2021, section 6).
    """
    chosen = _model(dataset.declaration, model)
    if chosen.k >= chosen.beta:
        return Regularity(True, "k reaches beta: every record is protected, as by differential privacy")
    if not chosen.radius:
        least = chosen.beta + 1 - chosen.k
        return Regularity(
            False,
            f"at radius 0 no record is near another: records with fewer than {least:,} copies have no "
            "protection, those with more have all of it",
        )
    for axis in read_axes(chosen, dataset.declaration.columns, field="columns"):
        step = axis.domain.step if isinstance(axis.domain, Interval) else None
        if step is not None and step / axis.scale > chosen.radius:
            return Regularity(
                False,
                f"one step of {axis.column} is farther than the radius, so no record is near the next one",
            )
    return Regularity(True, "from every record any other is reached in steps within the radius")


def log_answers(verdicts: Verdicts, rate: Fraction) -> tuple[Floats, Floats]:
    """Return the logarithms of the probabilities of yes and of no.

    Examples
    --------
    >>> yes, no = log_answers(Verdicts(np.array([True, False]), np.array([1, 4])), Fraction(1))
    >>> np.exp(yes).round(4).tolist(), np.exp(no).round(4).tolist()
    ([0.7311, 0.0134], [0.2689, 0.9866])
    """
    flipped = -float(rate) * (verdicts.steps - 1) - math.log1p(math.exp(float(rate)))
    kept = np.log1p(-np.exp(flipped))
    return np.where(verdicts.anomalous, kept, flipped), np.where(verdicts.anomalous, flipped, kept)


@dataclass(frozen=True)
class _Reading:
    """The records of a table that have all values, as they are and as points."""

    model: AnomalyModel
    axes: tuple[Axis, ...]
    records: pa.Table
    points: Floats

    def count(self, stop: int, progress: Progress | None) -> BallCounts:
        radius = inclusive_radius(self.model, self.axes)
        return count_balls(self.points, Balls(self.points, radius, self.model.metric, stop), progress)


def _read(dataset: Dataset, model: str | AnomalyModel) -> _Reading:
    chosen = _model(dataset.declaration, model)
    axes = read_axes(chosen, dataset.declaration.columns, field="columns")
    table = dataset.table
    places = {f"place {axis.column}": coordinate(table, axis) for axis in axes}
    found = collect(table.select(*chosen.columns, **places)).drop_null()
    points = np.column_stack([found.column(f"place {axis.column}").to_numpy() / axis.scale for axis in axes])
    return _Reading(chosen, axes, found.select(list(chosen.columns)), points)


def _model(declaration: Declaration, model: str | AnomalyModel) -> AnomalyModel:
    if isinstance(model, AnomalyModel):
        return model.resolve(declaration.columns, field="model")
    return cited_model(model, declaration)


def _labelled(found: Anomalies | PrivacyMap, names: tuple[str, ...]) -> pa.Table:
    table = found.records
    for name in names:
        table = table.append_column(
            name if name not in table.column_names else f"{name}_", [getattr(found, name)]
        )
    return table
