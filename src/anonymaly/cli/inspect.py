# SPDX-License-Identifier: Apache-2.0
"""``anonymaly inspect``: exact facts about the rows, for the owner alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow.parquet as pq
import typer

import anonymaly.inspect as owner
from anonymaly.cli.output import AsJson, ManifestPath, say, say_json
from anonymaly.core.extras import require
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError
from anonymaly.questions.identify.inspect import Anomalies, PrivacyMap

What = Annotated[
    Literal["anomalies", "privacy-map", "regularity"],
    typer.Argument(
        metavar="WHAT",
        help="anomalies: who is one and who is protected; privacy-map: how well; regularity: of the model.",
    ),
]
Model = Annotated[str, typer.Option("--model", help="The name of a declared anomaly model.")]
Charge = Annotated[str | None, typer.Option("--epsilon", help="privacy-map: the charge of one question.")]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Every record, as a Parquet file.")
]
Pictures = Annotated[
    Path | None, typer.Option("--pictures", metavar="DIR", help="privacy-map: maps of the first two columns.")
]


def inspect(
    what: What,
    manifest: ManifestPath,
    model: Model,
    epsilon: Charge = None,
    output: Output = None,
    pictures: Pictures = None,
    as_json: AsJson = False,
) -> None:
    """Show the owner exact values from the rows; nothing is charged, and nothing of it may be released."""
    if pictures is not None:
        require("report", "--pictures")
    dataset = Manifest.load(manifest).dataset(Path(manifest).parent)
    match what:
        case "anomalies":
            found: Anomalies | PrivacyMap = owner.anomalies(dataset, model)
            report = _labels(found)
        case "privacy-map":
            found = _map(dataset, model, epsilon)
            report = {**_labels(found), **_privacy(found)}
            if pictures is not None:
                report["pictures"] = [path.name for path in _draw(found, dataset, pictures)]
        case "regularity":
            regular = owner.regularity(dataset, model)
            report = {"regular": regular.regular, "reason": regular.reason}
    if output is not None and what != "regularity":
        _write(found, output)
    if as_json:
        say_json(report)
        return
    for name, value in report.items():
        say(f"{name.replace('_', ' ')}: {f'{value:,.4g}' if isinstance(value, float) else value}")


def _map(dataset: Dataset, model: str, epsilon: str | None) -> PrivacyMap:
    if epsilon is None:
        raise InputError(
            "is needed for a privacy map", field="epsilon", next_step="Say what a question would be charged."
        )
    return owner.privacy_map(dataset, model, epsilon=epsilon)


def _labels(found: Anomalies | PrivacyMap) -> dict[str, Any]:
    return {
        "records": len(found.anomalous),
        "anomalies": int(found.anomalous.sum()),
        "protected": int(found.sensitive.sum()),
    }


def _privacy(found: PrivacyMap) -> dict[str, float]:
    if not len(found.epsilon):
        return {}
    protected = found.epsilon[found.sensitive]
    others = found.epsilon[~found.sensitive]
    accuracy = {
        f"mean_accuracy_of_{name}": float(found.accuracy[chosen].mean())
        for name, chosen in (("anomalies", found.anomalous), ("others", ~found.anomalous))
        if chosen.any()
    }
    losses = {
        f"largest_epsilon_of_{name}": float(np.max(part))
        for name, part in (("protected", protected), ("others", others))
        if len(part)
    }
    return {**accuracy, **losses}


def _draw(found: PrivacyMap, dataset: Dataset, folder: Path) -> list[Path]:
    from anonymaly.pictures.charts import save  # noqa: PLC0415  (an extra, and seldom asked for)
    from anonymaly.pictures.maps import maps, squares  # noqa: PLC0415

    names = found.records.column_names
    if len(names) < 2 or not len(found.epsilon):
        raise InputError(
            "need a model of two columns, and records", field="pictures", next_step="Leave --pictures out."
        )
    x, y = (found.records.column(name).cast("float64").to_numpy() for name in names[:2])
    paths = []
    for file, title, value in (
        ("accuracy", "How often a question about a record is answered rightly", found.accuracy),
        ("privacy", "What a question about a record tells of it: its own ε", found.epsilon),
    ):
        chart = maps(
            squares(x, y, value, dataset.name),
            title=title,
            subtitle="for the owner alone; squares show means",
            x_label=names[0],
            y_label=names[1],
            label=file,
        )
        paths += save(chart, folder, file)
    return paths


def _write(found: Anomalies | PrivacyMap, output: Path) -> None:
    if output.suffix != ".parquet":
        raise InputError("must end in .parquet", field="output", next_step="Name such a file.")
    pq.write_table(found.to_arrow(), output)
