# SPDX-License-Identifier: Apache-2.0
"""Files in folders called ``name=value`` whose value the embedded engine would read otherwise, or fail at.

A value is what rows hold, so it must not decide whether a table can be opened. To the engine a folder with a
second = or a ? is no column, a backslash ends a name, and bytes that are not UTF-8 are an error. Such files
get a link, in a folder for their owner alone, whose folders say the same as everybody writes it.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes

from anonymaly.engine import layouts, spill

NULL = "__HIVE_DEFAULT_PARTITION__"
_READ_OTHERWISE = re.compile(r"[?\\\n]|=.*=", re.DOTALL)
_ESCAPED = re.compile(r"[\x00-\x1f%=?\\/]")


def plainly(file: str) -> str:
    """Return a file by a path whose folders the engine reads as we do: its own, or that of a link to it."""
    folders = layouts.folders_of(file)
    if all(map(_is_read_alike, folders)):
        return file
    whole = os.path.abspath(file)
    own = hashlib.sha256(os.fsencode(whole)).hexdigest()
    place = spill.folder().joinpath("links", own, *map(_rewritten, folders))
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    link = place / Path(file).name
    if not link.is_symlink():
        link.symlink_to(whole)
    return str(link)


def _is_read_alike(folder: str) -> bool:
    return _READ_OTHERWISE.search(folder) is None and _text(folder) is not None


def _rewritten(folder: str) -> str:
    name, _, value = folder.partition("=")
    text = _text(value)
    return f"{name}={NULL if text is None else _ESCAPED.sub(lambda found: f'%{ord(found[0]):02X}', text)}"


def _text(escaped: str) -> str | None:
    """Return what a folder's name says; null if it is not UTF-8, as all other text."""
    try:
        return unquote_to_bytes(os.fsencode(escaped)).decode("utf-8")
    except UnicodeDecodeError:
        return None
