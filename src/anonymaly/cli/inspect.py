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
from anonymaly.core.files import appearing
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError
from anonymaly.questions.identify.inspect import Anomalies, PrivacyMap

What = Annotated[
    Literal["columns", "anomalies", "privacy-map", "regularity"],
    typer.Argument(
        metavar="WHAT",
        help="columns: can the values be read as declared; anomalies: who is one and who is protected; "
        "privacy-map: how well; regularity: of the model.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="The name of a declared anomaly model; needed for all but columns."),
]
Charge = Annotated[str | None, typer.Option("--epsilon", help="privacy-map: the charge of one question.")]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Every record, as a Parquet file.")
]
Pictures = Annotated[
    Path | None, typer.Option("--pictures", metavar="DIR", help="privacy-map: maps of the first two columns.")
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="columns: a page with pictures, for you alone.")
]


def inspect(
    what: What,
    manifest: ManifestPath,
    model: Model = None,
    epsilon: Charge = None,
    output: Output = None,
    pictures: Pictures = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Show the owner exact values from the rows; nothing is charged, and nothing of it may be released."""
    given = {"model": model, "epsilon": epsilon, "output": output, "pictures": pictures, "html": html}
    _refuse_idle(what, [name for name, value in given.items() if value is not None])
    if what == "columns":
        _columns(Manifest.load(manifest).dataset(Path(manifest).parent), html, as_json)
        return
    if model is None:
        raise InputError(
            f"is needed for {what}",
            field="model",
            next_step=f"Name a declared anomaly model: anonymaly inspect {what} {manifest} --model rare.",
        )
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


OPTIONS = {
    "columns": ("html",),
    "anomalies": ("model", "output"),
    "privacy-map": ("model", "epsilon", "output", "pictures"),
    "regularity": ("model",),
}


def _refuse_idle(what: str, given: list[str]) -> None:
    """Refuse an option that would do nothing, before anything is read."""
    for name in given:
        if name not in OPTIONS[what]:
            raise InputError(
                f"means nothing to {what}",
                field=name,
                next_step=f"Leave it out; {what} takes {', '.join(f'--{item}' for item in OPTIONS[what])}.",
            )


def _columns(dataset: Dataset, page: Path | None, as_json: bool) -> None:
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise InputError("must end in .html", field="html", next_step="Name such a file.")
    if page is not None and not page.parent.is_dir():
        raise InputError(f"there is no folder {page.parent}", field="html", next_step="Make it first.")
    found = owner.columns(dataset)
    if page is not None:
        try:
            with appearing(page) as file:  # readable by its owner alone
                file.write(found.to_html().encode())
        except OSError as problem:
            raise InputError(
                f"cannot write {page} ({type(problem).__name__})",
                field="html",
                next_step="Name another file.",
            ) from None
    if as_json:
        say_json({**found.to_dict(), **({} if page is None else {"html": str(page)})})
        return
    say(str(found))
    if page is not None:
        say(f"the same with pictures: {page}")


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
    from anonymaly.pictures.vega.charts import save  # noqa: PLC0415  (an extra, and seldom asked for)
    from anonymaly.pictures.vega.maps import maps, squares  # noqa: PLC0415

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
