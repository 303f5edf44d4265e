# SPDX-License-Identifier: Apache-2.0
"""Is a question about a part of the rows refused where the account's promise would not hold of its answer?

Whoever has many records near it in the whole table may be alone in a part of it; and a record that comes or
goes moves others from part to part. Here every example of every question is asked of a part, and whether it
may be is taken from a list written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Example, Query
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import arrow_type
from anonymaly.errors import Refused
from anonymaly.promise import SameValidContexts, SensitiveRecords

BUDGET = 1000
# Whether a record is protected is a matter of that record alone: a part of the rows can keep these promises.
OF_SINGLE_RECORDS = {"everyone", "sensitive_under_policy"}
OF_ALL_RECORDS = {"sensitive_records", "same_valid_contexts"}


def parts_problems() -> Problems:
    """Yield every question that is answered about a part and must not be, or the other way round.

    Examples
    --------
    >>> fault = PARTS_FAULTS[0]
    >>> fault.name, fault.is_rejected(parts_problems)
    ('parts asked whatever is promised', True)
    """
    promised = set()
    for name in QUESTIONS:
        kind: type[Query] = load(name)
        for place, example in enumerate(kind.examples(), start=1):
            if example.person is not None:
                continue  # what is a person's is asked of no part, which `about` says first
            with _opened(example, "replace") as curator:
                relation = curator.preview(example.query).guarantee.relation.type
                promised.add(relation)
                for problem in _of_a_part(curator, example, relation):
                    yield f"{name}, example {place}: {problem}"
            with _opened(example, "add_remove") as curator:
                if not _is_refused(curator.about, _part(example)):
                    yield f"{name}, example {place}: is asked of a part, where records come and go"
    if promised != OF_SINGLE_RECORDS | OF_ALL_RECORDS:
        yield f"examples promise {', '.join(sorted(promised))}, which is not what is listed here"


def _of_a_part(curator: Curator, example: Example, relation: str) -> Iterator[str]:
    part = curator.about(_part(example))
    allowed = relation in OF_SINGLE_RECORDS
    try:
        if _is_refused(part.preview, example.query) == allowed:
            yield f"promises {relation}, and its preview of a part is {'refused' if allowed else 'given'}"
        # What is allowed is asked elsewhere: here no row is read.
        if not allowed and not _is_refused(part.ask, example.query):
            yield f"promises {relation}, and is answered about a part"
        if curator.spent:
            yield "is charged, though it is refused or previewed only"
    finally:
        part.close()


def _is_refused(attempt: Any, given: Any) -> bool:
    try:
        attempt(given)
    except Refused:
        return True
    return False


@contextmanager
def _opened(example: Example, adjacency: Adjacency) -> Iterator[Curator]:
    with TemporaryDirectory() as folder:
        curator = Curator(
            example.dataset(), budget=BUDGET, adjacency=adjacency, ledger=Path(folder, "example.ledger")
        )
        try:
            yield curator
        finally:
            curator.close()


def _part(example: Example) -> pa.Table:
    """Return all rows but the first."""
    return pa.table(
        {
            name: pa.array(values[1:], arrow_type(example.columns[name]))
            for name, values in example.records.items()
        }
    )


def _whatever_comes_and_goes(curator: Curator, source: Any) -> Curator:
    """Return a curator of a part as if every record kept its place."""
    declared = curator.declaration
    curator.declaration = declared.with_adjacency("replace")
    try:
        return _ABOUT(curator, source)
    finally:
        curator.declaration = declared


_ABOUT = Curator.about
_TRUE = property(lambda relation: True)

PARTS_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "parts asked whatever is promised",
        "parts",
        lambda: replaced(Curator, "_refuse_of_a_part", lambda curator, relation: None),
    ),
    SystemFault(
        "a crowd taken for a matter of single records",
        "parts",
        lambda: replaced(SensitiveRecords, "of_single_records", _TRUE),
    ),
    SystemFault(
        "valid contexts taken for a matter of single records",
        "parts",
        lambda: replaced(SameValidContexts, "of_single_records", _TRUE),
    ),
    SystemFault(
        "parts of tables whose records come and go",
        "parts",
        lambda: replaced(Curator, "about", _whatever_comes_and_goes),
    ),
)
