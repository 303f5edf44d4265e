# SPDX-License-Identifier: Apache-2.0
"""Questions and amendments at the same time, and a process that is killed while it amends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.errors import DeclarationChanged, ExpressionError
from anonymaly.ledger import Ledger
from anonymaly.ledger.declarations import asked_under

SPELLED = (["january", "may"], ["January", "May"])
AMENDMENTS, QUESTIONS, ASKERS = 10, 20, 3
FRAME = pandas.DataFrame({"month": ["January", "May"], "age": [30, 8]})

KILLED = """
import json, sys
from anonymaly.ledger import Ledger
with Ledger.open(sys.argv[1]) as ledger:
    fixed = {"adjacency": "add_remove", "public": False, "unit": {"person": None, "max_rows": 1}}
    for step in range(10_000):
        columns = {"month": {"type": "categories", "values": [f"month {step}"]}}
        account = ledger.amend("cases", {"columns": columns, **fixed, "key": None}, rules={},
                               reason=f"step {step}", learned_from_rows=False)
        print(json.dumps([account.number, step]), flush=True)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "cases.ledger")
    address: str = request.getfixturevalue("postgres")
    return address


def cases(spelling: int) -> am.Dataset:
    columns = {"month": am.Categories(SPELLED[spelling]), "age": am.Interval(0, 120)}
    return am.Dataset(FRAME, name="cases", columns=columns)


@pytest.fixture
def opened(location: str, tmp_path: Path) -> Callable[[int], am.Curator]:
    def opened(spelling: int) -> am.Curator:
        places = {"ledger": location, "store": tmp_path / "answers", "secret": tmp_path / "cases.secret"}
        return am.Curator(cases(spelling), budget=1000, **places)

    return opened


def refuse_mixed(ledger: Ledger) -> int:
    """Check that every charge names the declaration in force at its entry, and fits it; return how many."""
    declared, charges = ledger.declarations("cases"), ledger.reservations("cases")
    for charge in charges:
        under = asked_under(declared, charge)
        assert charge.declaration == under.number
        values = under.declaration["columns"]["month"]["values"]
        assert any(f"'{value}'" in charge.record["query"]["where"] for value in values)
    assert ledger.verify().ok
    return len(charges)


def asked(spelling: int, number: int) -> am.Count:
    return am.Count(where=f"month == '{SPELLED[spelling][0]}' and age < {number}", epsilon="0.1")


@pytest.mark.slow
def test_no_charge_crosses_an_amendment_when_others_amend_while_it_is_asked(
    opened: Callable[[int], am.Curator],
) -> None:
    opened(0).ask(asked(0, 0))

    def ask(asker: int) -> None:
        curator, spelling = None, 0
        for number in range(QUESTIONS):
            answered = False
            while not answered:
                try:
                    curator = curator or opened(spelling)
                    curator.ask(asked(spelling, ASKERS * number + asker))
                    answered = True
                except DeclarationChanged:
                    curator, spelling = None, 1 - spelling

    def amend() -> None:
        curator = opened(0)
        for number in range(AMENDMENTS):
            curator.amend(cases((number + 1) % 2), reason=f"amendment {number}")

    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, asker) for asker in range(ASKERS)]
        pool.submit(amend).result()
        for item in waiting:
            item.result()
    curator = opened(0)
    # A question that was asked in one spelling may be asked in the other: never twice in the same.
    assert QUESTIONS * ASKERS <= refuse_mixed(curator.accountant.ledger) <= 2 * QUESTIONS * ASKERS + 1
    assert len(curator.accountant.ledger.declarations("cases")) == AMENDMENTS + 1


@pytest.mark.slow
def test_threads_that_share_a_curator_never_mix_two_declarations(opened: Callable[[int], am.Curator]) -> None:
    curator = opened(0)
    curator.ask(asked(0, 0))

    def ask(asker: int) -> int:
        answered = 0
        for number in range(QUESTIONS):
            for spelling in (0, 1):
                try:
                    curator.ask(asked(spelling, ASKERS * number + asker))
                    answered += 1
                except (DeclarationChanged, ExpressionError):
                    pass  # it is the other one that is in force
        return answered

    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, asker) for asker in range(ASKERS)]
        for number in range(AMENDMENTS):
            curator.amend(cases((number + 1) % 2), reason=f"amendment {number}")
        assert sum(item.result() for item in waiting) > 0
    assert refuse_mixed(curator.accountant.ledger) > 1


@pytest.mark.slow
def test_an_amendment_of_a_killed_process_is_in_force_as_a_whole_or_not_at_all(location: str) -> None:
    fixed = {"adjacency": "add_remove", "public": False, "unit": {"person": None, "max_rows": 1}}
    with Ledger.open(location) as ledger:
        ledger.open_account("cases", {"columns": {}, **fixed, "key": None}, limit=10**9, rules={})
    for kill in range(4):
        number, step = _amend_until_killed(location, after=kill)
        with Ledger.open(location) as ledger:
            assert ledger.verify().ok
            account = ledger.account("cases")
            newest = ledger.declarations("cases")[-1]
            # What was reported is there; one more may be, whose report was cut off.
            assert account.number in (number, number + 1)
            step += account.number - number
            assert newest.reason == f"step {step}"
            assert account.declaration["columns"]["month"]["values"] == [f"month {step}"]


def _amend_until_killed(location: str, after: int) -> Any:
    child = subprocess.Popen([sys.executable, "-c", KILLED, location], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(after):
        child.stdout.readline()
    last = child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate()
    # Lines that were written before the signal arrived; the last may be half a line.
    complete = [line for line in rest.split("\n")[:-1] if line]
    return json.loads(complete[-1] if complete else last)
