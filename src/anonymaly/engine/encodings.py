# SPDX-License-Identifier: Apache-2.0
"""Text files that are not in UTF-8: which encoding and delimiter they have, and a private copy in UTF-8.

The embedded engine decodes some encodings itself, and fails at a byte that does not fit: that would be an
error which depends on a row. Here every sequence of bytes is some text.
"""

from __future__ import annotations

import codecs
import glob
import hashlib
import os
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import field_validator

from anonymaly.core.value import Value, added, is_text
from anonymaly.engine import layouts, partition_links, spill
from anonymaly.engine.files import open_unpacked, packing
from anonymaly.errors import InputError

Encoding = Literal["utf-8", "latin-1", "windows-1252", "utf-16"]
_NAMES: dict[str, Encoding] = {
    **{"utf-8": "utf-8", "utf8": "utf-8", "utf-8-sig": "utf-8", "ascii": "utf-8"},
    **{"latin-1": "latin-1", "latin1": "latin-1", "iso-8859-1": "latin-1"},
    **{"windows-1252": "windows-1252", "cp1252": "windows-1252"},
    **{"utf-16": "utf-16", "utf16": "utf-16"},
}
DELIMITERS = (",", ";", "\t", "|", ":", " ", "~", "#")
_CHUNK = 1 << 20
# The bytes in which the two differ; where Windows has nothing, there are the control characters of Latin-1.
_WINDOWS = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}


class TextFile(Value):
    """How the bytes of a text file become lines and fields."""

    encoding: Encoding = added("utf-8")
    """The encoding: utf-8, latin-1 (iso-8859-1), windows-1252 (cp1252) or utf-16."""
    delimiter: str | None = added(None)
    """What stands between two fields; by default the most frequent of , ; tab and | in the first line."""

    if TYPE_CHECKING:

        def __init__(self, *, encoding: str = "utf-8", delimiter: str | None = None) -> None: ...

    @field_validator("encoding", mode="before")
    @classmethod
    def _encoding(cls, name: Any) -> Encoding:
        known = _NAMES.get(name.lower().replace("_", "-")) if isinstance(name, str) else None
        if known is None:
            raise InputError(
                f"{name!r} is not an encoding that can be read",
                field="encoding",
                next_step="Give utf-8, latin-1, windows-1252 or utf-16, or copy the table to Parquet.",
            )
        return known

    @field_validator("delimiter")
    @classmethod
    def _delimiter(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and delimiter not in DELIMITERS:
            raise InputError(
                f"{delimiter!r} is not a delimiter that can be read",
                field="delimiter",
                next_step=f"Give one of {', '.join(map(repr, DELIMITERS))}.",
            )
        return delimiter


def read_text_file(data: Any, *, field: str = "file") -> TextFile:
    """Read what an owner says of a text file, from plain data."""
    if data is None or isinstance(data, TextFile):
        return data or TextFile()
    try:
        return TextFile.from_dict(data)
    except InputError as error:
        place = f"{field}.{error.field}" if error.field else field
        raise InputError(error.problem, field=place, next_step=error.next_step) from None


def in_utf_8(paths: Sequence[str], encoding: Encoding) -> list[str]:
    """Return the files themselves if they are in UTF-8, and otherwise private copies that are."""
    return list(paths) if encoding == "utf-8" else [_copy(path, encoding) for path in paths]


def lines_not_utf_8(paths: Sequence[str]) -> int:
    """Return how many lines of text files are not in UTF-8: the engine leaves them out, each by itself."""
    return sum(map(_lines_not_utf_8, paths))


def _lines_not_utf_8(path: str) -> int:
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with open_unpacked(path) as source:
        try:
            while chunk := source.read(_CHUNK):
                decode(chunk)
            decode(b"", True)
            return 0
        except UnicodeDecodeError:
            pass
    # By all line breaks that the engine knows; a byte that fits nowhere becomes half a surrogate.
    with open_unpacked(path) as source, TextIOWrapper(source, "utf-8", "surrogateescape") as lines:
        return sum(not is_text(line) for line in lines)


def _copy(path: str, encoding: Encoding) -> str:
    state = os.stat(path)
    told_apart = f"{os.path.abspath(path)}\0{encoding}\0{state.st_mtime_ns}\0{state.st_size}\0{state.st_ino}"
    # It goes when this process ends; like what the engine spills, only its owner can look into it.
    folder = spill.folder() / hashlib.sha256(told_apart.encode("utf-8", "surrogateescape")).hexdigest()
    folder = folder.joinpath(*layouts.folders_of(path))  # whose names are columns
    name = Path(path).name
    copy = folder / (name if packing(name) == "none" else Path(name).stem)
    if not copy.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = copy.with_name("unfinished")
        with (
            open_unpacked(path) as source,
            unfinished.open("w", encoding="utf-8", newline="") as target,
        ):
            chunk = source.read(_CHUNK)
            decode = _decoder(encoding, chunk)
            while chunk:
                target.write(decode(chunk, False))
                chunk = source.read(_CHUNK)
            target.write(decode(b"", True))
        unfinished.replace(copy)
    return str(copy)


def _decoder(encoding: Encoding, start: bytes) -> Callable[[bytes, bool], str]:
    """Return what decodes the chunks of a file one after the other, whatever bytes they are."""
    if encoding == "windows-1252":
        return lambda chunk, last: chunk.decode("latin-1").translate(_WINDOWS)
    # Files of Windows come without a mark, and then with the low byte first.
    has_mark = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    name = "utf-16-le" if encoding == "utf-16" and not has_mark else encoding
    return codecs.getincrementaldecoder(name)(errors="replace").decode


def exact_paths(files: Sequence[str]) -> list[str]:
    """Return files as the engine is to read them: brackets and stars in their names are no patterns."""
    return [glob.escape(for_engine(partition_links.plainly(file))) for file in files]


def for_engine(path: str) -> str:
    """Return a path as the embedded engine reads it: in UTF-8, whatever Python takes from the locale."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")
