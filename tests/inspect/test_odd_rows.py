# SPDX-License-Identifier: Apache-2.0
"""The owner's look at the oddest of the table's own rows: exact, free, and never through a curator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonymaly as am
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError, Refused
from anonymaly.questions.explain.everyone.inspect import best_group
from anonymaly.questions.score.inspect import exact_model

COLUMNS = {
    "pay": am.Interval(0, 1000),
    "job": am.Categories(["Nurse", "Doctor", "Clerk"]),
    "note": am.Opaque(),
}


def _rows() -> pd.DataFrame:
    random = np.random.default_rng(1)
    rows = pd.DataFrame(
        {
            "pay": np.append(random.normal(100, 5, 400), random.normal(600, 20, 200)).round(),
            "job": ["Nurse"] * 300 + [None] * 100 + ["Doctor"] * 200,
            "note": "secret",
        }
    )
    rows.loc[600] = [590.0, "Nurse", "secret"]  # usual for a doctor
    rows.loc[601] = [101.0, "Clerk", "secret"]  # there is one
    return rows


@pytest.fixture
def dataset() -> am.Dataset:
    return am.Dataset(_rows(), name="staff", columns=COLUMNS)


def test_the_models_counts_are_those_of_the_rows_and_the_same_each_time(dataset: am.Dataset) -> None:
    first, second = (exact_model(dataset, ["pay", "job"]) for _ in range(2))
    labels = first._body["columns"][-5:].tolist()
    assert labels == [301, 200, 1, 0, 100], "each label, other, and missing"
    assert int(first._body["columns"][:-5].sum()) == 602
    assert int(first._body["pairs"].sum()) in (0, 602)
    assert not first._body["deviations"].any()
    assert all(np.array_equal(first._body[name], second._body[name]) for name in first._body)


def test_the_exact_model_cannot_be_kept(dataset: am.Dataset, tmp_path: Path) -> None:
    model = exact_model(dataset, ["pay", "job"])
    with pytest.raises(Refused):
        model.save(tmp_path / "exact.model")
    assert "Nothing is promised" in model.promise


def test_the_best_group_is_exact(dataset: am.Dataset) -> None:
    query = am.Explain(record={"pay": 590, "job": "Nurse"}, metric="pay", attributes=["job"], epsilon="0.01")
    found = best_group(dataset, query)
    (group,) = found.groups
    assert str(group) == "among records with job = Nurse"
    assert group.size == 301
    assert found.reason(group).startswith("301 records; about half of them"), "it is exact, and not about 301"
    pay = _rows().query("job == 'Nurse'")["pay"]
    assert group.quartiles == pytest.approx(np.quantile(pay, [0.25, 0.5, 0.75]), abs=2)
    usual = am.Explain(record={"pay": 100, "job": "Nurse"}, metric="pay", attributes=["job"], epsilon=1)
    assert best_group(dataset, usual).groups == ()


def test_the_oddest_rows_come_with_reasons_and_groups(
    dataset: am.Dataset, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = am.inspect.odd(dataset, top=2)
    assert "for the owner alone" in capsys.readouterr().err
    assert {item.row for item in found.odd} == {601, 602}
    nurse = next(item for item in found.odd if item.row == 601)
    assert nurse.record == {"pay": 590.0, "job": "Nurse"}, "columns that are never looked into stay out"
    assert nurse.explained is not None
    assert nurse.explained.explanation is not None
    assert str(nurse.explained.explanation.groups[0]) == "among records with job = Nurse"
    clerk = next(item for item in found.odd if item.row == 602)
    assert clerk.reason.parts[0].columns == ("job",)
    found.save(tmp_path / "odd.html")
    assert "for the owner alone" in (tmp_path / "odd.html").read_text("utf-8")
    assert json.loads(json.dumps(found.to_dict()))["rows"] == 602
    assert list(tmp_path.iterdir()) == [tmp_path / "odd.html"], "there is no ledger"


def test_a_curator_is_no_dataset_and_a_table_of_labels_has_no_odd_number(dataset: am.Dataset) -> None:
    with pytest.raises(InputError, match="no number"):
        am.inspect.odd(dataset, columns=["job"])
    with pytest.raises(InputError, match="top"):
        am.inspect.odd(dataset, top=0)


def test_rows_outside_the_bounds_are_counted_as_they_may_rank_low() -> None:
    rows = _rows().assign(seen=pd.Timestamp("2024-05-01"))
    rows.loc[3, "pay"] = -5.0
    rows.loc[4, "pay"] = 100_000.0
    rows.loc[3, "seen"] = pd.Timestamp("1924-05-01")
    columns: dict[str, Domain] = {
        "pay": am.Interval(0, 1000),
        "seen": am.Timestamps("2024-01-01", "2024-12-31"),
    }
    found = am.inspect.odd(am.Dataset(rows, name="staff", columns=columns), top=1)
    assert [note.partition(" are ")[0] for note in found.notes] == [
        "pay: 2 of 602 rows",
        "seen: 1 of 602 rows",
    ]
    assert "note: pay: 2 of 602 rows are outside the declared bounds" in str(found)
    assert "anonymaly inspect columns" in found._repr_html_()
    assert found.to_dict()["notes"] == list(found.notes)
    assert am.inspect.odd(am.Dataset(rows, name="staff", columns=columns), columns=["pay"]).notes[1:] == ()


def test_rows_within_the_bounds_need_no_note(dataset: am.Dataset) -> None:
    assert am.inspect.odd(dataset, top=1).notes == ()


def test_a_column_without_declared_bounds_has_those_of_the_rows() -> None:
    rows = pd.DataFrame({"x": [1.0] * 200 + [2.0] * 200 + [1000.0]})
    found = am.inspect.odd(am.Dataset(rows, name="free", columns={"x": am.Unbounded()}), top=1)
    assert found.records == [{"x": 1000.0}]
