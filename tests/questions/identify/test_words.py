# SPDX-License-Identifier: Apache-2.0
"""What an answer says in words, and how it calls the records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.errors import InputError
from anonymaly.questions.identify.value import show

NO = "no anomaly, or not in the data"
LABEL = "Mrs Example"


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[am.Curator]:
    rows = pandas.DataFrame({"age": [40.0] * 300 + [97.0]})
    rare = am.AnomalyModel(["age"], radius=2, beta=60, k=2)
    patients = am.Dataset(rows, name="patients", columns={"age": am.Interval(0, 120)}, rules={"rare": rare})
    curator = am.Curator(patients, budget=200, ledger=tmp_path / "patients.ledger")
    yield curator
    curator.close()


def ask(**fields: Any) -> am.Identify:
    return am.Identify(**{"model": "rare", "epsilon": 20, **fields})


def lines(answer: am.Answer | am.Preview) -> list[str]:
    return str(answer).splitlines()


def test_no_means_no_anomaly_or_not_in_the_data(curator: am.Curator) -> None:
    for age in (40, 10):  # one of many, and one that is not there
        answer = curator.ask(ask(record={"age": age}))
        assert answer.value is False
        assert lines(answer)[0] == NO
    assert lines(curator.ask(ask(record={"age": 97})))[0] == "an anomaly"


def test_a_record_is_called_by_its_label(curator: am.Curator) -> None:
    answer = curator.ask(ask(record={"age": 97}, label=LABEL))
    assert lines(answer)[0] == f"{LABEL}: an anomaly"
    assert answer.to_dict()["labels"] == [LABEL]
    assert lines(curator.ask(ask(record={"age": 40}, label="bed 3")))[0] == f"bed 3: {NO}"


def test_another_label_is_the_same_question_and_no_label_is_written_down(
    curator: am.Curator, tmp_path: Path
) -> None:
    charged = curator.ask(ask(record={"age": 97}, label=LABEL))
    again = curator.ask(ask(record={"age": 97}, label="somebody else"))
    assert (again.charged, again.number) == (0, charged.number)
    assert again.shown.startswith("somebody else: ")
    assert curator.ask(ask(record={"age": 97})).shown == "an anomaly"
    assert curator.answers()[0].labels is None
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not any(LABEL.encode() in path.read_bytes() for path in files)
    assert "label" not in json.dumps([entry.data for entry in curator.accountant.ledger.entries()])


def test_records_are_called_by_a_column_of_theirs(curator: am.Curator) -> None:
    frame = pandas.DataFrame({"age": [97, 40, 10], "id": ["p1", "p2", "p3"]})
    with pytest.raises(InputError, match=r"has id, which the model does not use.*label='id'"):
        curator.ask(ask(records=frame))
    answer = curator.ask(ask(records=frame, label="id"))
    assert lines(answer)[0] == f"1 of 3 records answered as anomalies: p1; the others: {NO}"
    assert answer.labels == ("p1", "p2", "p3")
    bare = curator.ask(ask(records=frame[["age"]]))
    assert (bare.charged, bare.value) == (0, answer.value)
    assert lines(bare)[0] == f"1 of 3 records answered as anomalies: number 1; the others: {NO}"
    by_age = curator.ask(ask(records=frame[["age"]], label="age"))
    assert by_age.labels == ("97", "40", "10")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"records": pandas.DataFrame({"age": [97]}), "label": "id"}, "the records have no column 'id'.*age"),
        ({"record": {"age": 97}, "label": ""}, "label: must not be empty"),
        ({"record": {"age": 97}, "label": 5}, "label: must be text"),
    ],
    ids=["no such column", "empty", "a number"],
)
def test_a_label_that_does_not_fit_is_refused(
    curator: am.Curator, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        curator.ask(ask(**fields))
    assert curator.spent == 0


def test_rehearsals_and_simulations_use_labels_too(curator: am.Curator) -> None:
    query = ask(record={"age": 97}, label=LABEL)
    assert curator.rehearse(query, seed=1).shown.startswith(f"{LABEL}: ")
    rows = am.Dataset(
        pandas.DataFrame({"age": [97.0]}),
        name="public",
        columns=curator.dataset.declaration.columns,
        rules=curator.dataset.declaration.rules,
        public=True,
    )
    assert am.simulate(query, rows, seed=1).shown == f"{LABEL}: an anomaly"


def test_of_a_long_batch_only_some_are_named() -> None:
    text = show([True] * 30 + [False], "", [f"p{number}" for number in range(31)])
    assert text.startswith("30 of 31 records answered as anomalies: p0, p1, ")
    assert text.endswith(f"p19 and 10 more; the others: {NO}")
    assert show([False, False], "") == f"0 of 2 records answered as anomalies; {NO}"
    assert show([True], "") == "1 of 1 records answered as anomalies: number 1"


WARNING = (
    "answers about anomalies among these 40 records are close to coin flips: each gets ε = 0.0025, because "
    "40 of their balls overlap, and about a record that is alone, or not in the data, it is wrong in 43 of "
    "100 cases, where a coin is in 50; score the records with one model instead (anonymaly find, or Score)"
)


def test_a_batch_of_coin_flips_says_so_first_and_names_a_better_way(curator: am.Curator) -> None:
    alike = pandas.DataFrame({"age": [97.0] * 40})
    preview = curator.preview(ask(records=alike, epsilon="0.1"))
    assert lines(preview)[0] == WARNING
    assert preview.to_dict()["warning"] == WARNING


def test_a_batch_that_is_answered_well_and_a_lone_record_get_no_such_warning(curator: am.Curator) -> None:
    apart = pandas.DataFrame({"age": [10.0, 40.0, 97.0]})
    for query in (ask(records=apart, epsilon=1), ask(record={"age": 97}, epsilon="0.001")):
        assert "warning" not in curator.preview(query).to_dict()
