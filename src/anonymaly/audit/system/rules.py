# SPDX-License-Identifier: Apache-2.0
"""Does a rule for contexts bind whoever asks?

Validity is told without noise, so what such a rule allows is all that limits what it tells. Here an asker
tries what a narrow rule forbids, asks one question at several ε, and asks two at once where one is left: the
second is charged when the first has found that one is left, and before the first is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from anonymaly.ask.curator import Curator
from anonymaly.ask.store import Store
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import SameContexts
from anonymaly.errors import Refused
from anonymaly.ledger import Ledger, Reservation
from anonymaly.questions.explain import under_rule
from anonymaly.questions.explain.query import Explain

ALLOWED = 2
# Each once gave away more than a question should: see GUARANTEE.md of explain.
FORBIDDEN: Mapping[str, Mapping[str, Any]] = {
    "a threshold below which nearly everybody stands out": {"parameters": {"threshold": 1e-9}},
    "a start": {"search": "random_walk", "start": {"ward": ["A"]}},
    "next to no ε": {"epsilon": "0.000000001"},
    "a cut of the asker's own": {
        "record": {"age": 90, "stay": 3},
        "attributes": [Bins("stay", [0, 5, 10])],
    },
}


def rules_problems() -> Problems:
    """Yield every question that a rule for contexts lets pass and must not.

    Examples
    --------
    >>> fault = RULES_FAULTS[0]
    >>> fault.name, fault.is_rejected(rules_problems)
    ("a rule that forgets the detector's parameters", True)
    """
    with _opened() as curator:
        for what, fields in FORBIDDEN.items():
            if not _is_refused(curator, _question(90, **fields)):
                yield f"a narrow rule allows {what}"
    with _opened() as curator:
        for epsilon in ("0.1", "0.2", "0.3"):
            if _is_refused(curator, _question(90, epsilon=epsilon)):
                yield "one question at several ε is counted more than once"
        if _is_refused(curator, _question(91)):
            yield f"a rule allows {ALLOWED} questions, and the second is refused"
        if not _is_refused(curator, _question(92)):
            yield f"a rule allows {ALLOWED} questions, and {ALLOWED + 1} were charged"
        yield from curator.accountant.verify().problems
    with _opened() as curator:
        curator.ask(_question(90))
        yield from _two_at_once(curator)


def _two_at_once(curator: Curator) -> Iterator[str]:
    """Ask two questions where one is left, the second in the middle of the first."""
    look = Store.refuse_unwritable
    asked: list[Explain] = []

    def looked(store: Store) -> None:
        if not asked:  # the first question, which has found that one is left
            asked.append(_question(92))
            curator.ask(asked[0])
        look(store)

    with replaced(Store, "refuse_unwritable", looked):
        if not _is_refused(curator, _question(91)):
            yield "two questions were charged at once where a rule had one left"


@contextmanager
def _opened() -> Iterator[Curator]:
    ages = pa.array([30, 31, 33, 35, 36, 90], pa.float64())
    dataset = Dataset(
        pa.table({"age": ages, "ward": list("ABABBA"), "stay": ages}),
        name="patients",
        columns={"age": Interval(0, 120), "ward": Categories(["A", "B"]), "stay": Interval(0, 120)},
        rules={"groups": SameContexts(questions=ALLOWED)},
    )
    with (
        TemporaryDirectory() as folder,
        closing(Curator(dataset, budget=5, ledger=Path(folder) / "patients.ledger")) as curator,
    ):
        yield curator


def _question(age: int, **fields: Any) -> Explain:
    asked = {
        "record": {"age": age, "ward": "A"},
        "metric": "age",
        "attributes": ["ward"],
        "detector": "mad",
        "rule": "groups",
        "epsilon": "0.1",
    }
    return Explain(**{**asked, **fields})


def _is_refused(curator: Curator, query: Explain) -> bool:
    try:
        curator.ask(query)
    except Refused:
        return True
    return False


@contextmanager
def _counted_afterwards() -> Iterator[None]:
    """Look at a counter before the charge, and count after it."""

    def reserve(
        ledger: Ledger, account: str, *, counters: Mapping[str, int], once: Mapping[str, str], **named: Any
    ) -> Reservation:
        made = _RESERVE(ledger, account, **named)
        used = {item.name: item.used for item in ledger.counters(account)}
        for name, limit in counters.items():
            if once[name] not in used:
                more = {name: min(used.get(name, 0) + 1, limit), once[name]: 1}
                for counter, number in more.items():
                    most = limit if counter == name else 1
                    ledger.limit_counter(account, counter, most, used=number, by="nobody", reason="none")
        return made

    with replaced(Ledger, "reserve", reserve):
        yield


def _with_epsilon(query: Explain, *given: Any) -> Any:
    return {"epsilon": str(query.epsilon), **_SAME(query, *given)}


_RESERVE = Ledger.reserve
_SAME: Callable[..., Mapping[str, Any]] = under_rule._same

RULES_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "a rule that forgets the detector's parameters",
        "rules",
        lambda: replaced(under_rule, "_is_one_of", lambda value, allowed: True),
    ),
    SystemFault(
        "a rule that lets the asker cut numbers",
        "rules",
        lambda: replaced(under_rule, "_of_another_cut", lambda *given: None),
    ),
    SystemFault("a rule's counter outside of the transaction", "rules", _counted_afterwards),
    SystemFault(
        "questions under a rule counted by their ε, too",
        "rules",
        lambda: replaced(under_rule, "_same", _with_epsilon),
    ),
)
