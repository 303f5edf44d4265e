# SPDX-License-Identifier: Apache-2.0
"""Text files in other encodings and with other delimiters; no sequence of bytes is an error."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Interval, Opaque
from anonymaly.engine import spill
from anonymaly.errors import InputError
from tests.declare.tables import records

COLUMNS: dict[str, Domain] = {"Größe": Interval(0, 300), "Währung": Categories(["€", "£"])}
TEXT = "Größe;Währung\n170;€\n180;£\n"


def read(path: Path, file: dict[str, str] | None, **options: Any) -> list[tuple[Any, ...]]:
    return records(Dataset(path, name="x", columns=COLUMNS, file=file, **options))


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "windows-1252", "cp1252", "utf-16"])
@pytest.mark.parametrize("line_breaks", [False, True])
def test_a_file_is_read_in_the_encoding_that_its_owner_names(
    encoding: str, line_breaks: bool, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert read(path, {"encoding": encoding}, line_breaks=line_breaks) == [(170, "€"), (180, "£")]
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.encode(encoding)))
    assert read(packed, {"encoding": encoding}, line_breaks=line_breaks) == [(170, "€"), (180, "£")]


@pytest.mark.parametrize("encoding", ["latin-1", "iso-8859-1"])
def test_latin_1_has_no_euro(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.replace("€", "\x80").encode(encoding))
    assert read(path, {"encoding": encoding}) == [(170, "\x80"), (180, "£")]


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16"])
def test_no_bytes_of_a_row_are_an_error_nor_change_another_row(encoding: str, tmp_path: Path) -> None:
    # The engine's own decoder fails at bytes from 80 to 9F, and at characters beyond the first 65,536.
    path = tmp_path / "t.csv"
    odd = bytes(byte for byte in range(256) if byte not in b"\n\r,") + bytes([0x81])
    broken = {"utf-16": b"\x00\xd8\x3d\xd8\x00\xde"}.get(encoding, odd)  # half a pair, and a whole one
    start, line, end = ("a,b\n1,", "\n", "2,x\n")
    name = "utf-16-le" if encoding == "utf-16" else encoding
    path.write_bytes(start.encode(name) + broken + line.encode(name) + end.encode(name))
    columns: dict[str, Domain] = {"a": Interval(0, 9), "b": Opaque()}
    found = records(Dataset(path, name="x", columns=columns, file={"encoding": encoding}))
    assert [row[0] for row in found] == [1, 2]
    assert found[1] == (2, "x")
    if encoding == "utf-16":
        assert found[0][1] == "\ufffd\U0001f600"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", " ", "~", "#"])
def test_a_declared_delimiter_counts_whatever_the_header_has(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    others = ",;|".replace(delimiter, "")
    path.write_text(delimiter.join(["a" + others * 3, "b"]) + f'\n1{delimiter}"x{delimiter}""y"""\n')
    columns: dict[str, Domain] = {"b": Opaque()}
    assert records(Dataset(path, name="x", columns=columns, file={"delimiter": delimiter})) == [
        (f'x{delimiter}"y"',)
    ]


@pytest.mark.parametrize(
    ("file", "field", "reason"),
    [
        ({"encoding": "ebcdic"}, "file.encoding", "is not an encoding"),
        ({"encoding": 8}, "file.encoding", "is not an encoding"),
        ({"delimiter": ";;"}, "file.delimiter", "is not a delimiter"),
        ({"delimiter": '"'}, "file.delimiter", "is not a delimiter"),
        ({"quote": "x"}, "file.quote", "is not a field"),
        ("latin-1", "file", "must be a mapping"),
    ],
)
def test_what_cannot_be_read_is_refused(file: Any, field: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(InputError, match=reason) as refused:
        read(tmp_path / "t.csv", file)
    assert refused.value.field == field
    assert refused.value.next_step


def test_an_encoding_of_what_is_no_text_file_is_refused() -> None:
    import pyarrow as pa

    with pytest.raises(InputError, match="no text file") as refused:
        Dataset(pa.table({"a": [1]}), name="x", columns={"a": Opaque()}, file={"encoding": "latin-1"})
    assert refused.value.field == "file"


def test_the_copy_in_utf_8_is_private_made_once_and_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    assert len(read(path, {"encoding": "cp1252"})) == 2
    copies = sorted(spill.folder().glob("*/t.csv"))
    assert len(read(path, {"encoding": "cp1252"})) == 2
    assert sorted(spill.folder().glob("*/t.csv")) == copies
    assert all(copy.parent.stat().st_mode & 0o077 == 0 for copy in copies) or os.name == "nt"
    path.write_bytes((TEXT + "190;€\n").encode("cp1252"))
    assert len(read(path, {"encoding": "cp1252"})) == 3
