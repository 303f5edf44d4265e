# SPDX-License-Identifier: Apache-2.0
"""``anonymaly audit``: try to break the promises, on invented tables, and say what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from anonymaly.cli.output import AsJson, err, out, plain, progress_bar, say, say_json
from anonymaly.core.extras import require
from anonymaly.core.files import appearing, why_not_written
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.audit.findings import AuditRun

LAYERS = ("replay", "ledger", "fit", "bound")  # as in the audit, which is not imported for this


def audit(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUESTION]",
            help='A question, stream, or "all questions" for what all of them share; without it everything.',
        ),
    ] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="More samples, and every planted fault; takes hours.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write one page with pictures.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Attack the promises of all questions on invented tables; reads no table of yours, spends nothing."""
    require("audit", "anonymaly audit")
    if html is not None:
        _check_page(html)
    # Scientific packages and every question: imported only when something is audited.
    from anonymaly.audit.page import to_page  # noqa: PLC0415
    from anonymaly.audit.run import audit_all  # noqa: PLC0415

    try:
        with progress_bar():
            run = audit_all(question, thorough=thorough)
    except KeyboardInterrupt:
        err.print("interrupted; an audit spends nothing, and what it found so far is lost")
        raise typer.Exit(130) from None
    if as_json:
        say_json(run.to_dict())
    else:
        _show(run)
    if html is not None:
        # After all was said: a disk that fails now must not take hours of findings with it.
        try:
            with appearing(html) as file:
                file.write(to_page(run).encode())
        except OSError as problem:
            raise InputError(
                f"cannot write {html} ({type(problem).__name__})",
                field="html",
                next_step="Name another file.",
            ) from None
        if not as_json:
            say(f"the same with pictures: {html}")
    if not run.passed:
        raise typer.Exit(1)


def _check_page(page: Path) -> None:
    """Refuse a page that cannot be written, before minutes of work."""
    require("report", "--html")
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError("must end in .html", field="html", next_step="Name such a file.")
    problem = why_not_written(page)
    if problem is not None:
        raise InputError(problem, field="html", next_step="Name another file.")


def _show(run: AuditRun) -> None:
    if run.cases:
        cases = Table("case", "claimed ε", "at least", "part", *LAYERS, box=None)
        for line in run.cases:
            numbers = ["" if value is None else f"{value:.3g}" for value in (line.claimed, line.at_least)]
            part = "" if line.part is None else f"{line.part:.0%}"
            cases.add_row(*plain(line.report.name, *numbers, part, *map(line.of_layer, LAYERS)))
        out.print(cases)
    for line in run.lines:
        if line.claimed is None:
            say(f"{line.report.name}: {line.why or ('ok' if line.passed else 'VIOLATION')}")
    if run.faults:
        faults = Table("planted faults", "layer", "caught", "planted", "listed", box=None)
        for (about, layer), counts in run.by_layer().items():
            planted = counts[True] + counts[False]
            faults.add_row(*plain(about, layer, f"{counts[True]}", f"{planted}", f"{planted + counts[None]}"))
        out.print(faults)
    for text in run.words():
        say(text)
    say(f"{run.seconds:,.0f} seconds")
