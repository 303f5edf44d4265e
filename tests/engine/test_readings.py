# SPDX-License-Identifier: Apache-2.0
"""Readings, row by row: the same value or null on every engine and in plain Python, and never an error."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps, Unbounded
from anonymaly.engine import lookup
from anonymaly.engine.look import looked
from anonymaly.engine.look import lost as lost_column
from anonymaly.engine.reading import Reading
from anonymaly.engine.statements import collect
from tests.engine import plain_readings

ID = Interval(0, 2**31)
ALWAYS = ("1900-01-01", "2100-01-01")
GERMAN = Reading(decimal=",", thousands=".", signs=["€", "EUR", "%"], nulls=["NA", "-", "999"], fold=True)
SEVERAL = ["%d.%m.%Y", "%d/%m/%Y %H:%M", "%Y-%m-%d", "%b %d, %Y %I:%M %p", "%d%m%y", "%Y%m%d%H%M%S%f"]
NUMBERS = "0123456789" * 2 + ".,-+eE €%'_ \u00a0\u202f\u2019uRx"
MOMENTS = "0123456789" * 2 + ".,:/-+ TtZzapmAPMjanFebx"

# name: the column, the letters of which ugly texts are made, and texts to make them of
CASES: dict[str, tuple[Domain, str, list[str]]] = {
    "plain numbers": (
        Unbounded(read=Reading()),
        NUMBERS,
        ["1", "-0", "+5.50", "5.", ".5", "1e5", "1E-300", "1e-319", "99999999e299", "1e400", "1_000", "inf"]
        + ["nan", "0x10", " 12 ", "\t7\n", "1,5", "", "--5", "1e", "e5", "1" * 300, "1" * 301, "٣", "½"]
        + ["0." + "0" * 297 + "1", "0." + "0" * 298 + "1", "12345678901234567890.123456789", "0.1e-299"],
    ),
    "german numbers": (
        Interval(0, 100, read=GERMAN),
        NUMBERS,
        [
            "1.234,50 €",
            "€ 1.234",
            "-€5",
            "€ -5",
            "-5 eur",
            "EUR5%",
            "1.23",
            "12.345.67",
            "1234,5",
            "1.234.567,8",
        ]
        + [
            "NA",
            "na ",
            "-",
            "999",
            "999,0",
            "€",
            "5€€",
            "€\u00a05\u202f%",
            "- 5",
            "€-€5",
            "5 \u00a0€",
            ",5",
            "1,e3",
        ],
    ),
    "spaced numbers": (
        Interval(0, 100, read=Reading(thousands=" ", decimal=",", signs=["Fr.", "$", "kr"])),
        NUMBERS + "Fr.$k",
        [
            "1 234 567,5",
            "1\u00a0234\u202f567",
            "Fr. 5",
            "Fr..5",
            "Fr.,5",
            "$5",
            "5kr",
            "1 23",
            " 1 234 ",
            "1  234",
        ],
    ),
    "swiss numbers": (
        Interval(0, 100, read=Reading(thousands="'", nulls=["?"])),
        NUMBERS,
        ["1'234.5", "1\u2019234", "1'2345", "'123", "?"],
    ),
    "whole numbers": (
        Categories([1, 2, 1000], read=Reading(thousands=",", nulls=["9"]), other=-1),
        NUMBERS,
        [
            "1",
            "1.0",
            "1.",
            "1.5",
            "01",
            "1,000",
            "10,00",
            "9",
            "9.0",
            "-1",
            "+2",
            "1e3",
            "9" * 15,
            "9" * 16,
            "x",
        ],
    ),
    "flags": (
        Flag(read=Reading(nulls=["?"])),
        "tTrueyYsfFalno01? ",
        ["TRUE", "Yes", "n", "0 ", "on", "?", "01"],
    ),
    "german flags": (
        Flag(read=Reading(means_true=["ja", "1"], means_false=["Nein", "0"], fold=True)),
        "jaJAneiNEI01 ",
        ["JA", "nein", " ja\t", "j", "true", "NEİN"],
    ),
    "strict flags": (Flag(read=Reading(means_true=["X"], means_false=["x"])), "xX ", ["X", "x", " X"]),
    "categories": (
        Categories(
            ["Male", "Female", "x y"],
            other="Other",
            read=Reading(
                same={"Male": ["M", "Mr "], "Female": ["F", "w"]}, trim=True, fold=True, nulls=["", "N/A"]
            ),
        ),
        "MaleFfwxyr /N ",
        ["male", "MALE ", "m", "W", "mr", "n/a", " ", "X Y", "other", "Ärztin", "ﬀ", "K", "mAle\u00a0"],
    ),
    "exact categories": (
        Categories(["a", "b"], read=Reading(same={"a": ["á", " a"]}, nulls=["-"])),
        "abá- AB",
        ["a", " a", "á", "A", "a ", "-", " -"],
    ),
    "notes": (
        Opaque(read=Reading(nulls=["none"], trim=True)),
        "none NO",
        ["none", " none ", "None", "x", " "],
    ),
    "moments of ISO": (
        Timestamps(*ALWAYS, read=Reading(zone="Europe/Berlin")),
        MOMENTS,
        ["2020-02-29", "1900-02-29", "2020-1-5 9:05", "2020-01-05T09:05:06.1234567", "2020-07-01T00:00:00Z"]
        + ["2020-03-29T00:59:59.999999Z", "2020-03-29T01:00:00Z", "2020-10-25T00:59:59Z", "2020-10-25T01:00Z"]
        + [
            "0001-01-01",
            "0000-01-01",
            "9999-12-31 23:59:59.999999",
            "9999-12-31T23:59Z",
            "9998-12-31T23:59-23:59",
        ]
        + [
            "0002-01-01T00:00+23:59",
            "1893-03-31T23:00Z",
            "2100-07-01T00:00Z",
            "2300-07-01T00:00+02",
            "infinity",
        ]
        + [
            "2020-01-01 24:00",
            "2020-01-01T00:00:60",
            "2020-01-01T00:00 +0530",
            "2020-01-01+02:00",
            "now",
            "epoch",
        ],
    ),
    "moments of many formats": (
        Timestamps(*ALWAYS, read=Reading(dates=SEVERAL, nulls=["00.00.0000"])),
        MOMENTS,
        [
            "13.05.1987",
            "31/02/2020 10:00",
            "31.04.2020",
            "30.4.2020",
            "29.02.2000",
            "29.02.1900",
            "1/1/2020 9:05",
        ]
        + ["JAN 5, 2020 12:00 AM", "Feb 29, 2021 1:00 pm", "sep 30, 2020 12:59 PM", "jun 31, 2020 1:00 am"]
        + [
            "290200",
            "290201",
            "310168",
            "310169",
            "20200229235959123456",
            "2020022923595912",
            "00.00.0000",
            "1.1.0",
        ]
        + [
            "may 5, 2020 13:00 pm",
            "may 5, 2020 0:30 am",
            "2020-2-30",
            "9999-12-31",
            "32.01.2020",
            "0.1.2020",
        ],
    ),
    "moments with names": (
        Timestamps(*ALWAYS, read=Reading(dates=["%d %B %Y", "%B %Y", "%Y", "(%d)[%m].%y"], trim=True)),
        MOMENTS + "ruaychilsgteobv()[]",
        [
            "1 January 2020",
            "29 february 2020",
            "29 february 2021",
            "31 June 2020",
            "march 1999",
            "1999",
            "0000",
        ]
        + ["(1)[2].99", "(29)[2].00", "(29)[02].01", "janu 2020", "MAY 2020"],
    ),
    "moments with offsets": (
        Timestamps(
            *ALWAYS, read=Reading(dates=["%d/%b/%Y:%H:%M:%S %z", "%Y-%m-%dT%H:%M%z"], zone="America/New_York")
        ),
        MOMENTS,
        ["10/Oct/2000:13:55:36 -0700", "29/Feb/2021:00:00:00 +0000", "2020-03-08T07:00Z", "2020-03-08T06:59z"]
        + ["2020-11-01T05:59Z", "2020-11-01T06:00-00:30", "2020-11-01T06:00+2400", "2020-11-01T06:00+05"],
    ),
    "unix seconds": (
        Timestamps(*ALWAYS, read=Reading(unix="seconds", zone="Africa/Casablanca", nulls=["0"])),
        "0123456789.-+eT:",
        [
            "1577836800",
            "1577836800.5",
            "-1",
            "-1.5",
            "-0.0000001",
            "99999999999",
            "100000000000",
            "-9999999999",
        ]
        + ["-10000000000", "0", "00", "2020-07-01T00:00Z", "2020-07-01", "1e9", "", ".5", "5.", "1.9999999"],
    ),
    "unix milliseconds": (
        Timestamps(*ALWAYS, read=Reading(unix="milliseconds")),
        "0123456789.-",
        ["1577836800123", "1577836800123.4567", "-1", "-0.5", "99999999999999", "100000000000000", "1" * 30],
    ),
    "unix microseconds": (
        Timestamps(*ALWAYS, read=Reading(unix="microseconds", zone="Asia/Kathmandu", dates=["%Y"])),
        "0123456789.-",
        ["1577836800123456", "1577836800123456.9", "-1", "99999999999999999", "100000000000000000", "2020"],
    ),
}


def expected(texts: Sequence[str | None], domain: Domain) -> list[Any]:
    return [plain_readings.read(text, domain) for text in texts]


def found(source: Any, domain: Domain, **options: Any) -> list[Any]:
    table = Dataset(source, name="x", columns={"id": ID, "c": domain}, **options).table
    return collect(table.order_by("id"))["c"].to_pylist()


def same(ours: Sequence[Any], theirs: Sequence[Any], texts: Sequence[str | None]) -> None:
    # By their text: the two zeros are equal, and so are 1 and 1.0.
    differ = [
        (text, mine, other)
        for text, mine, other in zip(texts, ours, theirs, strict=True)
        if repr(mine) != repr(other)
    ]
    assert differ == []


def frame(texts: Sequence[str | None]) -> pa.Table:
    return pa.table({"id": range(len(texts)), "c": pa.array(texts, pa.string())})


@pytest.fixture
def in_postgresql(postgres: str) -> Callable[[Sequence[str | None]], ibis.Table]:
    connection = ibis.connect(postgres)
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("CREATE TABLE t (id int, c text)")
    table = connection.table("t")

    def fill(texts: Sequence[str | None]) -> ibis.Table:
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("TRUNCATE t")
            other.execute(
                "INSERT INTO t SELECT * FROM unnest(%s::int[], %s::text[])",
                [list(range(len(texts))), list(texts)],
            )
        return table

    return fill


@pytest.mark.parametrize("name", CASES)
def test_what_people_write_is_read_alike_from_every_source(
    name: str, in_postgresql: Callable[..., ibis.Table], tmp_path: Path
) -> None:
    domain, _, samples = CASES[name]
    texts = [*samples, None]
    meant = expected(texts, domain)
    assert any(value is not None for value in meant)
    same(found(frame(texts), domain), meant, texts)
    same(found(in_postgresql(texts), domain), meant, texts)
    pq.write_table(frame(texts), tmp_path / "t.parquet")
    same(found(tmp_path / "t.parquet", domain), meant, texts)
    # A line break ends a record, and an empty field is null.
    lines = [text for text in samples if text and "\n" not in text]
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "c"), *enumerate(lines)])
    same(found(tmp_path / "t.csv", domain), expected(lines, domain), lines)


@pytest.mark.parametrize("name", CASES)
def test_what_people_write_is_read_alike_on_spark(name: str, spark: Any) -> None:
    domain, _, samples = CASES[name]
    # To Java, a line ends before these, and $ stands there as well.
    texts = [*samples, None, *(f"{samples[0]}{end}" for end in "\u0085\u2028\u2029\r\n\0"), "1" * 100_000]
    same(found(spark.createDataFrame(frame(texts)), domain), expected(texts, domain), texts)


def mangled(letters: str, samples: list[str]) -> st.SearchStrategy[str]:
    """Texts of these letters, and samples with a piece replaced."""

    def mangle(text: str, place: int, length: int, piece: str) -> str:
        start = place % (len(text) + 1)
        return text[:start] + piece + text[start + length :]

    piece = st.text(st.sampled_from(letters), max_size=3)
    changed = st.builds(mangle, st.sampled_from(samples), st.integers(0, 40), st.integers(0, 3), piece)
    return st.one_of(changed, changed, st.text(st.sampled_from(letters), max_size=14))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ugly_texts_are_the_same_value_or_null_everywhere_and_never_an_error(
    name: str, in_postgresql: Callable[..., ibis.Table]
) -> None:
    domain, letters, samples = CASES[name]
    many = st.lists(mangled(letters, samples), min_size=200, max_size=300)

    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(many)
    def check(texts: list[str]) -> None:
        meant = expected(texts, domain)
        same(found(frame(texts), domain), meant, texts)
        same(found(in_postgresql(texts), domain), meant, texts)

    check()


@pytest.mark.slow
@given(st.lists(st.text(max_size=20), max_size=200))
@settings(max_examples=5, deadline=None)
def test_any_text_at_all_is_read_or_null(texts: list[str]) -> None:
    for name, (domain, _, _) in CASES.items():
        if name in ("german numbers", "moments of ISO", "unix seconds", "categories"):
            same(found(frame(texts), domain), expected(texts, domain), texts)


def test_a_table_of_many_rows_is_read_like_single_ones() -> None:
    # Engines work on thousands of rows at once, and on the different values of a column alone.
    domain, _, samples = CASES["moments of many formats"]
    texts = samples * 3_000
    same(found(frame(texts), domain), expected(samples, domain) * 3_000, texts)
    encoded = frame(texts)
    encoded = encoded.set_column(1, "c", encoded["c"].dictionary_encode())
    same(found(encoded, domain), expected(samples, domain) * 3_000, texts)


TYPED = {
    "unix of whole numbers": (
        Timestamps(*ALWAYS, read=Reading(unix="milliseconds", zone="Europe/Berlin")),
        pa.array([0, 1577836800123, -1, 10**14, -(10**13), None, 2**62]),
        ["1970-01-01 01:00", "2020-01-01 01:00:00.123", "1970-01-01 00:59:59.999", None, None, None, None],
    ),
    "unix of floats": (
        Timestamps(*ALWAYS, read=Reading(unix="seconds")),
        pa.array([0.0, 1577836800.1, -0.5, 1e300, float("nan"), float("-inf"), 0.0078125]),
        [
            "1970-01-01",
            "2020-01-01 00:00:00.1",
            "1969-12-31 23:59:59.5",
            None,
            None,
            None,
            "1970-01-01 00:00:00.007813",
        ],
    ),
    "moments of the whole world": (
        Timestamps(*ALWAYS, read=Reading(zone="Europe/Berlin")),
        pa.array(
            [datetime(2020, 7, 1, 12, 0, 0, 999_999), datetime(1, 1, 1), None], pa.timestamp("us", "UTC")
        ),
        ["2020-07-01 14:00:00.999999", None, None],
    ),
    "codes of numbers": (
        Categories(
            ["Male", "Female"], read=Reading(same={"Male": ["1"], "Female": ["2"]}, nulls=["9"]), other="x"
        ),
        pa.array([1, 2, 3, 9, None]),
        ["Male", "Female", "x", None, None],
    ),
    "flags of numbers": (Flag(read=Reading()), pa.array([1, 0, 2, None]), [True, False, None, None]),
    "numbers with a marker": (
        Interval(0, 100, read=Reading(nulls=["-9", "99,5", "NA"], decimal=",")),
        pa.array([1.0, -9.0, 99.5, None]),
        [1.0, None, None, None],
    ),
    "whole numbers with a marker": (
        Interval(0, 100, read=Reading(nulls=["-9", "99.5"])),
        pa.array([1, -9, 99, None]),
        [1.0, None, 99.0, None],
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_column_that_has_a_type_is_read_by_it(name: str, postgres: str) -> None:
    domain, values, meant = TYPED[name]
    if isinstance(domain, Timestamps):
        meant = [None if text is None else datetime.fromisoformat(str(text)) for text in meant]
    table = pa.table({"id": range(len(values)), "c": values})
    same(found(table, domain), meant, [None] * len(meant))
    kinds = {"int64": "bigint", "double": "float8", "timestamp[us, tz=UTC]": "timestamptz"}
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE t (id int, c {kinds[str(values.type)]})")
        connection.execute("SET TimeZone = 'UTC'")
        for row in table.to_pylist():
            connection.execute("INSERT INTO t VALUES (%s, %s)", [row["id"], row["c"]])
    same(found(postgres, domain, table="t"), meant, [None] * len(meant))


@pytest.mark.parametrize("name", TYPED)
def test_a_column_that_has_a_type_is_read_by_it_on_spark(name: str, spark: Any) -> None:
    domain, values, meant = TYPED[name]
    if isinstance(domain, Timestamps):
        meant = [None if text is None else datetime.fromisoformat(str(text)) for text in meant]
    frame = spark.createDataFrame(pa.table({"id": range(len(values)), "c": values}))
    same(found(frame, domain), meant, [None] * len(meant))


def test_infinite_moments_of_the_whole_world_are_null(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id, 'infinity'::timestamptz AS c")
        connection.execute("INSERT INTO t VALUES (2, '-infinity'), (3, '0044-01-01 BC')")
    domain = Timestamps(*ALWAYS, read=Reading(zone="Europe/Berlin"))
    assert found(postgres, domain, table="t") == [None, None, None]


def test_what_is_there_and_means_no_null_and_cannot_be_read_is_unreadable() -> None:
    dates = Timestamps(*ALWAYS, read=Reading(dates=["%d.%m.%Y"]))
    marked = Unbounded(read=Reading(nulls=["NA"], fold=True))
    numbered = Interval(0, 9, read=Reading(nulls=["-9"]))
    # Those at the end cannot be read.
    cases: list[tuple[Domain, pa.Array, int]] = [
        (marked, pa.array(["1", " na", None, "x", ""]), 2),
        (numbered, pa.array([1.0, -9.0, None, float("nan")]), 1),
        (Categories(["a"], read=Reading(nulls=["-"])), pa.array(["a", "-", "b", None]), 0),
        (dates, pa.array(["1.1.2020", "31.02.2020"]), 1),
        (Unbounded(), pa.array(["1", None, "x"]), 1),
    ]
    for domain, values, lost in cases:
        raw = lookup.embedded().open_arrow(pa.table({"c": values}))
        readings = {} if domain.read is None else {"c": domain.read}
        table = looked(
            raw, {"c": domain.kind}, lookup.of(raw), person=None, loose=(), from_file=False, readings=readings
        )
        listed = collect(table.select(lost=table[lost_column(0)]))["lost"].to_pylist()
        assert listed == [False] * (len(values) - lost) + [True] * lost


BERLIN = Timestamps(*ALWAYS, read=Reading(zone="Europe/Berlin"))


@pytest.mark.parametrize("number", [2**63 - 2, 2 - 2**63, 9 * 10**18, 253402300800000000 * 3])
def test_a_moment_of_the_whole_world_at_the_end_of_what_an_engine_holds_is_null(number: int) -> None:
    table = pa.table({"d": pa.array([0, number], pa.timestamp("us", tz="UTC"))})
    read = collect(Dataset(table, name="t", columns={"d": BERLIN}).table)["d"].to_pylist()
    assert read == [datetime(1970, 1, 1, 1), None]


def test_a_marker_with_a_fraction_means_nothing_in_a_column_of_whole_numbers() -> None:
    table = pa.table({"c": pa.array([1, 2, 2**53 + 1], pa.int64())})
    domain = Categories([1, 2], read=Reading(nulls=["0.5", "2"]))
    assert collect(Dataset(table, name="t", columns={"c": domain}).table)["c"].to_pylist() == [
        1,
        None,
        2**53 + 1,
    ]


def test_a_declared_value_with_spaces_around_it_is_itself_where_texts_are_trimmed() -> None:
    table = pa.table({"c": [" A", "A", "B "]})
    domain = Categories([" A", "B"], read=Reading(trim=True))
    assert collect(Dataset(table, name="t", columns={"c": domain}).table)["c"].to_pylist() == [
        " A",
        " A",
        "B",
    ]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_parquet_column_of_milliseconds_does_not_fit_because_one_row_could_fail_all(
    tmp_path: Path, zone: str | None
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"d": pa.array([0], pa.timestamp("ms", tz=zone)), "e": [1.0]}), path)
    columns = {"d": BERLIN, "e": Unbounded()}
    first, second = Dataset(path, name="t", columns=columns).check()
    assert "microseconds" in (first.problem or "")
    assert second.problem is None
