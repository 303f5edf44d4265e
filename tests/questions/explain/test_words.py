# SPDX-License-Identifier: Apache-2.0
"""What explain says that it gives away is what it gives away."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import anonymaly as am
from anonymaly.detectors import LocalOutlierFactor

ROOT = Path(__file__).parents[3]
PRESENT = "shows for certain that the record asked about is in the data and stands out in that group"
OTHERS = "answers to several questions can show other members' exact values, whatever ε"


def plain(page: str) -> str:
    """Return a page's words, without line breaks and emphasis."""
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").replace("*", "").split())


@pytest.mark.slow
def test_a_list_of_thresholds_in_a_rule_gives_a_colleagues_exact_pay_away_at_next_to_no_epsilon(
    tmp_path: Path,
) -> None:
    secret, guesses = 73_412, range(73_400, 73_464)

    def factor(pay: int) -> float:
        return LocalOutlierFactor(k=1).factor([150_000, pay, 51_000], 0)

    # Between what the colleague's being paid a guess and one more would make of the factor.
    thresholds = {guess: (factor(guess) + factor(guess + 1)) / 2 for guess in guesses}
    staff = pandas.DataFrame(
        {
            "job": ["Nurse"] * 3 + ["Doctor"] * 30,
            "pay": [150_000.0, secret, 51_000.0, *(90_000.0 + 137 * number for number in range(30))],
        }
    )
    rule = am.SameContexts(
        detectors={"lof": {"k": [1], "threshold": [*thresholds.values()]}},
        least_epsilon="0.000000001",
        questions=6,
        start=True,
    )
    dataset = am.Dataset(
        staff,
        name="staff",
        columns={"job": am.Categories(["Nurse", "Doctor"]), "pay": am.Interval(0, 200_000, step=1)},
        rules={"groups": rule},
    )
    curator = am.Curator(dataset, budget="0.001", ledger=tmp_path / "staff.ledger")
    low, high = guesses[0], guesses[-1]
    while low < high:  # the factor falls as the colleague's pay grows
        middle = (low + high) // 2
        answer = curator.ask(
            am.Explain(
                record={"job": "Nurse", "pay": 150_000},
                metric="pay",
                attributes=["job"],
                detector="lof",
                parameters={"k": 1, "threshold": thresholds[middle]},
                search="random_walk",
                samples=1,
                start={"job": ["Nurse"]},
                rule="groups",
                epsilon="0.000000001",
            )
        )
        low, high = (middle + 1, high) if answer.value is None else (low, middle)
    assert low == secret
    assert len(curator.answers()) == rule.questions
    assert PRESENT in str(answer)
    assert OTHERS in str(answer)
    assert OTHERS in str(curator.statement())


def test_the_pages_say_so_first() -> None:
    page = plain("questions/explain.md")
    # Of the form under a rule, which gives that away; the form for everyone is the rest of the page.
    first = page.partition("## Under a rule")[2].split("```python")[0]
    assert PRESENT in first
    assert OTHERS in first
    assert "giving the other people in it away" not in page
    rules = plain("declaring.md")
    assert "An asker under this rule can test guesses about any record; ε does not limit that" in rules
