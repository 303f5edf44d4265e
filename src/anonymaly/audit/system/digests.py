# SPDX-License-Identifier: Apache-2.0
"""Can whoever holds a copy of the ledger find by trying whom a question was about?

There are few ages, so a digest that anybody can compute hides none of them. Here questions about a person are
asked, and all that is left of them but the owner's secret is searched for digests of every age.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from anonymaly.ask import accountant, secret
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.ask.secret import Secret, without_secret
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.core.value import digest
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.declare.rules import AnomalyModel, Rule, SameContexts
from anonymaly.noise.entropy import KEY_BYTES
from anonymaly.questions.explain.query import Explain
from anonymaly.questions.identify.query import Identify

AGES = range(121)
ASKED = 97
COLUMNS: Mapping[str, Domain] = {"age": Interval(AGES[0], AGES[-1]), "ward": Categories(["A", "B"])}
RULES: Mapping[str, Rule] = {"rare": AnomalyModel(["age"], radius=3, beta=2), "groups": SameContexts()}
SHORT = 16  # digits of a digest that identify it, as names of files once had


def digests_problems() -> Problems:
    """Yield every age that is found by trying, and every key that two owners have in common.

    Examples
    --------
    >>> fault = DIGESTS_FAULTS[0]
    >>> fault.name, fault.is_rejected(digests_problems)
    ('digests without the secret', True)
    """
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        keys = [_ask(Path(folder)) for folder in (one, other)]
        declared = _dataset().with_adjacency("add_remove")
        held = _held(Path(one))
        for age in AGES:
            for what, guess in _guesses(age, declared):
                if guess[:SHORT] in held:
                    yield f"whoever tries all ages finds {age} by {what}"
        if keys[0] & keys[1]:
            yield "two owners know the same question by the same key, so that each can look for the other's"


def _dataset() -> Dataset:
    table = pa.table({"age": pa.array([30, 17, 45, 80, 62, ASKED], pa.float64()), "ward": list("ABABBA")})
    return Dataset(table, name="patients", columns=COLUMNS, rules=RULES)


def _questions(age: int) -> tuple[Query, ...]:
    return (
        Identify(record={"age": age}, model="rare", epsilon="0.1"),
        Explain(
            record={"age": age, "ward": "A"},
            metric="age",
            attributes=["ward"],
            detector="grubbs",
            rule="groups",
            epsilon="0.1",
        ),
    )


def _ask(folder: Path) -> set[str]:
    """Ask about one person, and return the keys by which the ledger knows the questions."""
    curator = Curator(_dataset(), budget=1, ledger=folder / "patients.ledger")
    with closing(curator):
        return {curator.ask(query).receipt.key for query in _questions(ASKED)}


def _held(folder: Path) -> str:
    """Return all that is in a folder, and the names of its files, but the secret."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "patients.secret"]
    return "\n".join(path.name + path.read_bytes().decode("latin-1") for path in files)


def _guesses(age: int, declared: Declaration) -> Iterator[tuple[str, str]]:
    """Yield what somebody without the secret can compute of questions about an age."""
    for query in _questions(age):
        bound = query.bind(declared)
        fingerprint, record = bound.fingerprint(), query.to_dict()["record"]
        things: Mapping[str, Any] = {"the question": fingerprint, "the record": record}
        yield f"{query.question}'s fingerprint", fingerprint
        for name, thing in things.items():
            yield f"a digest of {name} of {query.question}", digest(thing)
        permit = bound.permit()
        if permit is not None:
            yield f"what a rule counts of {query.question}", permit.mark(without_secret).rpartition(":")[2]


def _plain_of(kinds: set[str]) -> Any:
    """Return a digest without the secret of some kinds of things."""

    def made(secret: Secret, kind: str, data: Any) -> str:
        return digest(data) if kind in kinds else _DIGEST(secret, kind, data)

    return made


_DIGEST = Secret.digest

DIGESTS_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "digests without the secret",
        "digests",
        lambda: replaced(Secret, "digest", lambda secret, kind, data: digest(data)),
    ),
    SystemFault(
        "a record's digest without the secret",
        "digests",
        lambda: replaced(Secret, "digest", _plain_of({"field:record"})),
    ),
    SystemFault(
        "the record in a promise without the secret",
        "digests",
        lambda: replaced(Secret, "digest", _plain_of({"promise"})),
    ),
    SystemFault(
        "what a rule counts without the secret",
        "digests",
        lambda: replaced(Secret, "digest", _plain_of({"counted"})),
    ),
    SystemFault(
        "questions known by their fingerprints",
        "digests",
        lambda: replaced(accountant, "_key", lambda secret, fingerprint: fingerprint),
    ),
    SystemFault(
        "one secret for all owners",
        "digests",
        lambda: replaced(secret, "fresh_key", lambda: bytes(KEY_BYTES)),
    ),
)
