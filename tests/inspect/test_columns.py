# SPDX-License-Identifier: Apache-2.0
"""The owner's look at the declared columns before the first charge."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas
import polars
import psycopg
import pytest

import anonymaly as am
from anonymaly.engine import statements
from anonymaly.errors import SchemaError
from anonymaly.inspect.found import ColumnLook, ColumnsLook

# As a newcomer's file was: everything was lost, and `check` said "fits".
MESSY = """\
id;Date of birth;Größe (cm);Kosten €;sex;consent;note
1;13/05/1987;169,0;€ 1,760.72;M;yes;a
1;01/02/1990;171,5;€ 12.00;male;no;b
1;31/12/1955;180,0;€ 7.00;Male;true;
2;13/05/1987;;€ 7.00;F;maybe;d
;13/05/1987;165,0;;female;;e
"""
COLUMNS: dict[str, Any] = {
    "Date of birth": am.Timestamps("1900-01-01", "2030-01-01"),
    "Größe (cm)": am.Interval(40, 230),
    "Kosten €": am.Interval(0, 100_000),
    "sex": am.Categories(["Male", "F"]),
    "consent": am.Flag(),
    "note": am.Opaque(),
}


@pytest.fixture
def messy(tmp_path: Path) -> am.Dataset:
    path = tmp_path / "messy.csv"
    path.write_text(MESSY)
    return am.Dataset(str(path), name="messy", columns=COLUMNS, person="id", max_rows=2)


def _by_name(found: ColumnsLook) -> dict[str, ColumnLook]:
    return {column.column: column for column in found.columns}


def _numbers(column: ColumnLook) -> tuple[int, ...]:
    return (column.within, column.null, column.unreadable, column.outside, column.undeclared)


def test_columns_that_a_check_calls_fitting_are_seen_to_be_lost(messy: am.Dataset) -> None:
    assert all(line.problem is None for line in messy.check())
    found = am.inspect.columns(messy)
    assert found.rows == 5
    assert {name: _numbers(column) for name, column in _by_name(found).items()} == {
        "Date of birth": (0, 0, 5, 0, 0),
        "Größe (cm)": (0, 1, 4, 0, 0),
        "Kosten €": (0, 1, 4, 0, 0),
        "sex": (2, 0, 0, 0, 3),
        "consent": (3, 1, 1, 0, 0),
        "note": (4, 1, 0, 0, 0),
    }
    # What is lost entirely comes first, then what loses most.
    assert [column.column for column in found.columns] == [
        "Date of birth",
        "Größe (cm)",
        "Kosten €",
        "sex",
        "consent",
        "note",
    ]
    assert found.suspicious == ("Date of birth", "Größe (cm)", "Kosten €", "sex", "consent")
    for name in ("Date of birth", "Größe (cm)", "Kosten €"):
        assert "nothing of this column is read: no value can be read" in _by_name(found)[name].remarks()


def test_a_declared_reading_mends_what_was_lost(messy: am.Dataset) -> None:
    read: dict[str, Any] = {
        "Date of birth": am.Timestamps("1900-01-01", "2030-01-01", read=am.Reading(dates=["%d/%m/%Y"])),
        "Größe (cm)": am.Interval(40, 230, read=am.Reading(decimal=",")),
        "Kosten €": am.Interval(0, 100_000, read=am.Reading(thousands=",", signs=["€"])),
        "sex": am.Categories(["Male", "F"], other="Other", read=am.Reading(fold=True, same={"Male": ["m"]})),
        "consent": am.Flag(read=am.Reading(nulls=["maybe"])),
        "note": am.Opaque(),
    }
    mended = am.Dataset(str(messy._source._place.path), name="messy", columns=read)
    found = _by_name(am.inspect.columns(mended))
    assert {name: _numbers(column) for name, column in found.items()} == {
        "Date of birth": (5, 0, 0, 0, 0),
        "Größe (cm)": (4, 1, 0, 0, 0),
        "Kosten €": (4, 1, 0, 0, 0),
        "sex": (4, 0, 0, 0, 1),
        "consent": (3, 2, 0, 0, 0),  # what means null is null, not unreadable
        "note": (4, 1, 0, 0, 0),
    }
    assert [item.text for item in found["sex"].spellings] == ["female"]  # as it is written in the file
    assert "they count as 'Other'" in "".join(found["sex"].remarks())
    used = {use.question: use.rows for use in am.inspect.columns(mended).usable}
    assert used["share-histogram or explain"] == 3  # undeclared, but in a group of their own


def test_the_most_frequent_of_what_is_not_read_is_shown_with_its_rows(messy: am.Dataset) -> None:
    found = _by_name(am.inspect.columns(messy))
    dates = [(item.text, item.rows, item.trouble) for item in found["Date of birth"].spellings]
    assert dates[0] == ("13/05/1987", 3, "unreadable")
    assert {text for text, _, _ in dates[1:]} == {"01/02/1990", "31/12/1955"}
    assert {(item.text, item.rows, item.trouble) for item in found["sex"].spellings} == {
        ("M", 1, "undeclared"),
        ("male", 1, "undeclared"),
        ("female", 1, "undeclared"),
    }
    assert found["note"].spellings == ()  # opaque: never looked into


def test_persons_beyond_max_rows_and_the_rows_that_are_cut_are_counted(messy: am.Dataset) -> None:
    people = am.inspect.columns(messy).persons
    assert people is not None
    assert dataclasses.asdict(people) == {
        "max_rows": 2,
        "persons": 2,
        "persons_beyond": 1,
        "rows_cut": 1,
        "rows_without_person": 1,
    }
    alone = am.Dataset(str(messy._source._place.path), name="messy", columns=COLUMNS)
    assert am.inspect.columns(alone).persons is None


def test_only_the_most_frequent_spellings_are_shown_and_the_others_counted() -> None:
    codes = [code for number in range(20) for code in [f"code {number:02}"] * (number + 1)]
    long = ["x" * 5_000] * 50
    frame = pandas.DataFrame({"code": codes + long})
    (column,) = am.inspect.columns(
        am.Dataset(frame, name="t", columns={"code": am.Categories(["A"])})
    ).columns
    assert column.undeclared == sum(range(1, 21)) + 50
    assert column.distinct == 21
    shown = [(item.text, item.rows) for item in column.spellings]
    assert shown[0][1] == 50
    assert set(shown[0][0]) == {"x"}
    assert len(shown[0][0]) < 100
    assert shown[1:] == [("code 19", 20), ("code 18", 19), ("code 17", 18), ("code 16", 17)]
    assert "… 16 more" in column.shown_spellings()


def test_rows_that_questions_would_use_are_counted_after_persons_are_cut() -> None:
    labs = {f"lab{number}": [None if row % 7 == number else 1.0 for row in range(14)] for number in range(7)}
    frame = pandas.DataFrame(
        {
            **labs,
            "ward": ["A"] * 7 + ["Z"] * 7,
            "id": [1, 1, *range(3, 15)],
            "seen": pandas.Timestamp("2021-01-01"),
        }
    )
    columns = {**{name: am.Interval(0, 2) for name in labs}, "ward": am.Categories(["A", "B"])}
    rules = {"two": am.AnomalyModel(["lab0", "lab1"], radius=1, beta=3)}
    found = am.inspect.columns(am.Dataset(frame, name="labs", columns=columns, rules=rules))
    used = {use.question: use.rows for use in found.usable}
    assert used == {
        "what needs a value in each of them": 0,
        "score by grid or marginals": 0,  # each row lacks one of seven: none of 14 is complete
        "share-histogram or explain": 7,
        "identify by the rule two": 10,
    }
    cut = am.inspect.columns(
        am.Dataset(frame, name="labs", columns=columns, rules=rules, person="id", max_rows=1)
    )
    assert {use.question: use.rows for use in cut.usable}["share-histogram or explain"] == 6
    # Exactly the rows that a question's own view has.
    view = am.Dataset(frame, name="labs", columns=columns, person="id", max_rows=1).table.to_pandas()
    assert {use.question: use.rows for use in cut.usable}["identify by the rule two"] == len(
        view.dropna(subset=["lab0", "lab1"])
    )


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('age,ward\n30,A\n\n31\n32,A,surplus\n33,"a, b"\n"34\n')
    declared = am.Dataset(str(path), name="t", columns={"age": am.Interval(0, 120)})
    lines = am.inspect.columns(declared).lines
    assert lines is not None
    assert (lines.lines, lines.too_few, lines.too_many) == (5, 2, 1)
    quoted = am.Dataset(str(path), name="t", columns={"age": am.Interval(0, 120)}, line_breaks=True)
    assert am.inspect.columns(quoted).lines is None
    frame = am.Dataset(pandas.DataFrame({"age": [1]}), name="t", columns={"age": am.Interval(0, 120)})
    assert am.inspect.columns(frame).lines is None


TYPED = {
    "number": am.Interval(0, 100),
    "code": am.Categories([1, 2]),
    "ward": am.Categories(["A", "B"]),
    "flag": am.Flag(),
    "seen": am.Timestamps("2020-01-01", "2025-01-01"),
}
EXPECTED = {
    "number": (1, 1, 1, 1, 0),
    "code": (2, 1, 0, 0, 1),
    "ward": (2, 1, 0, 0, 1),
    "flag": (3, 1, 0, 0, 0),
    "seen": (1, 1, 1, 1, 0),
}
TABLE = """
CREATE TABLE t (number double precision, code int, ward text, flag boolean, seen timestamp, id int);
INSERT INTO t VALUES
    (1, 1, 'A', true, '2021-01-01', 1), (1000, 2, 'B', false, '1999-01-01', 1),
    ('infinity', 3, 'b', true, 'infinity', 1), (null, null, null, null, null, null);
"""


def test_every_source_is_looked_at_alike(tmp_path: Path, postgres: str) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
        connection.execute(f"COPY t TO '{tmp_path / 't.parquet'}'")
        connection.execute(f"COPY t TO '{tmp_path / 't.csv'}'")
        frame = connection.execute("SELECT * REPLACE (nullif(seen, 'infinity') AS seen) FROM t").arrow()
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(TABLE)
    sources: dict[str, dict[str, Any]] = {
        "duckdb": {"source": str(path), "table": "t"},
        "postgres": {"source": postgres, "table": "t"},
        "ibis": {"source": ibis.connect(postgres).table("t")},
        "csv": {"source": str(tmp_path / "t.csv")},
        "parquet": {"source": str(tmp_path / "t.parquet")},
        "polars": {"source": polars.from_arrow(frame)},
    }
    for kind, source in sources.items():
        _looked_alike(kind, source)


def test_a_frame_of_spark_is_looked_at_alike(spark: Any) -> None:
    rows = [
        (1.0, 1, "A", True, datetime(2021, 1, 1), 1), (1000.0, 2, "B", False, datetime(1999, 1, 1), 1),
        (math.inf, 3, "b", True, None, 1), (None,) * 6,
    ]  # fmt: skip
    kinds = "number double, code int, ward string, flag boolean, seen timestamp_ntz, id int"
    _looked_alike("pyspark", {"source": spark.createDataFrame(rows, kinds)})


def _looked_alike(kind: str, source: dict[str, Any]) -> None:
    declared = am.Dataset(name="t", columns=TYPED, person="id", max_rows=2, **source)
    found = am.inspect.columns(declared)
    numbers = {name: _numbers(column) for name, column in _by_name(found).items()}
    expected = dict(EXPECTED)
    if kind in ("polars", "parquet", "pyspark"):  # which cannot hold such a moment
        expected["seen"] = numbers["seen"]
        assert numbers["seen"][0] == 1
    assert numbers == expected, kind
    assert found.persons is not None
    assert (found.persons.persons, found.persons.persons_beyond, found.persons.rows_cut) == (1, 1, 1)
    assert [item.text for item in _by_name(found)["ward"].spellings] == ["b"], kind
    assert {use.question: use.rows for use in found.usable}["share-histogram or explain"] == 1


def test_a_look_reads_a_table_by_two_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    run = []
    collect = statements.collect

    def counted(expression: Any) -> Any:
        run.append(expression)
        return collect(expression)

    monkeypatch.setattr("anonymaly.inspect.look.collect", counted)
    columns = {f"c{number}": am.Categories(["A"]) for number in range(30)}
    frame = pandas.DataFrame({name: ["A", "B", None] for name in columns})
    am.inspect.columns(am.Dataset(frame, name="t", columns=columns))
    assert len(run) == 2
    clean = pandas.DataFrame({"c0": ["A", None]})
    am.inspect.columns(am.Dataset(clean, name="t", columns={"c0": columns["c0"]}))
    assert len(run) == 3


def test_an_empty_table_has_nothing_suspicious() -> None:
    frame = pandas.DataFrame({"age": pandas.Series([], dtype="float64")})
    found = am.inspect.columns(am.Dataset(frame, name="t", columns={"age": am.Interval(0, 1)}))
    assert (found.rows, found.suspicious) == (0, ())
    assert found.to_html()


def test_a_look_is_frozen_plain_data_and_says_that_it_is_not_public(
    messy: am.Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    found = am.inspect.columns(messy)
    assert "for the owner alone" in capsys.readouterr().err
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows = 3  # type: ignore[misc]
    told = json.loads(json.dumps(found.to_dict()))
    assert told["columns"][0]["unreadable"] == 5
    for text in (str(found), found.to_html(), told["warning"]):
        assert "not public" in text
        assert "Mend how the file is read, not what you declare about people" in text
    assert "13/05/1987" in str(found)
    assert "nothing of this column is read" in str(found)


def test_its_text_is_the_same_in_a_notebook_and_displays_nothing(
    messy: am.Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = am.inspect.columns(messy)
    elsewhere = str(found)
    capsys.readouterr()
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert (str(found), *capsys.readouterr()) == (elsewhere, "", "")


@pytest.mark.parametrize("look", [am.inspect.columns, am.inspect.odd])
@pytest.mark.parametrize("given", [pandas.DataFrame({"age": [30]}), "salaries.csv"])
def test_what_is_not_declared_is_refused_with_how_to_declare_it(
    look: Any, given: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for refused in (lambda: look(given), lambda: look(dataset=given)):
        with pytest.raises(am.errors.InputError, match=r"dataset: must be a Dataset.*am\.Dataset\(table"):
            refused()
    assert capsys.readouterr().err == ""  # no exact value was looked at


class _Page(html.parser.HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_holds_no_script_no_address_and_nothing_that_a_file_wrote_as_markup() -> None:
    nasty = '<script>alert(1)</script><img src="http://example.org/x">'
    frame = pandas.DataFrame({"<b>ward</b>": [nasty, "A", "A"]})
    declared = am.Dataset(frame, name="t", columns={"<b>ward</b>": am.Categories(["A"])})
    found = am.inspect.columns(declared)
    for text in (found.to_html(), found._repr_html_()):
        page = _Page()
        page.feed(text)
        assert not {"script", "img", "link", "iframe", "b", "object"} & set(page.tags)
        assert "svg" in page.tags
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
        assert nasty[:40] in page.text
        assert "url(" not in text
    assert "default-src 'none'" in found.to_html()


# What a notebook in a dark theme sets, for all tables of outputs.
NOTEBOOK = """
body { color: rgb(255, 255, 255); background: rgb(17, 17, 17); }
.out table { margin-left: auto; table-layout: fixed; }
.out td, .out th, .out tr { text-align: right; vertical-align: middle; }
.out tbody tr:nth-child(odd) { background: rgb(0, 0, 0); }
.out svg { max-width: 100%; height: auto; }
"""
SEEN = """() => [...document.querySelectorAll('.out *')].map(element => {
    const style = getComputedStyle(element)
    return {tag: element.localName, kind: element.className, colour: style.color,
            behind: style.backgroundColor, side: style.textAlign,
            right: element.getBoundingClientRect().right}
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_notebook_shows_it_in_the_colours_of_its_theme_and_within_its_width(
    chromium: Any, messy: am.Dataset, width: int
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 800})
    shown = am.inspect.columns(messy)._repr_html_()
    page.set_content(f"<style>{NOTEBOOK}</style><div class=out>{shown}</div>")
    seen = page.evaluate(SEEN)
    page.close()
    assert {item["colour"] for item in seen} == {"rgb(255, 255, 255)"}
    # Nothing covers what is behind it; what stands out does so by a little grey.
    assert {item["behind"] for item in seen} == {"rgba(0, 0, 0, 0)", "rgba(127, 127, 127, 0.2)"}
    cells = [item for item in seen if item["tag"] == "td" and item["kind"] != "number"]
    assert {item["side"] for item in cells} == {"left"}
    assert max(item["right"] for item in seen) <= width


def test_a_table_that_does_not_fit_is_refused_with_its_column() -> None:
    frame = pandas.DataFrame({"ward": [True]})
    declared = am.Dataset(frame, name="t", columns={"ward": am.Categories(["A"])})
    with pytest.raises(SchemaError, match=r"columns\.ward"):
        am.inspect.columns(declared)


def test_a_file_of_another_encoding_and_delimiter_is_looked_at_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("Größe|stadt\n170|Köln\n171\n172|koeln|x\n".encode("latin-1"))
    found = am.inspect.columns(
        am.Dataset(
            str(path),
            name="t",
            columns={"Größe": am.Interval(0, 300), "stadt": am.Categories(["Köln"])},
            file={"encoding": "latin-1", "delimiter": "|"},
        )
    )
    assert found.lines is not None
    assert (found.lines.lines, found.lines.too_few, found.lines.too_many) == (3, 1, 1)
    assert [item.text for item in _by_name(found)["stadt"].spellings] == ["koeln"]
