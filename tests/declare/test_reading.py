# SPDX-License-Identifier: Apache-2.0
"""What an owner can declare about how values are written, and what follows for questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.attributes import read_attributes
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, read_domain
from anonymaly.declare.filters import parse
from anonymaly.declare.manifest import Manifest
from anonymaly.declare.publication import Publication
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError, ManifestError, SchemaError
from tests.declare.tables import records

DECLARED: list[Domain] = [
    am.Interval(0, 1, read=am.Reading(decimal=",", thousands=".", signs=["€"], nulls=["-"])),
    am.Unbounded(read=am.Reading()),
    am.Categories(["Male", "Female"], other="Other", read=am.Reading(same={"Male": ["M", "m"]}, trim=True)),
    am.Categories([1, 2], other=0),
    am.Flag(read=am.Reading(means_true=["ja"], means_false=["nein"], fold=True)),
    am.Timestamps(
        "2020-01-01", "2021-01-01", read=am.Reading(dates=["%d.%m.%Y", "iso"], zone="UTC", unix="seconds")
    ),
    am.Opaque(read=am.Reading(nulls=["", "x"])),
]


@pytest.mark.parametrize("domain", DECLARED, ids=lambda domain: domain.type)
def test_a_reading_is_part_of_the_declaration_and_is_read_back(domain: Domain) -> None:
    plain = json.loads(domain.to_json())
    assert read_domain(plain, field="columns.c") == domain
    assert type(domain).from_dict(plain) == domain
    assert hash(read_domain(plain, field="columns.c")) == hash(domain)


def test_a_column_without_a_reading_is_declared_by_the_text_of_before() -> None:
    assert am.Interval(0, 120).to_json() == '{"high":120,"low":0,"step":null,"type":"interval"}'
    assert am.Categories(["A"]).to_json() == '{"type":"categories","values":["A"]}'
    assert repr(am.Flag()) == "Flag(type='flag')"
    declared = Declaration.read(name="x", columns={"a": am.Flag()})
    assert declared.to_dict().keys() == {"columns", "unit", "key", "public", "adjacency"}


def test_the_order_of_a_list_without_an_order_means_nothing() -> None:
    assert am.Reading(nulls=["b", "a", "b"], signs=["€", "$"]) == am.Reading(
        nulls=["a", "b"], signs=["$", "€"]
    )
    assert am.Reading(dates=["%Y", "iso"]) != am.Reading(dates=["iso", "%Y"])


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown token": ({"dates": ["%d.%m.%Y %k"]}, "dates", "%k, which is not known"),
    "no year": ({"dates": ["%d.%m."]}, "dates", "has month without year"),
    "no token": ({"dates": ["today"]}, "dates", "has no year"),
    "a day without a month": ({"dates": ["%d %Y"]}, "dates", "has day without month"),
    "a minute without an hour": ({"dates": ["%Y-%m-%d %M"]}, "dates", "has minute without hour"),
    "half a clock": ({"dates": ["%Y-%m-%d %I:%M"]}, "dates", "without the other"),
    "a month twice": ({"dates": ["%d %b %m %Y"]}, "dates", "says the month twice"),
    "a lone percent sign": ({"dates": ["%d.%m.%Y %"]}, "dates", "not known"),
    "a backslash": ({"dates": ["%d\\%m\\%Y"]}, "dates", "which no format can have"),
    "an empty format": ({"dates": [""]}, "dates", "1 to 100 characters"),
    "the same separators": ({"decimal": ",", "thousands": ","}, "thousands", "as decimal is"),
    "the default separator": ({"thousands": "."}, "thousands", "as decimal is"),
    "another separator": ({"decimal": "'"}, "decimal", "must be"),
    "an empty sign": ({"signs": [""]}, "signs", "1 to 200 characters"),
    "a sign with a digit": ({"signs": ["m2"]}, "signs", "no digits"),
    "a sign with a minus": ({"signs": ["-€"]}, "signs", "no plus or minus"),
    "a sign with a space": ({"signs": ["€ "]}, "signs", "no spaces"),
    "signs that begin alike": ({"signs": ["Fr", "Fr."]}, "signs", "told apart"),
    "an unknown zone": ({"zone": "Europe/Berlinn"}, "zone", "there is no time zone"),
    "a path as a zone": ({"zone": "/etc/passwd"}, "zone", "there is no time zone"),
    "an unknown unit": ({"unix": "days"}, "unix", "must be"),
    "words for true alone": ({"means_true": ["ja"]}, "means_true", "is given alone"),
    "a word for both": ({"means_true": ["x"], "means_false": ["x "]}, "means_false", "means true and false"),
    "folded words for both": (
        {"means_true": ["X"], "means_false": ["x"], "fold": True}, "means_false", "means true and false"
    ),
    "a word that means null": ({"means_true": ["x"], "means_false": ["-"], "nulls": ["-"]}, "nulls", "null"),
    "a spelling of two values": ({"same": {"a": ["x"], "b": ["x"]}}, "same", "means the value a and"),
    "one spelling": ({"same": {"a": "x"}}, "same", "list of spellings"),
    "numbers": ({"nulls": [999]}, "nulls", "must be text"),
    "a set": ({"nulls": {"a"}}, "nulls", "has no order"),
    "a character": ({"nulls": ["\0"]}, "nulls", "texts of 0 to 200"),
    "an unknown field": ({"decimals": ","}, "decimals", "is not a field of Reading. Did you mean decimal?"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_reading_that_cannot_be_meant_is_refused(name: str) -> None:
    fields, field, reason = REFUSED[name]
    with pytest.raises(InputError) as refused:
        am.Reading(**fields)
    assert reason in str(refused.value)
    assert (refused.value.field or "").startswith(field)
    assert refused.value.next_step
    # In the declaration of a column and of a file, the field says where.
    column = {"type": "opaque", "read": fields}
    with pytest.raises(InputError) as refused:
        read_domain(column, field="columns.c")
    assert (refused.value.field or "").startswith(f"columns.c.read.{field}")


UNFIT: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "flag", "read": {"decimal": ","}}, "columns.c.read.decimal", "kind flag"),
    (
        {"type": "categories", "values": [1], "read": {"same": {"1": ["x"]}}},
        "columns.c.read.same",
        "whole number",
    ),
    (
        {"type": "interval", "low": 0, "high": 1, "read": {"dates": ["iso"]}},
        "columns.c.read.dates",
        "kind number",
    ),
    ({"type": "opaque", "read": {"zone": "UTC"}}, "columns.c.read.zone", "kind opaque"),
    ({"type": "flag", "read": "ja"}, "columns.c.read", "must be a mapping"),
    ({"type": "categories", "values": ["a"], "read": {"same": {"b": ["x"]}}}, "columns.c.read.same", "'b'"),
    (
        {"type": "categories", "values": ["a", "b"], "read": {"same": {"b": ["a"]}}},
        "columns.c.read.same",
        "value a",
    ),
    ({"type": "categories", "values": ["a", "A"], "read": {"fold": True}}, "columns.c.read.same", "value A"),
    ({"type": "categories", "values": ["a", "-"], "read": {"nulls": ["-"]}}, "columns.c.read.nulls", "null"),
    ({"type": "categories", "values": ["a"], "other": "a"}, "columns.c.other", "one of the values"),
    ({"type": "categories", "values": ["a"], "other": 1}, "columns.c.other", "not of their kind"),
    ({"type": "categories", "values": ["a"], "other": True}, "columns.c.other", "true or false"),
    ({"type": "categories", "values": {"file": "x.csv"}}, "columns.c.values", "must be a list"),
]


@pytest.mark.parametrize(("column", "field", "reason"), UNFIT, ids=lambda item: str(item)[:40])
def test_what_says_nothing_about_a_column_is_refused(column: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        read_domain(column, field="columns.c")
    assert refused.value.field == field
    assert reason in str(refused.value)


def test_defaults_of_a_file_are_resolved_into_the_columns_they_say_something_about() -> None:
    declared = Declaration.read(
        name="x",
        columns={
            "cost": am.Interval(0, 1, read=am.Reading(signs=["€"])),
            "old": am.Interval(0, 1, read=am.Reading(decimal=".", thousands=None, nulls=[])),
            "sex": am.Categories(["a"]),
            "seen": am.Timestamps("2020-01-01", "2021-01-01"),
        },
        reading=am.Reading(decimal=",", thousands=".", nulls=["NA"], dates=["%Y"]),
    )
    assert {name: domain.read for name, domain in declared.columns.items()} == {
        "cost": am.Reading(decimal=",", thousands=".", nulls=["NA"], signs=["€"]),
        "old": am.Reading(),  # what a column says itself counts, field by field
        "sex": am.Reading(nulls=["NA"]),
        "seen": am.Reading(nulls=["NA"], dates=["%Y"]),
    }
    only = Declaration.read(name="x", columns={"sex": am.Categories(["a"])}, reading=am.Reading(decimal=","))
    assert only.to_dict() == Declaration.read(name="x", columns={"sex": am.Categories(["a"])}).to_dict()


def test_defaults_that_do_not_go_with_a_column_are_refused_at_that_column() -> None:
    with pytest.raises(InputError) as refused:
        Declaration.read(
            name="x", columns={"ward": am.Categories(["A", "-"])}, reading=am.Reading(nulls=["-"])
        )
    assert refused.value.field == "columns.ward.read.nulls"
    with pytest.raises(InputError, match="cannot be a default") as refused:
        Declaration.read(name="x", columns={"a": am.Flag()}, reading=am.Reading(same={"a": ["b"]}))
    assert refused.value.field == "reading.same"


MESSY = """
name: patients
source: patients.csv
file: {encoding: windows-1252, delimiter: ";"}
rows: 50000
reading:
  nulls: ["", "NA", "?", "-"]
  decimal: ","
  thousands: "."
  dates: ["%d.%m.%Y", "%d/%m/%Y %H:%M"]
  trim: true
  fold: true
columns:
  cost: {type: interval, low: 0, high: 100000, read: {signs: ["€", EUR]}}
  sex: {type: categories, values: [Male, Female], read: {same: {Male: [M], Female: [F, w]}}, other: Other}
  consent: {type: flag, read: {means_true: [ja, "1"], means_false: [nein, "0"]}}
  admitted: {type: timestamps, start: 2020-01-01, end: 2026-12-31}
  ward: {type: categories, values: {file: wards.csv, column: code}}
budget: 2
"""
ROWS = """Nr;cost;sex;consent;admitted;ward
1;1.234,50 €;m;JA;31.01.2021;Ä1
2;EUR 7;Frau;nein;31/02/2021 10:00;Ö2
3;?; W ;-;1/2/2021 9:05;x
"""


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    (tmp_path / "patients.csv").write_bytes(ROWS.encode("cp1252"))
    (tmp_path / "wards.csv").write_text('name,code\n"Surgery, general",Ä1\nEye,Ö2\n', "utf-8")
    (tmp_path / "p.yaml").write_text(MESSY, "utf-8")
    return tmp_path


def test_a_messy_file_is_read_as_its_manifest_says(messy: Path) -> None:
    manifest = Manifest.load(messy / "p.yaml")
    rows = [tuple(str(item) for item in row) for row in records(manifest.dataset(messy))]
    assert sorted(rows) == sorted(
        [
            ("1234.5", "Male", "True", "2021-01-31 00:00:00", "Ä1"),
            ("7.0", "Other", "False", "None", "Ö2"),
            ("None", "Female", "None", "2021-02-01 09:05:00", "x"),
        ]
    )
    assert manifest.declaration().about_rows == 50_000
    assert manifest.declaration().to_dict()["rows"] == 50_000


def test_a_manifest_holds_the_values_of_its_files(messy: Path) -> None:
    manifest = Manifest.load(messy / "p.yaml")
    assert manifest.columns["ward"]["values"] == ["Ä1", "Ö2"]
    (messy / "wards.csv").unlink()
    assert Manifest.read(manifest.to_dict()) == manifest
    assert manifest.declaration().columns["ward"] == am.Categories(["Ä1", "Ö2"], read=am.Reading(
        nulls=["", "NA", "?", "-"], trim=True, fold=True
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "asked", "values"),
    [
        ("w.txt", "A\nB, or C\n\n", "{file: w.txt}", ["A", "B, or C"]),
        ("w.csv", 'A,1\n"B, or C",2\n', "{file: w.csv}", ["A", "B, or C"]),
        ("w.csv", "\ufeffward;n\nA;1\nA;2\n", "{file: w.csv, column: ward}", ["A"]),
        ("w.tsv", "n\tward\n1\t010\n", "{file: w.tsv, column: ward}", ["010"]),
    ],
)
def test_categories_may_be_in_a_file_beside_the_manifest(
    name: str, content: str, asked: str, values: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "p.yaml").write_text(
        f"name: p\nsource: p.csv\ncolumns: {{w: {{type: categories, values: {asked}}}}}\n"
    )
    assert Manifest.load(tmp_path / "p.yaml").declaration().columns == {"w": am.Categories(values)}


@pytest.mark.parametrize(
    ("content", "asked", "reason"),
    [
        (b"A\n", "{file: v.csv}", "cannot read v.csv"),
        (b"\xff\xfe", "{file: w.csv}", "cannot read w.csv"),
        (b"", "{file: w.csv}", "has no values"),
        (b"a,b\n1,2\n", "{file: w.csv, column: c}", "has no column 'c'"),
        (b"A\n", "{path: w.csv}", "must be a list, or {file"),
        (b"A\n", "{file: [w.csv]}", "must be a list, or {file"),
        (b"A" * 10_000_001, "{file: w.csv}", "more than 10,000,000 bytes"),
    ],
)
def test_a_file_of_values_that_cannot_be_read_is_refused(
    content: bytes, asked: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "w.csv").write_bytes(content)
    (tmp_path / "p.yaml").write_text(
        f"name: p\nsource: p.csv\ncolumns: {{w: {{type: categories, values: {asked}}}}}\n"
    )
    with pytest.raises(ManifestError) as refused:
        Manifest.load(tmp_path / "p.yaml")
    assert reason in str(refused.value)
    assert (refused.value.field, bool(refused.value.next_step)) == ("columns.w.values", True)


def test_a_question_mark_may_mean_null_and_is_still_to_be_declared_elsewhere(tmp_path: Path) -> None:
    manifest = (
        'name: p\nsource: p.csv\nreading: {nulls: ["?"]}\ncolumns: {w: {type: categories, values: [%s]}}\n'
    )
    (tmp_path / "p.yaml").write_text(manifest % "A")
    assert Manifest.load(tmp_path / "p.yaml").declaration().columns["w"].read == am.Reading(nulls=["?"])
    (tmp_path / "p.yaml").write_text(manifest % '"?"')
    with pytest.raises(ManifestError, match="still to be declared"):
        Manifest.load(tmp_path / "p.yaml")


SEX = {"sex": am.Categories(["Male", "Female"], other="Other"), "age": am.Interval(0, 120)}
PEOPLE = pa.table({"sex": ["Male", "divers", None, "Female", "Other"], "age": [30, 40, 50, 60, 70]})


def test_what_is_undeclared_is_the_other_category_in_filters_and_groups() -> None:
    dataset = am.Dataset(PEOPLE, name="x", columns=SEX)
    assert collect(dataset.table)["sex"].to_pylist() == ["Male", "Other", None, "Female", "Other"]
    assert str(parse("sex == 'Other'", SEX)) == "sex == 'Other'"
    assert read_attributes(["sex"], SEX)[0].values == ("Male", "Female", "Other")
    public = am.Dataset(PEOPLE, name="x", columns=SEX, public=True)
    by_sex = am.ShareHistogram(by=["sex"], method="geometric", epsilon=100)
    histogram = am.simulate(by_sex, public, seed=1).value
    assert histogram.estimates.tolist() == [1, 1, 2]
    assert am.simulate(am.Count(where="sex == 'Other'", epsilon=100), public, seed=1).value == 2


def test_the_other_category_is_outside_of_the_domain_for_policies_and_publication() -> None:
    dataset = am.Dataset(PEOPLE, name="x", columns=SEX)
    for text in ("sex != 'Male'", "sex == 'Other'", "sex in ['Female', 'Other']"):
        policy = am.Policy(text).resolve(SEX, field="rule")
        judged = collect(dataset.judged(policy)).to_pylist()
        for row in judged:
            assert row[NON_SENSITIVE] == (not policy.sensitive(row, SEX))
            assert not (row["sex"] == "Other" and row[NON_SENSITIVE])
    published = Publication(am.Policy("age >= 18").resolve(SEX, field="rule"), ("sex",))
    shown = [row["sex"] for row in collect(dataset.judged(published)).to_pylist() if row[NON_SENSITIVE]]
    assert shown == ["Male", None, "Female"]


def test_a_reading_lets_a_column_of_text_be_a_number_a_flag_or_a_moment() -> None:
    table = pa.table({"c": ["1,5"]})
    with pytest.raises(SchemaError, match="does not fit"):
        _ = am.Dataset(table, name="x", columns={"c": am.Unbounded()}).table
    read = am.Dataset(table, name="x", columns={"c": am.Unbounded()}, reading=am.Reading(decimal=","))
    assert read.check()[0].problem is None
    assert collect(read.table)["c"].to_pylist() == [1.5]


def test_objects_of_pandas_are_read_as_declared() -> None:
    frame = pandas.DataFrame({"c": ["1.234,5", 7, None, "x"]})
    columns = {"c": am.Unbounded(read=am.Reading(decimal=",", thousands="."))}
    assert collect(am.Dataset(frame, name="x", columns=columns).table)["c"].to_pylist() == [
        1234.5,
        7.0,
        None,
        None,
    ]


def test_a_changed_reading_is_another_declaration(tmp_path: Path) -> None:
    def open_curator(**options: Any) -> am.Curator:
        dataset = am.Dataset(PEOPLE, name="x", columns={"age": am.Interval(0, 120, **options)})
        return am.Curator(dataset, budget=1, ledger=tmp_path / "x.ledger")

    open_curator().ask(am.Count(epsilon=1))
    with pytest.raises(am.AnonymalyError, match=r"columns\.age\.read"):
        open_curator(read=am.Reading(nulls=["30"]))


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, "50000", 10**13])
def test_a_number_of_rows_that_is_none_is_refused(rows: Any) -> None:
    with pytest.raises(InputError) as refused:
        am.Dataset(PEOPLE, name="x", columns=SEX, rows=rows)
    assert refused.value.field == "rows"


def test_score_takes_the_public_number_of_rows_and_spends_nothing_to_count_them() -> None:
    columns = {"age": am.Interval(0, 120)}
    asked = am.Score(columns=["age"], method="grid", epsilon=1)
    without, given = (
        asked.bind(Declaration.read(name="x", columns=columns, rows=rows)) for rows in (None, 5_000)
    )
    assert "records" in without.split
    assert "records" not in given.split
    assert given.asked.rows == 5_000
    assert "rows=5,000 is public" in given.expect().error
