# SPDX-License-Identifier: Apache-2.0
"""``anonymaly find``: which records are odd, and why; for an analyst with records, or for the owner."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from anonymaly.ask.server_address import is_url
from anonymaly.cli.opening import Analyst, ManifestOrUrl, opened
from anonymaly.cli.output import AsJson, err, progress_bar, say, say_json, still_kept
from anonymaly.cli.record_files import RecordFile, kind_of
from anonymaly.cli.scored import kinds_of, read_rule
from anonymaly.core.files import why_not_written
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Opaque
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError
from anonymaly.finding.find import run
from anonymaly.finding.own_records import OwnRecords, compared_columns
from anonymaly.finding.prepare import EXPLAIN, TOP, prepare
from anonymaly.questions.score.missing import MISSING
from anonymaly.questions.score.mixed_space import MixedSpace

WHOSE = """\
Whose records are odd?
  1  records of your own, in a file: compared with the table, out of its ε
  2  the table's own rows: exact, free, and for its owner's eyes alone"""

ALIKE = (
    "Numbers are read as 1234.5, dates as 2026-12-31, flags as true and false, with commas between columns; "
    "if {name} is written as the table is, add --as-table."
)

Records = Annotated[
    Path | None,
    typer.Argument(metavar="[RECORDS]", help="A CSV or Parquet file of records to judge."),
]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", help="What a model and all explanations together may cost.")
]
Top = Annotated[int, typer.Option("--top", help="How many of the oddest to show.")]
ToExplain = Annotated[
    int | None,
    typer.Option(
        "--explain", help=f"How many of these to explain, each at its share: {EXPLAIN}; with --owner, {TOP}."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", help="A column that records are compared by; give it once for each. By default all."
    ),
]
MissingRule = Annotated[
    str, typer.Option("--missing", help=f"What to do about missing values: {', '.join(MISSING)}.")
]
AsTable = Annotated[
    bool,
    typer.Option(
        "--as-table",
        help="The file of records is written as the table is: delimiter, dates, decimal commas, spellings.",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", "-o", metavar="FILE", help="A report with pictures, in one .html file."),
]
OfOwner = Annotated[
    bool,
    typer.Option("--owner", help="The oddest of the table's own rows: exact, free, and for the owner alone."),
]
OnlyPreview = Annotated[bool, typer.Option("--preview", help="Show the plan and its cost; spend nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go on after the plan without being asked.")]


def find(
    manifest: ManifestOrUrl,
    records: Records = None,
    epsilon: Epsilon = None,
    top: Top = TOP,
    explain: ToExplain = None,
    columns: Columns = None,
    missing: MissingRule = MISSING[0],
    as_table: AsTable = False,
    html: Html = None,
    owner: OfOwner = False,
    preview: OnlyPreview = False,
    yes: Yes = False,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Find the oddest records, and say why they are: of a file, out of one ε, or of the owner's own rows."""
    if owner == (records is not None):
        records, owner, epsilon = _whose(manifest, epsilon, both=owner)
    _refuse_page(html)
    wanted = list(columns) if columns else None
    if owner or records is None:
        _refuse_idle(
            **{"epsilon": epsilon, "preview": preview, "missing": missing != MISSING[0], "as-table": as_table}
        )
        if is_url(manifest):
            raise InputError(
                "is for whoever has the table, and a server never shows its rows",
                field="owner",
                next_step=f"Give a file of your own records: anonymaly find {manifest} new.csv --epsilon 1.",
            )
        _own_rows(manifest, top, explain, wanted, html, as_json)
        return
    if epsilon is None:
        raise InputError(
            "is needed: it is what a model and the explanations may cost together",
            field="epsilon",
            next_step=f"As in: anonymaly find {manifest} {records} --epsilon 1; --preview shows the plan.",
        )
    rule = read_rule(missing)
    with opened(manifest, analyst) as asker:
        prepared = prepare(
            asker.curator,
            _records(records, manifest, asker.declaration, wanted, as_table=as_table),
            epsilon=epsilon,
            top=top,
            explain=EXPLAIN if explain is None else explain,
            columns=wanted,
            missing=rule,
            analyst=analyst,
            name=records.name,
        )
        plan = prepared.plan
        if preview:
            say_json(plan.to_dict()) if as_json else say(str(plan))
            return
        # First, before anything is charged; with --json beside the one document.
        if as_json:
            err.print(str(plan), markup=False)
        else:
            say(f"{plan}\n")
        prepared.refuse_beyond_budget()
        if plan.cost and not yes and not as_json and _on_terminal():
            typer.confirm("Go on?", abort=True)
        with progress_bar(reading=not as_json and not is_url(manifest)):
            found = run(prepared)
        if html is not None:
            with still_kept():
                found.save(html)
    _say(found, html, as_json)


def _whose(manifest: str, epsilon: str | None, *, both: bool) -> tuple[Path | None, bool, str | None]:
    """Ask which records are meant, on a terminal; elsewhere refuse, and say how each is asked for."""
    if both or not _on_terminal():
        raise InputError(
            "not both a file of records and --owner"
            if both
            else "a file of records, or --owner, is needed: whose records are odd?",
            field="records",
            next_step=f"To judge records of your own: anonymaly find {manifest} new.csv --epsilon 1. To look "
            f"at the table's own rows, if you are its owner: anonymaly find {manifest} --owner.",
        )
    say(WHOSE)
    chosen = ""
    while chosen not in ("1", "2"):
        chosen = typer.prompt("1 or 2").strip()
    if chosen == "2":
        return None, True, epsilon
    records = Path(typer.prompt("File of records (.csv or .parquet)"))
    return records, False, epsilon or typer.prompt("ε that it may cost, such as 1")


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _own_rows(
    manifest: str, top: int, explain: int | None, columns: list[str] | None, html: Path | None, as_json: bool
) -> None:
    from anonymaly import inspect  # noqa: PLC0415  (only for the owner)

    dataset = Manifest.load(manifest).dataset(Path(manifest).parent)
    found = inspect.odd(dataset, top=top, explain=explain, columns=columns)
    if html is not None:
        found.save(html)
    _say(found, html, as_json)


def _say(found: Any, html: Path | None, as_json: bool) -> None:
    if as_json:
        say_json({**found.to_dict(), **({} if html is None else {"html": str(html)})})
        return
    say(str(found))
    if html is not None:
        say(f"the same with pictures: {html}")


def _records(
    path: Path, manifest: str, declaration: Declaration, columns: list[str] | None, *, as_table: bool
) -> pa.Table:
    """Read a file of records, plainly written or as the table is."""
    if not path.is_file():
        raise InputError(
            f"{path} is a folder" if path.is_dir() else f"there is no file {path}",
            field="records",
            next_step="Check the path; give a CSV or Parquet file.",
        )
    compared = compared_columns(declaration, columns)
    if as_table:
        return _read_alike(path, manifest, declaration)
    try:
        return _read(path, declaration, compared)
    except InputError as error:
        if path.suffix.lower() != ".csv":
            raise
        raise InputError(
            error.problem, field=error.field, next_step=f"{error.next_step} {ALIKE.format(name=path.name)}"
        ) from None


def _read_alike(path: Path, manifest: str, declaration: Declaration) -> pa.Table:
    """Read a file of records as the table's own rows are read, and say what could not be read."""
    from anonymaly.inspect.written_alike import read_with_remarks  # noqa: PLC0415  (the engine)

    files: Mapping[str, Any] = {}
    if kind_of(path, "records") == "csv" and not is_url(manifest):
        declared = Manifest.load(manifest)
        files = {"file": declared.file, "line_breaks": declared.line_breaks}
    table, remarks = read_with_remarks(path, declaration, files)
    for remark in remarks:
        err.print(f"note: {remark}", markup=False)
    return table


def _read(path: Path, declaration: Declaration, compared: Sequence[str]) -> pa.Table:
    """Read a file of records: the compared columns as they are declared, others as they are written."""
    file = RecordFile(path, {})
    OwnRecords.refuse_lost(compared, file.names)
    # Columns that are declared and not compared make groups, too.
    domains = {
        name: domain
        for name, domain in declaration.columns.items()
        if name in file.names
        and not isinstance(domain, Opaque)
        and name not in (declaration.person, declaration.key)
    }
    space = MixedSpace.of(list(domains), list(domains.values()), {})
    table = pa.Table.from_batches(list(RecordFile(path, kinds_of(space)).batches()))
    return _with_whole_labels(table, domains)


def _with_whole_labels(table: pa.Table, domains: Mapping[str, Domain]) -> pa.Table:
    """Return years and codes as whole numbers, which they are read as if 2003.0 is allowed for them, too."""
    for place, name in enumerate(table.column_names):
        domain = domains.get(name)
        if isinstance(domain, Categories) and pa.types.is_floating(table.column(name).type):
            with suppress(pa.ArrowInvalid):  # one of them is none
                table = table.set_column(place, name, table.column(name).cast(pa.int64()))
    return table


def _refuse_page(page: Path | None) -> None:
    if page is None:
        return
    problem = "must end in .html" if page.suffix.lower() not in (".html", ".htm") else why_not_written(page)
    if problem is not None:
        raise InputError(
            problem, field="html", next_step="Name an .html file in a folder that can be written to."
        )


def _refuse_idle(**given: Any) -> None:
    """Refuse an option that would do nothing, before anything is read."""
    for name, value in given.items():
        if value:
            raise InputError(
                "means nothing with --owner, which costs nothing", field=name, next_step="Leave it out."
            )
