# SPDX-License-Identifier: Apache-2.0
"""Parts of a table: what may be asked of them, because the account's promise then still holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import anonymaly as am
from anonymaly.errors import Refused
from anonymaly.promise import Everyone, SensitiveRecords, SensitiveUnderPolicy, intersect
from anonymaly.questions.identify.binding import IdentifyBinding, bind

MODEL = am.AnomalyModel(["age"], radius=1, beta=20, k=2)
COLUMNS: dict[str, Any] = {
    "age": am.Interval(0, 120),
    "ward": am.Categories(["A", "B"]),
    "consent": am.Flag(),
}
RULES: dict[str, Any] = {
    "rare": MODEL,
    "exact": am.AnomalyModel(["ward"], radius=0, beta=20, k=2),
    "open": am.Policy("consent"),
    "groups": am.SameContexts(),
}
# Forty records of each kind. Of rows 39 to 78, one alone has the first one's values.
TABLE = pandas.DataFrame(
    {"age": [50.0] * 40 + [10.0] * 40, "ward": ["A"] * 40 + ["B"] * 40, "consent": [True, False] * 40}
)
PART = TABLE.iloc[39:79]


@pytest.fixture
def curator(tmp_path: Path) -> am.Curator:
    table = am.Dataset(TABLE, name="p", columns=COLUMNS, rules=RULES)
    return am.Curator(table, budget=100, adjacency="replace", ledger=tmp_path / "p.ledger")


OF_ALL_ROWS: list[Any] = [
    am.Identify(record={"age": 50}, model="rare", epsilon=2),
    am.Lookahead(columns=["ward"], model="exact", epsilon=1),
    am.Explain(record={"age": 50, "ward": "A"}, metric="age", attributes=["ward"], rule="groups", epsilon=1),
]


@pytest.mark.parametrize("query", OF_ALL_ROWS, ids=lambda query: query.question)
def test_a_promise_that_depends_on_other_rows_is_refused_of_a_part_before_the_charge(
    curator: am.Curator, query: Any
) -> None:
    part = curator.about(PART)
    for attempt in (part.ask, part.preview, lambda query: part.preview([query])):
        with pytest.raises(Refused, match="who is protected depends on all rows"):
            attempt(query)
    assert curator.spent == 0
    assert curator.preview(query).cost > 0  # of the whole table it may be asked


def test_such_an_answer_about_a_part_would_lose_more_than_its_charge(curator: am.Curator) -> None:
    """A pair of tables in the relation, and the exact law of the answer about rows 39 to 78 of each."""
    other = TABLE.copy()
    other.loc[39, "age"] = 10.0
    bound = bind(OF_ALL_ROWS[0], curator.declaration)
    tables = (TABLE.to_dict("records"), other.to_dict("records"))
    assert bound.relation.relates(*tables, columns=COLUMNS)
    with_one, with_none = (chance_of_yes(bound, count) for count in (1, 0))
    assert math.log(with_one / with_none) == pytest.approx(19.3, abs=0.1)


def chance_of_yes(bound: IdentifyBinding, count: int) -> float:
    """The probability of yes about a record that the rows hold so often, and none other near it."""
    verdict = bound.judge(np.array([count]), np.array([count]))
    rate, steps = float(bound.rate), int(verdict.steps[0])
    flip = math.exp(-rate * (steps - 1)) / (1 + math.exp(rate))
    return 1 - flip if verdict.anomalous[0] else flip


def test_promises_to_everyone_and_to_whom_a_policy_protects_are_kept_of_parts(curator: am.Curator) -> None:
    part = curator.about(PART)
    part.ask(am.Count(epsilon=1))
    part.ask(am.Score(columns=["age"], epsilon=1))
    part.ask(am.ShareSample(policy="open", columns=["age"], epsilon=1))
    part.ask(
        am.Identify(
            record={"age": 50}, columns=["age"], radius=1, beta=20, guarantee="differential", epsilon=1
        )
    )
    assert curator.spent == 4


def test_a_composition_is_a_matter_of_single_records_if_all_of_it_is() -> None:
    policies = [SensitiveUnderPolicy(None, am.Policy(text)) for text in ("consent", "age >= 18")]
    assert Everyone().of_single_records
    assert intersect(*policies).of_single_records
    assert not intersect(policies[0], SensitiveRecords("rare", MODEL)).of_single_records
