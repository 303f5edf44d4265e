# SPDX-License-Identifier: Apache-2.0
"""New records that are written as the table is: read as its own rows are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError
from anonymaly.finding.own_records import OwnRecords

COLUMNS: dict[str, Domain] = {
    "pay": am.Interval(0, 9000, read=am.Reading(decimal=",", thousands=".")),
    "ward": am.Categories(["Heart", "Eye"], read=am.Reading(trim=True, fold=True)),
}
NEW = pd.DataFrame({"name": ["new"], "pay": ["8.100,00"], "ward": ["heart  "]})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "staff.csv"
    lines = [f"1.{number % 900 + 100},50; heart" for number in range(400)]
    path.write_text("\n".join(["pay;ward", *lines]), "utf-8")
    return path


@pytest.fixture
def staff(file: Path) -> am.Dataset:
    return am.Dataset(file, name="staff", columns=COLUMNS, file={"delimiter": ";"})


@pytest.fixture
def curator(staff: am.Dataset, tmp_path: Path) -> am.Curator:
    return am.Curator(staff, budget=9, ledger=tmp_path / "staff.ledger")


def test_frames_and_files_are_read_as_the_table_is(
    staff: am.Dataset, curator: am.Curator, tmp_path: Path
) -> None:
    path = tmp_path / "new.csv"
    path.write_text("name;pay;ward\nnew;8.100,00;heart  \n", "utf-8")
    for records in (NEW, NEW.to_dict("records"), NEW.to_dict("list"), path, str(path)):
        for table in (staff, curator):
            found = am.read_alike(records, table)
            assert found.to_dict("list") == {"name": ["new"], "pay": [8100.0], "ward": ["Heart"]}


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pa.table, lambda columns: pd.DataFrame(columns).to_dict("records")]
)
def test_whole_numbers_beside_a_null_stay_what_they_are(staff: am.Dataset, kind: Any) -> None:
    numbers = pd.array([2**53 + 1, None], dtype="Int64")
    found = am.read_alike(kind({"pay": ["8,50", "9,50"], "number": numbers}), staff)
    assert found["number"].tolist() == [2**53 + 1, None]
    judged = OwnRecords.read(found, ["pay"])
    assert [record["number"] for record in judged.rows([0, 1])] == [2**53 + 1, None]


@pytest.mark.parametrize("records", [{"pay": ["1"], "name": ["a", "b"]}, [{"pay": "1"}, {"pay": 1}]])
def test_records_that_are_no_columns_are_refused(staff: am.Dataset, records: Any) -> None:
    with pytest.raises(InputError, match="records: has columns of different lengths, or values"):
        am.read_alike(records, staff)


def test_what_cannot_be_read_is_said(staff: am.Dataset) -> None:
    with pytest.warns(UserWarning, match="the records, pay: "):
        found = am.read_alike(NEW.assign(pay="viel"), staff)
    assert found["pay"].isna().all()


def test_what_is_written_there_is_shown_to_whoever_gave_it(staff: am.Dataset) -> None:
    with pytest.warns(UserWarning, match=r"the records, ward: 1 of 2 rows .*; written there: 'Foot' \(1\)"):
        am.read_alike(pd.DataFrame({"pay": ["1", "2"], "ward": ["Foot", "eye"]}), staff)


def test_texts_in_a_column_without_a_reading_are_refused_under_their_column() -> None:
    columns: dict[str, Domain] = {
        "pay": am.Interval(0, 9000),
        "at": am.Timestamps("2024-01-01", "2025-01-01"),
    }
    table = pd.DataFrame({"pay": [1.0], "at": pd.to_datetime(["2024-05-01"])})
    staff = am.Dataset(table, name="staff", columns=columns)
    with pytest.raises(InputError, match=r"records\.at: holds string, which .*pandas\.to_datetime"):
        am.read_alike([{"pay": 3.0, "at": "2024-05-01"}], staff)


def test_what_is_read_as_the_declared_other_value_is_no_unknown_label(tmp_path: Path) -> None:
    ward = am.Categories(["Heart", "Eye"], other="elsewhere", read=am.Reading(trim=True))
    people = pd.DataFrame({"pay": range(100), "ward": ["Heart", "Foot"] * 50})
    staff = am.Dataset(people, name="staff", columns={"pay": am.Interval(0, 100), "ward": ward})
    curator = am.Curator(staff, budget=9, ledger=tmp_path / "staff.ledger")
    new = am.read_alike([{"pay": 3, "ward": "Knee "}], curator)
    assert new["ward"].tolist() == ["elsewhere"]
    assert am.find(curator, new, epsilon=1, explain=0, preview=True).notes == ()


def test_a_path_is_no_frame_and_a_report_is_a_page(curator: am.Curator, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Of a file: am.read_alike\(path, table\)"):
        am.find(curator, "new.csv", epsilon=1)
    found = am.find(curator, am.read_alike(NEW, curator), epsilon=1, explain=0)
    with pytest.raises(InputError, match=r"must end in .html"):
        found.save(tmp_path / "report.docx")
    found.save(tmp_path / "report.html")


def test_what_has_no_names_of_columns_is_refused(staff: am.Dataset) -> None:
    with pytest.raises(InputError, match="must have named columns"):
        am.read_alike([[1, 2]], staff)


@pytest.mark.parametrize("table", [None, NEW, "staff.csv"])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(InputError, match="must be a table or an account"):
        am.read_alike(NEW, table)


def test_find_says_how_such_records_are_read_and_takes_them_then(curator: am.Curator) -> None:
    with pytest.raises(InputError, match=r"pay: must hold numbers.*am\.read_alike"):
        am.find(curator, NEW, epsilon=1)
    plan = am.find(curator, NEW.assign(pay=8100), epsilon=1, explain=0, preview=True)
    assert plan.notes[0].startswith(
        "ward: 1 of 1 record has a label that is not declared, and counts as other (row 1). If they"
    )
    assert curator.spent == 0
    found = am.find(curator, NEW.assign(pay=8100), epsilon=1, explain=0)
    assert f"note: {plan.notes[0]}" in str(found)
    assert "a label that is not declared" in found._repr_html_()
    alike = am.read_alike(NEW, curator)
    assert am.find(curator, alike, epsilon=1, explain=0, preview=True).notes == ()
    assert am.find(curator, alike, epsilon=1, explain=0).records[0]["ward"] == "Heart"
