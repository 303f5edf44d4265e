# SPDX-License-Identifier: Apache-2.0
"""An attack on the ledger's digests: try every record, and see whose digests are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import anonymaly as am
from anonymaly.core.value import digest
from anonymaly.declare.declaration import Declaration
from tests.ask.persons import explain, identify

AGES = range(121)


def guesses(age: int, declaration: Declaration) -> Iterator[str]:
    """Yield all that somebody without the secret can compute of questions about this age."""
    for query in (identify(age), explain(age)):
        fingerprint = query.bind(declaration).fingerprint()
        yield from (fingerprint, fingerprint[:16], digest(query.to_dict()["record"]))
    promised = explain(age).bind(declaration).relation
    yield str(promised.to_dict()["question"]["record"])


def found_by_trying(held: str, declaration: Declaration) -> list[int]:
    return [age for age in AGES if any(guess in held for guess in guesses(age, declaration))]


def test_whoever_holds_the_ledger_and_the_names_of_answers_finds_no_record_by_trying_all(
    open_patients: Callable[..., am.Curator], tmp_path: Path
) -> None:
    curator = open_patients()
    curator.ask(identify(97))
    curator.ask(explain(97))
    curator.close()
    held = (tmp_path / "patients.ledger").read_bytes().decode("latin-1")
    held += "".join(path.name for path in (tmp_path / "patients.ledger.answers").rglob("*"))
    # The attack works: one digest that anybody can compute is enough for it.
    assert found_by_trying(digest({"age": 97}), curator.declaration) == [97]
    assert found_by_trying(held, curator.declaration) == []
