# SPDX-License-Identifier: Apache-2.0
"""``anonymaly score``: ask for a model or load one, and score a file of new records with it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from anonymaly.ask.answer import Answer
from anonymaly.ask.query import Query
from anonymaly.cli.ask import Asked, Variation
from anonymaly.cli.opening import opened
from anonymaly.cli.output import err, on_screen, progress_bar, say, say_json, still_kept
from anonymaly.cli.record_files import RecordFile, ScoreFile
from anonymaly.cli.rehearsal import refuse_files, say_rehearsal
from anonymaly.cli.scored import Scored, Wanted, kinds_of, read_rule
from anonymaly.cli.synthetic import USUAL_ROWS, Draw, Synthetic, refuse_rows, said_of
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.files import why_not_written
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Interval, Opaque, Unbounded
from anonymaly.errors import InputError
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.missing import MISSING, refuse_missing
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.options import METHOD_OPTIONS
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.value import Model

Records = Annotated[
    Path | None,
    typer.Argument(metavar="[RECORDS]", help="A CSV or Parquet file of new records to score."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Where the records go with their scores; CSV or Parquet by the ending."
    ),
]
ModelFile = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="Keep the model here; if it is there, use it, ask and pay nothing, whatever --preview, --repeat "
        "and the method's options say; --epsilon and --columns must fit it.",
    ),
]
MissingRule = Annotated[
    str,
    typer.Option(
        "--missing",
        help=f"What to do about missing values of new records: {', '.join(MISSING)}. skip scores by what is "
        "there, value takes missing for a value like others.",
    ),
]
WithReasons = Annotated[
    bool, typer.Option("--reasons", help="Say why the oddest records score as they do; free.")
]
Top = Annotated[
    int | None,
    typer.Option("--top", min=1, max=10_000, help="Print the records that score highest; 10 with --reasons."),
]
NUMBERS = Interval | Unbounded
SCORE, UNUSUAL = "score", "unusual"
USUAL_TOP = 10


def score(
    asked: Asked,
    records: Path | None,
    output: Path | None,
    model: Path | None,
    missing: str,
    reasons: bool,
    top: int | None,
    synthetic: Path | None,
    draw: int,
) -> None:
    """Get the model, then score the records."""
    refuse_rows(synthetic, draw)
    shown = USUAL_TOP if reasons and top is None else top
    if (records is None) != (output is None and shown is None):
        raise InputError(
            "and records go together",
            field="output",
            next_step="Give both, as in: anonymaly score patients.yaml new.csv -o scores.csv; or --top 10.",
        )
    wanted = Wanted(rule=read_rule(missing), top=shown, reasons=reasons)
    if asked.rehearse:
        refuse_files(preview=asked.preview, output=output, model=model, synthetic=synthetic)
        say_rehearsal(
            asked.manifest,
            lambda declaration: asked.kind(
                **{**_columns(declaration, asked.fields, records), **asked.fields}
            ),
            asked.as_json,
        )
        return
    report: dict[str, Any] = {}
    if model is not None and model.exists():
        released = _load(model, asked)
        text = f"{released!r}, from {model}: nothing was asked or charged"
        report["value"] = dict(released.describe())
    else:
        with opened(asked.manifest, asked.analyst) as asker:
            declaration = asker.declaration
            query = asked.kind(**{**_columns(declaration, asked.fields, records), **asked.fields})
            if asked.preview:
                preview = asker.preview(query, repeat=asked.repeat)
                say_json(preview.to_dict()) if asked.as_json else say(str(preview))
                return
            # Before anything is charged.
            _refuse_model_file(model)
            _check_files(records, _space_of(query, declaration), output, wanted)
            with progress_bar():
                answer = asker.ask(query, repeat=asked.repeat)
        released, text = answer.value, str(answer)
        report = _without_numbers(answer)
        if model is not None:
            with still_kept():
                released.save(model)
    if synthetic is not None:
        with still_kept() if "charged" in report else contextlib.nullcontext():
            released.draw(draw).write(synthetic)
        report["synthetic"] = str(synthetic)
        text += f"\n{said_of(synthetic, draw)}"
    if records is not None:
        with still_kept() if "charged" in report else contextlib.nullcontext():
            found = _score_file(released, records, output, wanted)
        report["records"] = found.count
        text += f"\nscored {found.count:,} records of {records}"
        if output is not None:
            report["output"] = str(output)
            text += f" into {output}"
        if found.best is not None:
            report["top"] = found.best.to_dict()
            text += f"\n\n{found.best}"
    if asked.as_json:
        say_json(report)
    else:
        say(text)


def _defaults(declaration: Declaration) -> dict[str, Any]:
    """Return the columns for an asker who named none."""
    return _columns(declaration, {}, None)


def _columns(declaration: Declaration, fields: Mapping[str, Any], records: Path | None) -> dict[str, Any]:
    """Return all numbers and, where the method takes them, the other columns that can be compared.

    Of these only those that the file of new records has, if there is one: such a file was enough before there
    was a method for them.
    """
    numbers = [name for name, domain in declaration.columns.items() if isinstance(domain, NUMBERS)]
    of_numbers = fields.get("method") is not None or not set(fields).isdisjoint(METHOD_OPTIONS["grid"])
    if (of_numbers and fields.get("method") != MixedMethod.name) or "columns" in fields:
        return {"columns": numbers}
    there = None if records is None else RecordFile(records, {}).names
    compared = [
        name
        for name, domain in declaration.columns.items()
        if name in numbers
        or (
            not isinstance(domain, Opaque) and name != declaration.person and (there is None or name in there)
        )
    ]
    return {"columns": compared}


VARIATION = Variation(
    act=score,
    further={
        "records": (Records, None),
        "output": (Output, None),
        "model": (ModelFile, None),
        "missing": (MissingRule, MISSING[0]),
        "reasons": (WithReasons, False),
        "top": (Top, None),
        "synthetic": (Synthetic, None),
        "draw": (Draw, USUAL_ROWS),
    },
    optional=frozenset({"columns", "epsilon"}),
    defaults=_defaults,
)


def _load(path: Path, asked: Asked) -> Model:
    """Load the model, unless the command asks for another than it is."""
    model = Model.load(path)
    promised = None if model.guarantee is None else model.guarantee.epsilon
    wanted = asked.fields.get("epsilon")
    if wanted is not None and to_text(to_nano(wanted)) != promised:
        raise InputError(
            f"{path} holds a model of ε = {promised}, not of {wanted}",
            field="model",
            next_step="Leave --epsilon out to use it, or give another file to ask anew.",
        )
    columns = asked.fields.get("columns")
    if columns is not None and tuple(columns) != model.columns:
        raise InputError(
            f"{path} holds a model of {', '.join(model.columns)}",
            field="model",
            next_step="Leave --columns out to use it, or give another file to ask anew.",
        )
    return model


def _without_numbers(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data; the model's numbers are in its file."""
    return {**answer.to_dict(), "value": dict(answer.value.describe())}


def _refuse_model_file(path: Path | None) -> None:
    problem = None if path is None else why_not_written(path)
    if problem is not None:
        raise InputError(
            problem, field="model", next_step="Name a file in a folder that is there and can be written to."
        )


def _space_of(query: Query, declaration: Declaration) -> Space:
    """Return the columns of a model that is not asked for yet; bounds play no part in reading records."""
    bound = query.bind(declaration)
    if not isinstance(bound, ScoreBinding):
        raise AssertionError("not a score")
    known = {**dict.fromkeys(bound.unknown, (0.0, 1.0)), **bound.known}
    if bound.mixed:
        return MixedSpace.of(bound.columns, bound.domains, known)
    return Space(bound.columns, *zip(*(known[name] for name in bound.columns), strict=True))


def _check_files(records: Path | None, space: Space, output: Path | None, wanted: Wanted) -> None:
    if records is None:
        return
    file = RecordFile(records, kinds_of(space))
    _refuse_taken(file)
    with contextlib.closing(file.batches()) as batches:
        # What is wrong with a file is mostly wrong from its beginning; reading all of it could take long.
        refuse_missing(space.points(next(batches).select(list(space.columns))), space.columns, wanted.rule)
    if output is not None:
        with ScoreFile(output):
            pass


def _refuse_taken(file: RecordFile) -> None:
    for name in (SCORE, UNUSUAL):
        if name in file.names:
            raise InputError(
                f"has a column {name!r} already", field="records", next_step="Rename that column."
            )


def _score_file(model: Model, records: Path, output: Path | None, wanted: Wanted) -> Scored:
    """Score a file batch by batch; progress counts the asker's own records."""
    file = RecordFile(records, kinds_of(model.space))
    _refuse_taken(file)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    scored = Scored(model, wanted)
    with (
        Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress,
        on_screen(progress),
        contextlib.nullcontext() if output is None else ScoreFile(output) as written,
    ):
        task = progress.add_task("scoring", total=file.rows)
        for batch in file.batches():
            scores = scored.add(batch)
            if written is not None:
                added = {SCORE: pa.array(scores)}
                if model.threshold is not None:
                    added[UNUSUAL] = pa.array(scores > model.threshold)
                for name, column in added.items():
                    batch = batch.append_column(name, column)  # noqa: PLW2901
                written.write(batch)
            progress.update(task, completed=scored.count)
    return scored
