# SPDX-License-Identifier: Apache-2.0
"""Random records that stand out somewhere, measured one after another and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studies.journal import Entry, Journal
from studies.progress import Progress
from studies.seeds import in_random_order

EXHAUSTED: Entry = {"exhausted": True, "valid": 0}


def is_complete(journal: Journal, outliers: int) -> bool:
    """Say whether this number of outliers was measured, or all there are."""
    return EXHAUSTED in journal or len(first_outliers(journal, outliers)) == outliers


def first_outliers(journal: Journal, outliers: int) -> list[Entry]:
    """Return this number of outliers; an earlier run may have measured more, and two at once the same."""
    return list({entry["row"]: entry for entry in journal if entry["valid"]}.values())[:outliers]


def measure_outliers(
    name: str,
    rows: int,
    outliers: int,
    journal: Journal,
    progress: Progress,
    seed: int,
    measure: Callable[[int], dict[str, Any] | None],
) -> None:
    """Measure one random record after another until enough are outliers, or there are no more.

    Parameters
    ----------
    name
        The name beside the progress bar.
    rows
        How many records there are; the seed fixes the order in which they are tried.
    outliers
        How many are wanted.
    journal
        What an earlier run measured, and where new measurements go.
    progress, seed
        As in the study.
    measure
        Measures a record. What it returns is kept, ``valid`` saying in how many contexts the record stands
        out. None is not kept: finding that out again takes no time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "study.jsonl", {})
    ...     odd = lambda row: {"row": row, "valid": 3} if row % 2 else None
    ...     measure_outliers("odd", 6, 9, journal, Progress(None), 1, odd)
    ...     sorted(entry["row"] for entry in first_outliers(journal, 9)), is_complete(journal, 9)
    ([1, 3, 5], True)
    """
    found = len(first_outliers(journal, outliers))
    known = {entry.get("row") for entry in journal}
    progress.start(name, outliers, found)
    for row in in_random_order(rows, seed):
        if found >= outliers:
            return
        entry = None if row in known else measure(row)
        if entry is not None:
            journal.write(entry)
            found += bool(entry["valid"])
            progress.advance(found)
    if found < outliers:
        journal.write(EXHAUSTED)
