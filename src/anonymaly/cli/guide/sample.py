# SPDX-License-Identifier: Apache-2.0
"""A sample of a table for its owner: how a text file is encoded and cut into fields, and some of its values.

Nothing of it is printed or written but the form: encoding, delimiter, formats and known words.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from anonymaly.engine.addresses import is_address
from anonymaly.engine.files import find_files, kind_of_files, open_unpacked, packing
from anonymaly.engine.headers import LONGEST_HEADER, refuse_misnamed
from anonymaly.engine.source import read_sample

LINES = 4_000  # from the beginning; further ones from places all over the file
HEAD, PIECE, PIECES = 4_000_000, 40_000, 24  # bytes, bytes, places
SCANNED = 1_000_000_000  # bytes that are checked for being UTF-8
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Sample:
    """Names, types and sampled values of a table, and how its file is written."""

    names: Sequence[str]
    texts: Mapping[str, Sequence[str]]
    # The engine's types; None for a text file, which has none.
    types: Mapping[str, Any] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    mark: bool = False
    line_breaks: bool = False
    rows: int = 0
    notes: Sequence[str] = field(default=())

    @property
    def is_text(self) -> bool:
        """Whether the table is a text file."""
        return self.types is None


def look(
    source: str, table: str | None = None, *, encoding: str | None = None, delimiter: str | None = None
) -> Sample:
    """Look at the beginning of a table and at some places further on."""
    if is_address(source) or kind_of_files(source) != "text":
        types, texts = read_sample(source, table, LINES)
        return Sample(list(types), texts, types)
    files = find_files(source)
    found = encoding or _encoding(files[0])
    with closing(open_unpacked(files[0])) as file:
        mark = file.read(3) == codecs.BOM_UTF8
    header = _first_line(files[0], found)
    cut = delimiter or max(DELIMITERS, key=re.sub('"[^"]*"', "", header).count)
    names = next(csv.reader([header], delimiter=cut), [])
    refuse_misnamed(files[0], names)
    rows = [row for file in files[:4] for row in _rows(file, found, cut, len(names))]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    breaks = _has_line_breaks(files[0], found, cut, len(names))
    return Sample(names, columns, None, found, cut, mark, breaks, len(rows))


def _first_line(path: str, encoding: str) -> str:
    with closing(open_unpacked(path)) as file:
        start = file.read(LONGEST_HEADER)
    text = start.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")
    return re.split("\r\n|\r|\n", text, maxsplit=1)[0]


def _encoding(path: str) -> str:
    """Return UTF-8 if the file is that, as far as it is looked at; otherwise the likeliest other encoding."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read, high = 0, b""
    with closing(open_unpacked(path)) as file:
        start = file.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        block = start + file.read(1 << 20)
        while block and read < SCANNED:
            read += len(block)
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                high = bytes(byte for byte in block if 0x80 <= byte < 0xA0)
                # Latin-1 has control characters where Windows has € and curly quotes.
                return "windows-1252" if high else "latin-1"
            block = file.read(1 << 20)
    return "utf-8"


def _rows(path: str, encoding: str, delimiter: str, width: int) -> Iterator[list[str]]:
    """Return the fields of some lines; lines with too few are not records."""
    for piece in _pieces(path):
        text = piece.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")
        lines = re.split("\r\n|\r|\n", text)
        # Of a piece in the middle, the first line and the last one are cut.
        for line in lines[1:-1][:LINES]:
            try:
                row = next(csv.reader([line], delimiter=delimiter), [])
            except csv.Error:
                continue
            if len(row) >= width:
                yield row


def _pieces(path: str) -> Iterator[bytes]:
    with closing(open_unpacked(path)) as file:
        head = file.read(HEAD)
        yield head + b"\n"
        if packing(path) != "none" or len(head) < HEAD:
            return
        size = os.path.getsize(path)
        for place in range(1, PIECES + 1):
            file.seek(HEAD + (size - HEAD) * place // (PIECES + 1) // 2 * 2)  # even, for UTF-16
            yield file.read(PIECE)


def _has_line_breaks(path: str, encoding: str, delimiter: str, width: int) -> bool:
    """Say whether values in quotes seem to hold line breaks: whole records do, read that way."""
    with closing(open_unpacked(path)) as file:
        text = file.read(HEAD).decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return any(len(row) == width and any("\n" in value for value in row) for row in rows)
    except csv.Error:
        return False
