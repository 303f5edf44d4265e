# SPDX-License-Identifier: Apache-2.0
"""The file of a model: a zip of plain arrays and a JSON text, no pickle, with a digest of all of it.

The digest reveals a file that was cut off or edited by mistake. It is not a signature: whoever edits the
file on purpose can write a new digest. An owner compares with the ledger's digest of the stored answer.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from anonymaly.core.value import canonical_json
from anonymaly.errors import InputError
from anonymaly.questions.score.methods.method import FRESH_COPY, Body

FORMAT = "anonymaly model 1"
LARGEST = 2**31  # bytes of all arrays; more is no model but a trap for whoever opens it
ABOUT = "about.json"
MOMENT = (1980, 1, 1, 0, 0, 0)  # the same model is the same bytes, whenever it was saved


def write_model(file: BinaryIO, about: Mapping[str, Any], body: Body) -> None:
    """Write a model's description and arrays; `read_model` reads them."""
    text = canonical_json({"format": FORMAT, **about, "digest": _digest(about, body)})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(ABOUT), text)
        for name, array in sorted(body.items()):
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)


def read_model(file: BinaryIO, name: str) -> tuple[dict[str, Any], Body]:
    """Return the description and the arrays of a model, or raise an error if the file holds none."""
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                raise ValueError("too large")
            about = json.loads(archive.read(ABOUT))
            if about.pop("format") != FORMAT:
                raise ValueError("another format")
            body = {
                entry.removesuffix(".npy"): _array(archive, entry)
                for entry in archive.namelist()
                if entry != ABOUT
            }
        found, fitting = about.pop("digest"), _digest(about, body)
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        SyntaxError,
    ):
        raise _refusal(name, "is not a model, or is cut off") from None
    except (OSError, NotImplementedError, RuntimeError) as problem:
        raise _refusal(name, f"cannot be read ({type(problem).__name__})") from None
    if found != fitting:
        raise _refusal(name, "was changed after it was saved: its digest does not fit")
    return about, body


def _array(archive: zipfile.ZipFile, entry: str) -> Any:
    with archive.open(entry) as content:
        if np.lib.format.read_magic(content) != (1, 0):
            raise ValueError("another format of arrays")
        shape, _, kind = np.lib.format.read_array_header_1_0(content)
        # A few bytes may claim any shape, and memory for it would be taken before they are found missing.
        if math.prod(shape) * kind.itemsize != archive.getinfo(entry).file_size - content.tell():
            raise ValueError("another size than it says")
    if kind.kind not in "iuf":
        raise ValueError("not numbers")
    with archive.open(entry) as content:
        return np.lib.format.read_array(content, allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _digest(about: Mapping[str, Any], body: Body) -> str:
    whole = hashlib.sha256(canonical_json(about).encode())
    for name, array in sorted(body.items()):
        whole.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def _refusal(name: str, problem: str) -> InputError:
    return InputError(f"{name} {problem}", field="model", next_step=FRESH_COPY)
