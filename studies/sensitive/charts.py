# SPDX-License-Identifier: Apache-2.0
"""The paper's Figures 1 to 5, from our measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from anonymaly.core.arrays import Floats
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel
from anonymaly.noise import Noise
from anonymaly.pictures.vega.charts import save
from anonymaly.pictures.vega.maps import error_boxes, error_dots, error_lines, maps, squares
from anonymaly.questions.identify.inspect import PrivacyMap, privacy_map
from anonymaly.questions.identify.verdicts import StepBound
from studies.sensitive.measure import Measured
from studies.sensitive.paper import EPSILON, EPSILONS, SHARES_OF_BETA

SENSITIVE, DIFFERENTIAL = "sensitive privacy", "differential privacy"
BOUNDS: dict[str, StepBound] = {SENSITIVE: "improved", DIFFERENTIAL: "differential"}
# The example of the paper's section 5.
RECORDS, VARIANCE, BETA_SHARE, RADIUS_SHARE, MAP_EPSILON = 20_000, 2.0, 1.2e-3, 0.13, "0.25"
MAP_K = (1, 7, 14)
MOST_POINTS = 400  # of a line in a picture


def draw(measured: Sequence[Measured], output: Path) -> list[Path]:
    """Save all figures and return their files."""
    return [
        *_draw_maps(normal_plane(), output),
        *_draw_boxes(measured, output),
        *_draw_ranks(measured, output),
        *_draw_normal(measured, output),
    ]


def normal_plane(records: int = RECORDS, seed: int = 2) -> Dataset:
    """Return records of a normal distribution in the plane, as in Figures 1 and 2.

    Examples
    --------
    >>> normal_plane(records=100)
    Dataset('plane', version='1', columns=['z1', 'z2'])
    """
    draws = np.asarray(Noise.seeded(seed).uniform(1 << 52, 2 * records), np.float64)
    values = np.sqrt(VARIANCE) * ndtri((draws + 0.5) / (1 << 52)).reshape(2, records)
    return Dataset(
        pa.table({"z1": values[0], "z2": values[1]}),
        name="plane",
        columns={"z1": Interval(-15, 15), "z2": Interval(-15, 15)},
        public=True,
    )


def plane_model(records: int, k: int = 1) -> AnomalyModel:
    """Return the model of Figures 1 and 2.

    Examples
    --------
    >>> plane_model(20_000).beta, round(plane_model(20_000).radius, 2)
    (24, 0.26)
    """
    radius = RADIUS_SHARE * float(np.sqrt(2 * VARIANCE))
    return AnomalyModel(["z1", "z2"], radius, round(BETA_SHARE * records), k)


def _draw_maps(plane: Dataset, output: Path) -> list[Path]:
    data = f"{RECORDS:,} records, N(0, 2) on both axes; squares show means"
    found = {
        name: privacy_map(plane, plane_model(RECORDS), epsilon=MAP_EPSILON, bound=bound)
        for name, bound in BOUNDS.items()
    }
    density = maps(
        _squares(found[SENSITIVE], None, "records"),
        title="Figure 1a. The records",
        subtitle=data.partition(";")[0],
        label="records",
        logarithmic=True,
        x_label="z1",
        y_label="z2",
    )
    accuracy = maps(
        [row for name, one in found.items() for row in _squares(one, one.accuracy, name)],
        title="Figures 1b and 1c. How often a question about a record is answered rightly",
        subtitle=f"ε = {MAP_EPSILON}, k = 1; {data}",
        label="accuracy",
        x_label="z1",
        y_label="z2",
    )
    privacy = maps(
        [row for name, one in found.items() for row in _squares(one, one.epsilon, name)],
        title="Figures 1d and 1e. What a question about a record tells of it: εᵢ",
        subtitle=f"ε = {MAP_EPSILON}, k = 1; {data}\nε for all that are protected, and 0 where a count "
        "stops early, far beyond β: one record more or less changes nothing there",
        label="εᵢ",
        x_label="z1",
        y_label="z2",
    )
    levels = []
    for k in MAP_K:
        one = privacy_map(plane, plane_model(RECORDS, k), epsilon=MAP_EPSILON)
        levels += _squares(one, np.exp(-one.epsilon), f"k = {k}")
    by_k = maps(
        levels,
        title="Figure 2. The larger k, the more records are protected",
        subtitle=f"e^(−εᵢ) under sensitive privacy, ε = {MAP_EPSILON}; {data}",
        label="e^(−εᵢ)",
        x_label="z1",
        y_label="z2",
    )
    pictures = {"1a_records": density, "1bc_accuracy": accuracy, "1de_privacy": privacy, "2_k": by_k}
    return [path for name, chart in pictures.items() for path in save(chart, output, f"figure_{name}")]


def _squares(found: PrivacyMap, value: Floats | None, panel: str) -> list[dict[str, Any]]:
    x, y = (found.records.column(name).to_numpy() for name in ("z1", "z2"))
    return squares(x, y, value, panel)


def _draw_boxes(measured: Sequence[Measured], output: Path) -> list[Path]:
    rows = []
    for item in measured:
        for epsilon in EPSILONS:
            for name, bound in BOUNDS.items():
                errors = item.records.errors(bound, epsilon)[item.records.anomalous]
                parts = np.quantile(errors, [0, 0.25, 0.5, 0.75, 1]).tolist()
                named = dict(zip(("least", "q1", "median", "q3", "most"), parts, strict=True))
                rows.append({"panel": _titled(item), "x": epsilon, "series": name, **named})
    chart = error_boxes(
        rows,
        title="Figure 3. Error over the records that are anomalies",
        subtitle="box: quartiles and median; line: all; errors below 1e-12 are drawn as 1e-12; k = 1",
        x_label="ε",
        y_label="probability of a wrong answer",
        order=list(BOUNDS),
    )
    return save(chart, output, "figure_3_anomalies")


def _draw_ranks(measured: Sequence[Measured], output: Path) -> list[Path]:
    shares = {f"k = {share:.0%} of β": share for share in SHARES_OF_BETA}
    rows = []
    for item in measured:
        anomalous = item.records.anomalous
        series = {
            name: item.records.errors("improved", EPSILON, max(1, round(share * item.points.beta)))
            for name, share in shares.items()
        }
        series[DIFFERENTIAL] = item.records.errors("differential", EPSILON)
        # One order for all, that of the first: the higher the rank, the lower the error.
        order = np.argsort(-next(iter(series.values()))[anomalous], kind="stable")
        kept = np.unique(np.linspace(0, len(order) - 1, MOST_POINTS).astype(np.int64))
        for name, errors in series.items():
            ranked = errors[anomalous][order][kept].tolist()
            rows += [
                {"panel": _titled(item), "series": name, "x": int(rank) + 1, "y": error}
                for rank, error in zip(kept, ranked, strict=True)
            ]
    chart = error_lines(
        rows,
        title="Figure 4. Error about each anomaly, the largest first, as k grows",
        subtitle=f"ε = {EPSILON}",
        x_label="rank of the anomaly",
        y_label="probability of a wrong answer",
        order=[*shares, DIFFERENTIAL],
    )
    return save(chart, output, "figure_4_k")


def _draw_normal(measured: Sequence[Measured], output: Path) -> list[Path]:
    rows = []
    for item in measured:
        normal = ~item.records.anomalous
        for name, bound in BOUNDS.items():
            errors = item.records.errors(bound, EPSILON)[normal]
            rows.append({"x": item.points.name, "series": name, "y": float(errors.mean())})
    chart = error_dots(
        rows,
        title="Figure 5. Mean error over the records that are no anomalies",
        subtitle=f"ε = {EPSILON}, k = 1; both mechanisms protect them alike, and err alike",
        y_label="mean probability of a wrong answer",
        order=list(BOUNDS),
    )
    return save(chart, output, "figure_5_normal")


def _titled(item: Measured) -> str:
    return f"{item.points.name} ({int(item.records.anomalous.sum()):,} anomalies)"
