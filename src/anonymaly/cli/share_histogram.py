# SPDX-License-Identifier: Apache-2.0
"""``anonymaly share-histogram``: ask for the cells, and show them as bars or as synthetic rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymaly.ask.answer import Answer
from anonymaly.cli.ask import Asked, Variation
from anonymaly.cli.rehearsal import refuse_files
from anonymaly.cli.synthetic import USUAL_ROWS, Draw, Synthetic, refuse_rows, said_of
from anonymaly.core.files import appearing, why_not_written
from anonymaly.errors import InputError

Chart = Annotated[bool, typer.Option("--chart", help="Also print the cells as bars, with their intervals.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Also write one page with the cells as bars.")
]


def share_histogram(asked: Asked, chart: bool, html: Path | None, synthetic: Path | None, draw: int) -> None:
    """Ask, print the answer, and write what else is wanted of it."""
    if asked.rehearse:
        refuse_files(preview=asked.preview, html=html, synthetic=synthetic)
    refuse_page(html)
    refuse_rows(synthetic, draw)

    def then(answer: Answer) -> list[str]:
        said = [answer.value.chart()] if chart else []
        if html is not None:
            _write_page(answer, html)
            said.append(f"the cells as bars: {html}")
        if synthetic is not None:
            answer.value.draw(draw).write(synthetic)
            said.append(said_of(synthetic, draw))
        return said

    asked.ask(then)


VARIATION = Variation(
    act=share_histogram,
    further={
        "chart": (Chart, False),
        "html": (Html, None),
        "synthetic": (Synthetic, None),
        "draw": (Draw, USUAL_ROWS),
    },
    optional=frozenset(),
)


def refuse_page(path: Path | None) -> None:
    """Raise an error, before anything is charged, if a page could not be written."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError("must end in .html", field="html", next_step="Name such a file.")
    problem = why_not_written(path)
    if problem is not None:
        raise InputError(problem, field="html", next_step="Name another file.")


def _write_page(answer: Answer, path: Path) -> None:
    from anonymaly.questions.share_histogram.picture import page  # noqa: PLC0415  (only for a page)

    try:
        with appearing(path, private=False) as file:
            file.write(page(answer.value, answer.asks, str(answer)).encode())
    except OSError as problem:
        raise InputError(
            f"cannot write {path} ({type(problem).__name__})", field="html", next_step="Name another file."
        ) from None
