# SPDX-License-Identifier: Apache-2.0
"""Lines of a file in another encoding than it is said to be in are no records, and the owner is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError, SchemaError

COLUMNS: dict[str, Domain] = {"job": am.Categories(["Köchin", "Arzt"]), "pay": am.Interval(0, 100)}
LINES = ["job,pay", *["Köchin,10", "Arzt,20", "Köchin,30"] * 50]


def written(
    folder: Path, encoding: str = "cp1252", lines: list[str] = LINES, name: str = "staff.csv"
) -> Path:
    path = folder / name
    content = "\n".join([*lines, ""]).encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("line_break", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("name", ["staff.csv", "staff.csv.gz", "staff.csv.zst"])
def test_lines_are_counted_whatever_ends_them(tmp_path: Path, name: str, line_break: bytes) -> None:
    content = written(tmp_path).read_bytes().replace(b"\n", line_break)
    path = tmp_path / name
    if path.suffix == ".zst":
        with pa.output_stream(path, compression="zstd") as packed:
            packed.write(content)
    else:
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    staff = am.Dataset(path, name="staff", columns=COLUMNS)
    assert (staff.table.count().execute(), staff.lines_not_utf_8()) == (50, 100)


@pytest.mark.parametrize("name", ["staff.csv", "staff.csv.gz"])
@pytest.mark.parametrize("line_breaks", [False, True])
def test_the_owner_is_told_how_many_lines_are_left_out(tmp_path: Path, name: str, line_breaks: bool) -> None:
    path = written(tmp_path, name=name)
    staff = am.Dataset(path, name="staff", columns=COLUMNS, line_breaks=line_breaks)
    found = am.inspect.columns(staff)
    assert found.rows == 50
    assert found.lines is not None
    assert found.lines.not_utf_8 == 100
    assert "100 further lines are not in UTF-8, and are no records: say its encoding" in str(found)
    assert "100 further lines are not in UTF-8" in found._repr_html_()
    right = am.inspect.columns(
        am.Dataset(
            path, name="staff", columns=COLUMNS, line_breaks=line_breaks, file={"encoding": "windows-1252"}
        )
    )
    assert right.rows == 150
    assert "UTF-8" not in str(right)


def test_a_first_line_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, lines=["tätigkeit,pay", "Arzt,20"])
    columns = {"tätigkeit": am.Categories(["Arzt"]), "pay": am.Interval(0, 100)}
    with pytest.raises(SchemaError, match=r"the first line of .* is not in UTF-8"):
        am.Dataset(path, name="staff", columns=columns).ready()
    am.Dataset(path, name="staff", columns=columns, file={"encoding": "windows-1252"}).ready()


def test_new_records_in_another_encoding_are_refused(tmp_path: Path) -> None:
    staff = am.Dataset(written(tmp_path, "utf-8"), name="staff", columns=COLUMNS)
    with pytest.raises(InputError, match=r"100 lines of new.csv are not in UTF-8"):
        am.read_alike(written(tmp_path, name="new.csv"), staff)
