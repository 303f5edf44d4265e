# SPDX-License-Identifier: Apache-2.0
"""What the owner's ledger and log show of a question: it must be the same on neighbouring tables."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anonymaly.ask.curator import Curator
from anonymaly.audit.case import Case
from anonymaly.audit.neighbours import Pair
from anonymaly.audit.recording import recorded_lines
from anonymaly.core.epsilon import to_text
from anonymaly.core.value import canonical_json
from anonymaly.errors import AnonymalyError
from anonymaly.ledger import Ledger
from anonymaly.noise.entropy import KEY_BYTES
from anonymaly.promise import Database

# Chance and the clock decide these; size and digest are functions of the released answer.
MASKED = frozenset({"time", "hash", "ledger", "digest", "size"})


def ledger_trace(case: Case, records: Database) -> tuple[str, ...]:
    """Ask a question through a curator, twice, and return every line that the ledger and the log then hold.

    The second asking must be free. What each asking raised and charged is part of the trace.

    Examples
    --------
    >>> from anonymaly.audit.cases.count import count_case
    >>> ledger_trace(count_case(epsilon="0.5"), [])[-2:]
    ('asked: charged 0.5', 'asked: charged 0')
    """
    outcomes = []
    with TemporaryDirectory() as folder, recorded_lines() as lines:
        location, secret = Path(folder, "audited.ledger"), Path(folder, "audited.secret")
        # The same for every table: a digest under a fresh one would differ by chance alone.
        secret.touch(0o600)
        secret.write_bytes(bytes(KEY_BYTES))
        curator = Curator(
            case.dataset(records),
            budget=to_text(3 * case.query.cost),
            adjacency=case.adjacency,
            ledger=location,
            secret=secret,
        )
        try:
            for _ in range(2):
                try:
                    answer = curator.ask(case.query)
                    outcomes.append(f"asked: charged {to_text(answer.charged_nano)}")
                except AnonymalyError as problem:
                    outcomes.append(f"asked: {type(problem).__name__}: {problem}")
        finally:
            curator.close()
        with Ledger.open(location) as ledger:
            kept = [canonical_json(_masked(entry.to_dict())) for entry in ledger.entries()]
    return (*kept, *lines, *outcomes)


def compare_ledgers(case: Case, pair: Pair) -> tuple[str, ...]:
    """Say where the ledger traces of two tables differ; nothing, if they do not."""
    first, second = ledger_trace(case, pair.first), ledger_trace(case, pair.second)
    return tuple(
        f"ledger line {place + 1} is {one or 'missing'} on the one and {other or 'missing'} on the other"
        for place, (one, other) in enumerate(zip_longest(first, second))
        if one != other
    )


def _masked(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: "…" if name in MASKED else _masked(item) for name, item in data.items()}
    return [_masked(item) for item in data] if isinstance(data, list) else data
