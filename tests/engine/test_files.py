# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Interval, Opaque
from anonymaly.engine import files
from anonymaly.engine.headers import common_header
from anonymaly.engine.parquet import refuse_wide_files
from anonymaly.engine.statements import collect
from anonymaly.errors import InputError, SchemaError
from tests.declare.tables import records

AGE = {"age": Interval(0, 120)}
TWO = {"a": Interval(0, 100), "b": Categories(["x", "y z", "u\nv"])}


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_two(path: Path) -> list[tuple[Any, ...]]:
    return records(Dataset(path, name="two", columns=TWO))


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,x\n", [(1, "x")]),
        ("a,b\r\n1,x\r\n", [(1, "x")]),
        ("a,b\r1,x\r", [(1, "x")]),
        ("a,b\n1,x", [(1, "x")]),
        ("b;a\nx;1\n", [(1, "x")]),
        ('"a"|"b"\n1|"y z"\n', [(1, "y z")]),
        ('"a","c;d;e",b\n1,2,x\n', [(1, "x")]),
        ('a,b\n1,"u,v"\n2,"say ""x"""\n"3",""\n', [(1, "u,v"), (2, 'say "x"'), (3, None)]),
        ("a,b\n1,\n,x\n", [(1, None), (None, "x")]),
        ("a,b\n1\n1,x,3\n2,x\n\n", [(1, "x"), (2, "x")]),
        (b"a,b\n1,\xff\xfe\n2,x\n", [(2, "x")]),
        ("a,b\nthirty,x\n1e400,x\nnan,x\n-inf,x\n", [(None, "x")] * 4),
        ("a,b\n#1,x\n", [(None, "x")]),
        ("a,b\nNULL,NULL\n", [(None, "NULL")]),
        ("a,b\n1,x\n" + "2," + "y" * 3_000_000 + "\n", [(1, "x")]),
        ("a,b\n1,x\n2,q\0q\n", [(1, "x"), (2, "q\0q")]),
        ('a,b\n1,x\n2,"open\n3,x\n', [(1, "x"), (2, '"open'), (3, "x")]),
        ('a,b\n1,x\n"2,x\n3,x\n', [(1, "x"), (3, "x"), (None, "x")]),
        ('a,b\n1,6" wide\n2,"y"z\n3,"y""\n', [(1, '6" wide'), (2, "y"), (3, "y")]),
        ('a,c,b\n1,6" wide,"y, z"\n', [(1, "y, z")]),
        ("a,b\n1,\x1f\x1e\x1dx\n2,x\x1f\n", [(1, None), (2, "x\x1f")]),
        ('a\tb\n1\t"y\tz"\n2\t""""\n', [(1, "y\tz"), (2, '"')]),
        ("a,b\n", []),
        ("a,b", []),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_text_file_is_read_line_by_line_and_never_fails_on_a_row(
    content: bytes | str, rows: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    assert read_two(write(tmp_path / "t.csv", content)) == rows


@pytest.mark.parametrize(
    "content",
    ["", "\n", "a,a\n1,2\n", "a,A\n1,2\n", "a,,b\n1,2,3\n", '"a\nb",c\n1,2\n', b"\xff\xfea\0,\0b\0\n\0"],
    ids=repr,
)
def test_a_text_file_without_a_readable_header_is_refused(content: bytes | str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as refused:
        read_two(write(tmp_path / "t.csv", content))
    assert refused.value.field == "source"
    assert refused.value.next_step


def test_a_file_is_unpacked_by_its_ending_whatever_its_capitals(tmp_path: Path) -> None:
    assert read_two(write(tmp_path / "T.CSV.GZ", gzip.compress(b"a,b\n1,x\n"))) == [(1, "x")]
    with pytest.raises(SchemaError, match="could not be opened"):
        read_two(write(tmp_path / "false.csv.gz", "a,b\n1,x\n"))


def test_line_breaks_inside_quotes_are_read_alike_in_a_file_of_many_buffers(tmp_path: Path) -> None:
    lines = 500_000
    long = "and so on " * 7
    with (tmp_path / "t.csv").open("w") as file:
        file.write("a,b\n")
        file.writelines(f'{place},"line\nbreak, ""{place}"" {long}"\n' for place in range(lines))
    table = Dataset(
        tmp_path / "t.csv", name="x", columns={"a": Interval(0, 1), "b": Opaque()}, line_breaks=True
    ).table
    found = collect(
        table.aggregate(rows=table.count(), known=table.a.count(), total=table.a.sum())
    ).to_pylist()
    assert found == [{"rows": lines, "known": lines, "total": lines * (lines - 1) / 2}]


@pytest.mark.parametrize("special", ['5,"a', '"5,a', '5,a"b', '5,"a"b', '5,"a""', '"', '"""', '5,"a\rb'])
def test_one_line_with_an_open_quote_changes_no_other(special: str, tmp_path: Path) -> None:
    # Of 1,001 lines such a one in the middle left 501.
    lines = [f"{place % 100},a" for place in range(1_000)]
    for place in (0, 500, 1_000):
        content = ["x,y", *lines[:place], special, *lines[place:], ""]
        path = write(tmp_path / f"{place}.csv", "\n".join(content))
        table = Dataset(path, name="x", columns={"x": Interval(0, 120), "y": Opaque()}).table
        assert abs(collect(table.filter(table.y == "a")).num_rows - 1_000) <= 1


ANY_LINE = st.text(st.sampled_from('",ab \t;\\\x1f\0é'), max_size=12)


def meant(line: str) -> list[str | None]:
    """The fields of one line, by the rule that the page of declarations gives."""
    fields = re.findall(r',("(?:[^"]|"")*"|[^,]*)', f",{line}")
    quoted = [len(field) > 1 and field[0] == field[-1] == '"' for field in fields]
    plain = (text[1:-1].replace('""', '"') if off else text for text, off in zip(fields, quoted, strict=True))
    return [field or None for field in plain]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(ANY_LINE, max_size=30), width=st.integers(1, 3))
def test_what_a_line_means_depends_on_no_other_line(lines: list[str], width: int, tmp_path: Path) -> None:
    names = ["a", "b", "c"][:width]
    path = write(tmp_path / "t.csv", "\n".join([",".join(names), *lines, ""]))
    table = Dataset(path, name="x", columns={name: Opaque() for name in names}).table
    found = Counter(tuple(row.values()) for row in collect(table).to_pylist())
    fields = map(meant, lines)
    assert found == Counter(tuple(each[:width]) for each in fields if len(each) >= width)


FIELD = st.text(st.sampled_from('",ab \t;\\é'), max_size=6)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FIELD, FIELD, FIELD)), delimiter=st.sampled_from(",;\t|"), every=st.booleans())
def test_a_line_that_the_standard_library_wrote_is_read_as_it_was_meant(
    rows: list[tuple[str, str, str]], delimiter: str, every: bool, tmp_path: Path
) -> None:
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL)
        writer.writerows([("a", "b", "c"), *rows])
    table = Dataset(tmp_path / "t.csv", name="x", columns={name: Opaque() for name in "abc"}).table
    found = Counter(tuple(row.values()) for row in collect(table).to_pylist())
    assert found == Counter(tuple(field or None for field in row) for row in rows)


def test_line_breaks_are_declared_of_text_files_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'a,b\n1,"u\nv"\n')
    assert records(Dataset(path, name="two", columns=TWO, line_breaks=True)) == [(1, "u\nv")]
    assert Dataset(path, name="two", columns=TWO, line_breaks=True).line_breaks is True
    assert Dataset(path, name="two", columns=TWO).line_breaks is False
    frame = {"a": [1], "b": ["x"]}
    assert Dataset(pa.table(frame), name="two", columns=TWO).line_breaks is None
    for source, given_as in ((pa.table(frame), True), (path, "yes")):
        with pytest.raises(InputError) as refused:
            Dataset(source, name="two", columns=TWO, line_breaks=given_as)
        assert refused.value.field == "line_breaks"


def test_files_of_one_table_must_have_the_same_header(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", "a,b\n1,x\n")
    write(tmp_path / "2.csv", "b,a\nx,2\n")
    with pytest.raises(SchemaError, match=r"first lines of .*1\.csv and .*2\.csv differ"):
        read_two(tmp_path / "*.csv")


@pytest.mark.parametrize("names", [["1.csv", "2.parquet"], ["1.csv", "2.csv.gz"]])
def test_files_of_several_kinds_are_not_one_table(names: list[str], tmp_path: Path) -> None:
    for name in names:
        write(tmp_path / name, "a,b\n")
    with pytest.raises(InputError, match="several kinds"):
        Dataset(tmp_path / "*", name="two", columns=TWO)


@pytest.mark.parametrize("name", ["data[1].csv", "what?.csv", "st*r.csv", "sp ace'.csv", "ü.csv"])
def test_a_file_whose_name_looks_like_a_pattern_is_read_alone(name: str, tmp_path: Path) -> None:
    write(tmp_path / "data1.csv", "a,b\n9,x\n")
    write(tmp_path / "whata.csv", "a,b\n9,x\n")
    write(tmp_path / "star.csv", "a,b\n9,x\n")
    assert read_two(write(tmp_path / name, "a,b\n1,x\n")) == [(1, "x")]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("missing.csv", "there is no file"),
        ("*.csv", "there is no file"),
        ("", "there is no file"),
        ("\0", "there is no file"),
        (".", "noending does not name a known format"),
        ("empty", "is a folder without files"),
        ("t.xlsx", "does not name a known format"),
        ("noending", "does not name a known format"),
    ],
)
def test_a_path_that_is_no_table_is_refused(
    source: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.xlsx", "x")
    write(tmp_path / "noending", "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=reason) as refused:
        Dataset(source, name="x", columns=AGE)
    assert refused.value.field == "source"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_of_too_many_columns_is_refused_by_its_first_line_or_its_footer(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"t.{ending}"
    for width in (files.MOST_COLUMNS, files.MOST_COLUMNS + 1):
        names = [f"c{place}" for place in range(width)]
        if ending == "csv":
            write(path, ",".join(names) + "\n")
        else:
            pq.write_table(pa.table({name: pa.array([], pa.float64()) for name in names}), path)
        if width == files.MOST_COLUMNS:
            check = common_header if ending == "csv" else refuse_wide_files
            check([str(path)])
    with pytest.raises(SchemaError, match="4,097 columns, and at most 4,096") as refused:
        Dataset(path, name="wide", columns={"c0": Interval(0, 1)}).check()
    assert refused.value.field == "source"
