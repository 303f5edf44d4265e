# SPDX-License-Identifier: Apache-2.0
"""The oddest of the table's own rows, with their exact reasons and groups: for the owner alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Opaque
from anonymaly.engine.statements import EngineFailure
from anonymaly.errors import InputError, SchemaError
from anonymaly.finding.cards import cards, overview, reading
from anonymaly.finding.explaining import choose
from anonymaly.finding.found import save_page
from anonymaly.finding.odd_record import Explained, OddRecord, named_by
from anonymaly.finding.own_records import compared_columns
from anonymaly.finding.prepare import EVERY_PART, MOST_TOP, TOP
from anonymaly.pictures.page import fragment, heading, paragraph, whole_page
from anonymaly.questions.explain.everyone.inspect import best_group
from anonymaly.questions.score.inspect import count_outside, exact_model, oddest_rows
from anonymaly.questions.score.reasons import Reason, Reasons

WARNING = (
    "Exact values from the rows, for the owner alone: no noise, no ε, and no promise. Nothing of this may be "
    "released."
)
OUTSIDE = (
    "are outside the declared bounds, and are scored as if at the nearer bound, which may not be odd at all; "
    "to see them: am.inspect.columns, or anonymaly inspect columns"
)
SOME_EPSILON = 10**9  # a question is bound at some ε, which plays no part in what is exact


@dataclass(frozen=True)
class Odd:
    """The oddest rows of a table, the oddest first; exact, and for the owner alone.

    Attributes
    ----------
    name, rows
        The dataset's name, and how many rows were looked at.
    odd
        The oddest rows, each with its reasons and the group that it stands out in most. Rows are counted from
        1 in the order in which the engine returns them; a declared key names them.
    reasons
        The parts of their scores.
    notes
        What the scores do not show: columns with values outside their declared bounds.
    """

    name: str
    rows: int
    odd: tuple[OddRecord, ...]
    reasons: Reasons
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> list[dict[str, Any]]:
        """The oddest rows themselves."""
        return [dict(item.record) for item in self.odd]

    @property
    def title(self) -> str:
        """What is shown."""
        many = "" if len(self.odd) == 1 else f"{len(self.odd):,} "
        return f"The {many}oddest of the {self.rows:,} rows of {self.name}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        found = [_plain(item) for item in self.odd]
        told = {"warning": WARNING, "dataset": self.name, "rows": self.rows, "records": found}
        return {**told, "notes": list(self.notes)}

    def __str__(self) -> str:
        lines = [self.title, *(f"note: {note}" for note in self.notes), ""]
        for item in self.odd:
            lines += [*item.lines(), ""]
        return "\n".join([*lines, WARNING])

    def __repr__(self) -> str:
        return f"Odd({len(self.odd)} of {self.rows} rows of {self.name}, exact)"

    def _repr_html_(self) -> str:
        return fragment(
            heading(self.title),
            paragraph(WARNING, "warning"),
            *(paragraph(f"note: {note}", "warning") for note in self.notes),
            overview(self.odd),
            "<h2>Each row</h2>",
            paragraph(reading(self.odd), "faint"),
            cards(self.odd),
        )

    def to_html(self) -> str:
        """Return a page that needs nothing else: no address, no script."""
        return whole_page(self.title, self._repr_html_())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that only its owner may read."""
        save_page(self.to_html(), Path(path))


def _plain(item: OddRecord) -> dict[str, Any]:
    told = item.to_dict()
    explained = told.get("explained")
    if explained is not None:  # nothing was charged, so there are no shares
        told["explained"] = {name: explained[name] for name in ("explanation", "words", "missing", "note")}
    return told


def odd(
    dataset: Dataset,
    *,
    top: int = TOP,
    explain: int | None = None,
    columns: Sequence[str] | None = None,
) -> Odd:
    """Find the oddest of the table's own rows, with exact reasons and groups.

    Nothing is charged, because the owner alone may see it. The model is that of ``Score`` without noise, and
    groups are those of ``Explain`` with the largest margin; nothing is drawn.

    Parameters
    ----------
    dataset
        The owner's table, of any source.
    top
        How many rows to return.
    explain
        Of how many of them to look for a group: by default of the first ten.
    columns
        The columns that rows are compared by: by default all that can be.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> pay, job = [30, 31, 32, 33] * 50 + [95], ["A", "B", "C", "C"] * 50 + ["A"]
    >>> people = pandas.DataFrame({"pay": pay, "job": job})
    >>> domains = {"pay": am.Interval(0, 100), "job": am.Categories(["A", "B", "C"])}
    >>> found = am.inspect.odd(am.Dataset(people, name="people", columns=domains), top=1)
    >>> found.odd[0].row, found.records[0]["job"], found.records[0]["pay"] == 95
    (201, 'A', True)
    """
    if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= MOST_TOP:
        raise InputError(
            f"must be a whole number from 1 to {MOST_TOP:,}, got {top!r}",
            field="top",
            next_step=f"Give, say, {TOP}.",
        )
    compared = compared_columns(dataset.declaration, columns)
    dataset.ready()  # a lost connection or a missing permission is reported in our own words
    try:
        return _odd(dataset, top, TOP if explain is None else explain, compared)
    except EngineFailure as failure:
        kind = failure.kind
    raise SchemaError(
        f"the table cannot be read ({kind})", field="source", next_step="Check that it is still there."
    )


def _odd(dataset: Dataset, top: int, explain: int, compared: Sequence[str]) -> Odd:
    declared = dataset.declaration
    names = (declared.person, declared.key)
    shown = [
        name for name, domain in declared.columns.items() if name in names or not isinstance(domain, Opaque)
    ]
    model = exact_model(dataset, compared)
    found = oddest_rows(dataset, model, top, shown)
    every = model.reasons(found.compared, named=EVERY_PART).told(rows=found.places, named=EVERY_PART)
    reasons = every.told()
    odd = tuple(
        OddRecord(
            place + 1,
            record,
            reason,
            _group(dataset, record, every[number]) if number < explain else None,
            named_by(record, [name for name in names if name is not None]),
        )
        for number, (place, record, reason) in enumerate(
            zip(found.places, found.records, reasons, strict=True)
        )
    )
    rows = model.rows or 0
    notes = tuple(
        f"{name}: {many:,} of {rows:,} rows {OUTSIDE}"
        for name, many in count_outside(dataset, compared).items()
    )
    return Odd(dataset.name, rows, odd, reasons, notes)


def _group(dataset: Dataset, record: Mapping[str, Any], reason: Reason) -> Explained:
    choice = choose(record, reason, dataset.declaration, SOME_EPSILON)
    if choice.query is None:
        return Explained(None, 0, missing=choice.why_not)
    return Explained(best_group(dataset, choice.query), 0, note=choice.note)
