# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Interval, Opaque
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
        ('a,b\n1,"u\nv"\n', [(1, "u\nv")]),
        ("a,b\n1,\n,x\n", [(1, None), (None, "x")]),
        ("a,b\n1\n1,x,3\n2,x\n\n", [(1, "x"), (2, "x")]),
        (b"a,b\n1,\xff\xfe\n2,x\n", [(2, "x")]),
        ("a,b\nthirty,x\n1e400,x\nnan,x\n-inf,x\n", [(None, "x")] * 4),
        ("a,b\n#1,x\n", [(None, "x")]),
        ("a,b\nNULL,NULL\n", [(None, "NULL")]),
        ("a,b\n1,x\n" + "2," + "y" * 3_000_000 + "\n", [(1, "x")]),
        ("a,b\n1,x\n2,q\0q\n", [(1, "x"), (2, "q\0q")]),
        ('a,b\n1,x\n2,"open\n', [(1, "x"), (2, "open")]),
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
    table = Dataset(tmp_path / "t.csv", name="x", columns={"a": Interval(0, 1), "b": Opaque()}).table
    found = collect(
        table.aggregate(rows=table.count(), known=table.a.count(), total=table.a.sum())
    ).to_pylist()
    assert found == [{"rows": lines, "known": lines, "total": lines * (lines - 1) / 2}]


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
        (".", "is a folder"),
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
    with pytest.raises(InputError, match=reason) as refused:
        Dataset(source, name="x", columns=AGE)
    assert refused.value.field == "source"
