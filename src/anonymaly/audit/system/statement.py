# SPDX-License-Identifier: Apache-2.0
"""Does an account's statement promise no more than is true?

It is read by whoever decides whether to go on, and by lawyers. Here accounts are brought into the states in
which a careless statement says too much, and what is true of them is known: all that was ever charged, the
part that a lost ledger held among it, and who is protected, found by trying every age.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from anonymaly.ask import accountant
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.core.epsilon import Number, to_nano
from anonymaly.core.value import canonical_json
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import Policy
from anonymaly.ledger import Ledger, Reservation, statement
from anonymaly.ledger.composition import Line, compose_charges
from anonymaly.ledger.records import Entry
from anonymaly.ledger.statement import Statement
from anonymaly.ledger.transaction import Transaction
from anonymaly.promise import Intersection, Relation, policies
from anonymaly.questions.count.query import Count
from anonymaly.questions.share_sample.query import ShareSample

AGES = range(121)
COLUMNS = {"age": Interval(AGES[0], AGES[-1])}
FEW_RULES = {"adults": Policy("age >= 18")}
RULES = {**FEW_RULES, "minors": Policy("age < 18")}
_BOUND = re.compile(r"keep at most ε = (\d+(?:\.\d+)?)")


def statement_problems() -> Problems:
    """Yield every sentence of a statement that is not true, and every one that is missing.

    Examples
    --------
    >>> fault = STATEMENT_FAULTS[0]
    >>> fault.name, fault.is_rejected(statement_problems)
    ('a bound in spite of a lost ledger', True)
    """
    for check in (_of_versions, _of_who_is_protected, _of_lost_ledgers):
        with TemporaryDirectory() as folder:
            yield from check(Path(folder))


def _curator(
    folder: Path, *, version: str = "1", rules: Mapping[str, Policy] = RULES, **options: Any
) -> Curator:
    table = pa.table({"age": pa.array([8, 30, 40], pa.float64())})
    dataset = Dataset(table, name="patients", version=version, columns=COLUMNS, rules=rules)
    return Curator(dataset, ledger=folder / "patients.ledger", **options)


def _sample(policy: str, epsilon: Number = 5) -> ShareSample:
    return ShareSample(policy=policy, columns=["age"], epsilon=epsilon)


def _words(told: Statement) -> str:
    return "\n".join(told.to_dict()["meaning"])


def _raised(folder: Path, anchor: Path) -> None:
    with closing(_curator(folder, rules=FEW_RULES, anchor=anchor)) as curator:
        curator.raise_budget(to=50)
        curator.ask(Count(epsilon=45))


def _ruled(folder: Path, anchor: Path) -> None:
    with closing(_curator(folder, rules=RULES, anchor=anchor)) as curator:
        curator.ask(_sample("minors", "0.4"))


def _asked(folder: Path, anchor: Path) -> None:
    with closing(_curator(folder, rules=FEW_RULES, anchor=anchor)) as curator:
        curator.ask(Count(epsilon="0.4"), repeat=9)


# What was done in the part that is lost, what all answers together cost, and whether a bound may be known.
LOST: Mapping[str, tuple[Callable[[Path, Path], None], str, bool]] = {
    "a raised budget": (_raised, "45.5", False),
    "a rule more": (_ruled, "0.9", False),
    "a question": (_asked, "0.9", True),
}


def _of_lost_ledgers(folder: Path) -> Iterator[str]:
    """Restore an old copy of a ledger, begin a new epoch, and read what is said of the lost part."""
    for name, (work, charged, may_be_bounded) in LOST.items():
        (folder / name).mkdir()
        told = _after_loss(folder / name, work)
        bounds = _BOUND.findall(_words(told))
        if told.to_dict()["promise"] is not None:
            yield f"with {name} in a lost part, a promise is made of all answers together"
        if any(to_nano(bound) < to_nano(charged) for bound in bounds):
            yield f"with {name} in a lost part, at most ε = {bounds[0]} is told and {charged} was charged"
        if bounds and not may_be_bounded:
            yield f"with {name} in a lost part, a bound is told that nobody can know"
        if not bounds and "no bound is known" not in _words(told):
            yield f"with {name} in a lost part, nothing is told of that"


def _after_loss(folder: Path, work: Callable[[Path, Path], None]) -> Statement:
    ledger, anchor, old = (folder / f"patients.{ending}" for ending in ("ledger", "anchor", "old"))
    with closing(_curator(folder, rules=FEW_RULES, budget=1, anchor=anchor)) as curator:
        curator.ask(Count(epsilon="0.5"))
    shutil.copy(ledger, old)
    work(folder, anchor)
    for journal in folder.glob("patients.ledger-*"):
        journal.unlink()
    old.replace(ledger)
    Ledger.open_epoch(ledger, anchor=anchor).close()
    with closing(_curator(folder, rules=FEW_RULES, anchor=anchor)) as curator:
        return curator.statement()


def _of_who_is_protected(folder: Path) -> Iterator[str]:
    """Publish all adults, then all minors, and read after each step who is said to be protected."""
    with closing(_curator(folder, budget=100)) as curator:
        before = frozenset(AGES)
        asked: list[Query] = [Count(epsilon="0.1"), _sample("adults"), _sample("adults"), _sample("minors")]
        for query in asked:
            number = len(curator.answers())
            effect = curator.preview(query, repeat=number).effect
            curator.ask(query, repeat=number)
            told = curator.statement()
            relation = told.total.relation if told.total is not None else None
            after = frozenset(age for age in AGES if relation is not None and _covers(relation, age))
            name = f"after {told.questions} questions"
            yield from (f"{name}, {problem}" for problem in _of_words(told, nobody=not after))
            if after < before and (effect is None or (not after and "nobody" not in str(effect))):
                yield f"{name}, whom the last one protects no more was not told before it"
            before = after


def _covers(relation: Relation, age: int) -> bool:
    """Say whether a record of this age is protected: whether it may go, as far as anybody can tell."""
    return relation.relates([{"age": age}], [], columns=COLUMNS)


def _of_words(told: Statement, *, nobody: bool) -> Iterator[str]:
    data, words = told.to_dict(), _words(told)
    if data["protected"].startswith("nobody") != nobody or ("Protected: nobody" in words) != nobody:
        yield f"{'nobody is' if nobody else 'some are'} protected, and it says: {data['protected']}"
    if to_nano(data["shown"]["epsilon"]) != told.spent_nano:
        yield f"ε = {data['shown']['epsilon']} is told and {data['spent']} was charged"
    relations = len(data["relations"])
    if relations > 1 and "on the first table is at most e^ε times that on the second" not in words:
        yield "no bound of the transcript is told, or none of ordered pairs"
    # One of them is one-sided: whoever is not protected may be added, and not be taken away.
    if "differs" in words or (relations > 1 and "falls by" not in words):
        yield "a bound is told of both directions that holds in one"
    if isinstance(told.total and told.total.relation, Intersection) and "changes by a factor" in words:
        yield "a bound is told of both directions that holds in one"


def _of_versions(folder: Path) -> Iterator[str]:
    """Ask about two versions of the table: in each of them others may be protected."""
    names = ("2025", "2026")
    for name in names:
        with closing(_curator(folder, version=name, budget=100)) as curator:
            curator.ask(_sample("adults"))
            told = curator.statement()
    if [item["version"] for item in told.to_dict()["versions"]] != list(names):
        yield "not all versions that were asked about are listed"
    if not all(name in _words(told) for name in names) or "in every one of them" not in _words(told):
        yield "it is not told of which versions the promise holds"


def _counted_once(charges: Iterable[Reservation]) -> tuple[Line, ...]:
    """Compose promises as if the same one, made twice, were one."""
    kept = {canonical_json(dict(item.record["guarantee"])): item for item in charges}
    return compose_charges(kept.values())


def _as_if_bounded(transaction: Transaction, kind: str, account: str | None, data: dict[str, Any]) -> Entry:
    """Begin an epoch as if the lost ledger had had the same budget and rules."""
    return _APPEND(transaction, kind, account, {**data, "bounded": True} if kind == "epoch" else data)


_APPEND = Transaction.append


def _said(name: str, text: Any) -> Callable[[], AbstractContextManager[None]]:
    return lambda: replaced(statement, name, text)


STATEMENT_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "a bound in spite of a lost ledger",
        "statement",
        _said(
            "_lost",
            lambda account, declarations, forfeited, epochs: "up to the budget" if forfeited else "nothing",
        ),
    ),
    SystemFault(
        "a lost part taken for one that changed no terms",
        "statement",
        lambda: replaced(Transaction, "append", _as_if_bounded),
    ),
    SystemFault("a lost ledger not mentioned", "statement", _said("_lost", lambda *_: "nothing")),
    SystemFault(
        "somebody said to be protected where nobody is",
        "statement",
        lambda: replaced(policies, "is_anyone_sensitive", lambda some, columns: True),
    ),
    SystemFault(
        "differs, where it falls",
        "statement",
        _said(
            "PER_TRANSCRIPT",
            "For every pair of tables in all relations used, the probability of these very answers differs "
            "by at most a factor e^ε.",
        ),
    ),
    SystemFault(
        "an intersection that changes, where it falls",
        "statement",
        lambda: replaced(Intersection, "difference", Relation.difference),
    ),
    SystemFault("versions left out", "statement", _said("versions_asked", lambda charges: ())),
    SystemFault("versions taken for one", "statement", _said("IN_EVERY_VERSION", "")),
    SystemFault("the same promise counted once", "statement", _said("compose_charges", _counted_once)),
    SystemFault(
        "no word of promises that a question ends",
        "statement",
        lambda: replaced(accountant, "effect_of", lambda *_: None),
    ),
)
