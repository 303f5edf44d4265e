# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ask``, and one command for each question, generated from the question's fields."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from anonymaly import Curator
from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.catalogue import load, origin
from anonymaly.ask.query import Query
from anonymaly.ask.table import WRITERS, writer_for
from anonymaly.cli.files import read_columns
from anonymaly.cli.output import AsJson, ManifestPath, progress_bar, say, say_json
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError

OnlyPreview = Annotated[
    bool, typer.Option("--preview", help="Show cost, promise and expected error; spend nothing.")
]
Analyst = Annotated[str, typer.Option("--analyst", help="Who asks: a label in the ledger.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help=f"Write the table here; endings: {', '.join(WRITERS)}."
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", help="1, 2, …: a fresh draw at a new charge.")]


def ask(
    manifest: ManifestPath,
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="A file with the question as JSON; - reads it from the input."),
    ],
    preview: OnlyPreview = False,
    analyst: Analyst = "owner",
    repeat: Repeat = 0,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question that is written as JSON, verbatim."""
    try:
        text = sys.stdin.read() if query == "-" else Path(query).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"cannot read {query} ({type(problem).__name__})",
            field="query",
            next_step='Give a file that holds, for instance, {"question": "count", "epsilon": "0.1"}.',
        ) from None
    asked = Query.from_json(text, named=Manifest.load(manifest).questions)
    _ask(manifest, asked, preview, analyst, repeat, as_json, output)


def _ask(
    manifest: str,
    query: Query,
    preview: bool,
    analyst: str,
    repeat: int,
    as_json: bool,
    output: Path | None = None,
) -> None:
    if output is not None:
        _refuse_output(query, output)
    with closing(Curator.open(manifest)) as curator:
        if preview:
            result: Preview | Answer = curator.preview(query, repeat=repeat)
        else:
            with progress_bar():
                result = curator.ask(query, analyst=analyst, repeat=repeat)
            if output is not None:
                # Only now, when the answer is committed: a file that appeared before could be a second draw.
                result.value.write(output)
    if as_json:
        say_json(result.to_dict())
    else:
        say(str(result))


@dataclass(frozen=True)
class Asked:
    """What a question's command was given."""

    manifest: str
    kind: type[Query]
    fields: Mapping[str, Any]
    preview: bool
    analyst: str
    repeat: int
    as_json: bool
    output: Path | None = None

    def ask(self) -> None:
        """Ask, and print the answer."""
        query = self.kind(**self.fields)
        _ask(self.manifest, query, self.preview, self.analyst, self.repeat, self.as_json, self.output)


@dataclass(frozen=True)
class Variation:
    """How a question's command differs from the others: more parameters, and what it does with them."""

    act: Callable[..., None]  # takes what was asked, and the further parameters by name
    further: Mapping[str, tuple[Any, Any]]  # name → annotation and default
    optional: frozenset[str]  # fields that the question needs and the command can do without


# Questions whose command does more than ask, and where their variation is.
VARIATIONS = {"score": "anonymaly.cli.score:VARIATION"}


def _refuse_output(query: Query, output: Path) -> None:
    """Raise an error if a file cannot be written, before anything is spent."""
    if not query.tabular:
        raise InputError(
            f"{type(query).__name__} has no table to write", field="output", next_step="Leave it out."
        )
    writer_for(output)


def question_command(question: str) -> Callable[..., None]:
    """Return the command of a question: its options are the question's fields."""
    kind = load(question)
    variation = Variation(Asked.ask, {}, frozenset())
    if question in VARIATIONS:
        module, _, name = VARIATIONS[question].partition(":")
        variation = getattr(importlib.import_module(module), name)
    command = _command(kind, variation)
    owner = origin(question)
    proof = "" if owner is None else f" ({owner})"
    command.__doc__ = (inspect.getdoc(kind) or "").partition("\n")[0] + proof
    return command


def _command(kind: type[Query], variation: Variation) -> Callable[..., None]:
    """Make a command whose options are the question's fields."""

    def command(manifest: str, preview: bool, analyst: str, repeat: int, as_json: bool, **given: Any) -> None:
        fields = {
            name: _read(name, field, given[name])
            for name, field in kind.model_fields.items()
            if given[name] not in (None, [])
        }
        output = given["output"] if kind.tabular else None
        asked = Asked(manifest, kind, fields, preview, analyst, repeat, as_json, output)
        variation.act(asked, **{name: given[name] for name in variation.further})

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("manifest", keyword, annotation=ManifestPath)]
    for name, field in kind.model_fields.items():
        option = typer.Option(f"--{name.replace('_', '-')}", help=field.description, show_default=False)
        several = _origin(field) is tuple and not _is(field, "table")
        needed = field.is_required() and name not in variation.optional
        annotation: Any = list[str] if several else str
        default = inspect.Parameter.empty if needed else None
        parameters.append(
            inspect.Parameter(
                name,
                keyword,
                default=default,
                annotation=Annotated[annotation if needed else annotation | None, option],
            )
        )
    shared: dict[str, tuple[Any, Any]] = {
        **variation.further,
        **({"output": (Output, None)} if kind.tabular else {}),
        "preview": (OnlyPreview, False),
        "analyst": (Analyst, "owner"),
        "repeat": (Repeat, 0),
        "as_json": (AsJson, False),
    }
    parameters += [
        inspect.Parameter(name, keyword, default=default, annotation=annotation)
        for name, (annotation, default) in shared.items()
    ]
    # Typer reads the signature and the annotations; both are derived, so a new field needs no line here.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__name__ = kind.question
    return command


def _forms(field: FieldInfo) -> list[Any]:
    """Return the types that a field may have, without ``None`` and annotations."""
    annotation: Any = field.annotation
    union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    forms = []
    for form in typing.get_args(annotation) if union else [annotation]:
        while typing.get_origin(form) is Annotated:
            form = typing.get_args(form)[0]  # noqa: PLW2901
        forms.append(typing.get_origin(form) or form)
    return [form for form in forms if form is not types.NoneType]


def _origin(field: FieldInfo) -> Any:
    """Return the first type that a field may have: the one that its option is read as."""
    return _forms(field)[0]


def _is(field: FieldInfo, kind: str) -> bool:
    """Say whether a field is marked as given by ``pairs`` or by a file that holds a ``table``."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get(kind))


def _read(name: str, field: FieldInfo, text: str | list[str]) -> Any:
    """Read an option's text as its field: a file, name=value pairs, repeated values, or one value."""
    if isinstance(text, str):
        if _is(field, "table"):
            return read_columns(text, field=name)
        return text if _origin(field) is str else _scalar(text)
    if str in _forms(field):
        return text[0] if len(text) == 1 else text  # given once it is one text, given again a list
    if not _is(field, "pairs"):
        return [_scalar(item) for item in text]
    pairs: dict[str, Any] = {}
    for item in text:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"{item!r} is not name=value", next_step="Write, for instance, age=30.")
        # A name that is given again has several values.
        pairs[name] = [*_listed(pairs[name]), _scalar(value)] if name in pairs else _scalar(value)
    return pairs


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _scalar(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else text
    except (ValueError, RecursionError):
        return text
