# SPDX-License-Identifier: Apache-2.0
"""``anonymaly ask``, and one command for each question, generated from the question's fields."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.catalogue import load, origin
from anonymaly.ask.query import Query
from anonymaly.ask.server_address import is_url
from anonymaly.ask.table_files import WRITERS, writer_for
from anonymaly.ask.typed_fields import is_several, mark_of, read_field
from anonymaly.cli.completion import completes
from anonymaly.cli.opening import Analyst, ManifestOrUrl, declaration_of, opened
from anonymaly.cli.output import AsJson, progress_bar, say, say_json, still_kept
from anonymaly.cli.rehearsal import Rehearse, refuse_files, say_rehearsal
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError

OnlyPreview = Annotated[
    bool, typer.Option("--preview", help="Show cost, promise and expected error; spend nothing.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help=f"Write the table here; endings: {', '.join(WRITERS)}."
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", help="1, 2, …: a fresh draw at a new charge.")]


def ask(
    manifest: ManifestOrUrl,
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="A file with the question as JSON; - reads it from the input."),
    ],
    preview: OnlyPreview = False,
    analyst: Analyst = None,
    repeat: Repeat = 0,
    output: Output = None,
    rehearse: Rehearse = False,
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
    asked = Query.from_json(text, named=declaration_of(manifest).questions)
    if rehearse:
        refuse_files(preview=preview, output=output)
        say_rehearsal(manifest, lambda declaration: asked, as_json)
        return
    _ask(manifest, asked, preview, analyst, repeat, as_json, output)


def _ask(
    manifest: str,
    query: Query,
    preview: bool,
    analyst: str | None,
    repeat: int,
    as_json: bool,
    output: Path | None = None,
    then: Callable[[Answer], list[str]] = lambda answer: [],
) -> None:
    if output is not None:
        _refuse_output(query, output)
    said: list[str] = []
    with opened(manifest, analyst) as asker:
        if preview:
            result: Preview | Answer = asker.preview(query, repeat=repeat)
        else:
            with progress_bar(reading=not as_json and not is_url(manifest)):
                result = asker.ask(query, repeat=repeat)
            # Only now, when the answer is committed: a file that appeared before could be a second draw.
            with still_kept():
                if output is not None:
                    result.value.write(output)
                said = then(result)
    if as_json:
        say_json(result.to_dict())
    else:
        say("\n\n".join([str(result), *said]))


@dataclass(frozen=True)
class Asked:
    """What a question's command was given."""

    manifest: str
    kind: type[Query]
    fields: Mapping[str, Any]
    preview: bool
    analyst: str | None
    repeat: int
    as_json: bool
    output: Path | None = None
    rehearse: bool = False

    def ask(self, then: Callable[[Answer], list[str]] = lambda answer: []) -> None:
        """Ask, and print the answer; ``then`` does more with it, and returns what to print below it."""
        query = self.kind(**self.fields)
        if self.rehearse:
            refuse_files(preview=self.preview, output=self.output)
            say_rehearsal(self.manifest, lambda declaration: query, self.as_json)
            return
        _ask(self.manifest, query, self.preview, self.analyst, self.repeat, self.as_json, self.output, then)


@dataclass(frozen=True)
class Variation:
    """How a question's command differs from the others: more parameters, and what it does with them."""

    act: Callable[..., None]  # takes what was asked, and the further parameters by name
    further: Mapping[str, tuple[Any, Any]]  # name → annotation and default
    optional: frozenset[str]  # fields that the question needs and the command can do without
    # What stands in for fields that were not given, from the declaration.
    defaults: Callable[[Declaration], Mapping[str, Any]] = lambda declaration: {}


# Questions whose command does more than ask, and where their variation is.
VARIATIONS = {
    "score": "anonymaly.cli.score:VARIATION",
    "share-histogram": "anonymaly.cli.share_histogram:VARIATION",
}


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
    variation = variation_of(question)
    command = command_of(kind, variation)
    owner = origin(question)
    proof = "" if owner is None else f" ({owner})"
    command.__doc__ = (inspect.getdoc(kind) or "").partition("\n")[0] + proof
    return command


def variation_of(question: str) -> Variation:
    """Return how a question's command differs from the others."""
    if question not in VARIATIONS:
        return Variation(Asked.ask, {}, frozenset())
    module, _, name = VARIATIONS[question].partition(":")
    found: Variation = getattr(importlib.import_module(module), name)
    return found


def command_of(
    kind: type[Query], variation: Variation, left_out: Collection[str] = ()
) -> Callable[..., None]:
    """Make a command whose options are the question's fields."""

    def command(manifest: str, as_json: bool, **given: Any) -> None:
        declared = _Declared(manifest)
        fields = {
            name: _read(name, field, given[name], declared)
            for name, field in kind.model_fields.items()
            if given[name] not in (None, [])
        }
        asked = Asked(
            manifest=manifest,
            kind=kind,
            fields=fields,
            preview=given.get("preview", False),
            analyst=given.get("analyst"),
            repeat=given.get("repeat", 0),
            as_json=as_json,
            output=given.get("output") if kind.tabular else None,
            rehearse=given.get("rehearse", False),
        )
        variation.act(asked, **{name: given[name] for name in variation.further})

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("manifest", keyword, annotation=ManifestOrUrl)]
    for name, field in kind.model_fields.items():
        option = typer.Option(
            f"--{name.replace('_', '-')}",
            help=field.description,
            show_default=False,
            autocompletion=completes(name, field.annotation, mark_of(field, "pairs") in ("record", "group")),
        )
        several = is_several(field)
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
        "rehearse": (Rehearse, False),
        "analyst": (Analyst, None),
        "repeat": (Repeat, 0),
        "as_json": (AsJson, False),
    }
    parameters += [
        inspect.Parameter(name, keyword, default=default, annotation=annotation)
        for name, (annotation, default) in shared.items()
        if name not in left_out
    ]
    # Typer reads the signature and the annotations; both are derived, so a new field needs no line here.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__name__ = kind.question
    return command


class _Declared:
    """The declared columns, read when an option's value depends on them."""

    def __init__(self, manifest: str) -> None:
        self._manifest = manifest

    @cached_property
    def columns(self) -> Mapping[str, Domain]:
        return declaration_of(self._manifest).columns


def _read(name: str, field: FieldInfo, text: str | list[str], declared: _Declared) -> Any:
    """Read an option's text as its field: a file, or what is typed."""
    if isinstance(text, str) and mark_of(field, "table"):
        from anonymaly.cli.files import read_columns  # noqa: PLC0415  (heavy)

        return read_columns(text, declared.columns, field=name)
    return read_field(name, field, text, lambda: declared.columns)
