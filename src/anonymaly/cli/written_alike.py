# SPDX-License-Identifier: Apache-2.0
"""A file of new records that is written as the table is: the same dates, decimal commas and spellings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from anonymaly.ask.server_address import is_url
from anonymaly.cli.output import err
from anonymaly.cli.record_files import kind_of
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, Opaque
from anonymaly.declare.manifest import Manifest
from anonymaly.engine.encodings import read_text_file
from anonymaly.engine.source import Source
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.errors import InputError, SchemaError
from anonymaly.inspect import look


def read_alike(path: Path, manifest: str, declaration: Declaration) -> pa.Table:
    """Read new records as the table's own rows are read, and say what could not be read.

    Columns that are not declared are passed on as they are written. The records are the asker's own, so
    what is wrong with them may be said.
    """
    files: Mapping[str, Any] = {}
    if kind_of(path, "records") == "csv" and not is_url(manifest):
        declared = Manifest.load(manifest)
        files = {"file": declared.file, "line_breaks": declared.line_breaks}
    try:
        dataset = _dataset(path, declaration, files)
        found = look.columns(dataset)
        table = collect(dataset.table)
    except EngineFailure as failure:
        raise InputError(
            f"cannot read {path} ({failure.kind})", field="records", next_step="Check that it is complete."
        ) from None
    except (SchemaError, InputError) as error:
        raise InputError(error.problem, field="records", next_step=error.next_step) from None
    if found.lines is not None and (found.lines.too_few or found.lines.too_many):
        raise InputError(
            f"of {found.lines.lines:,} lines of {path}, {found.lines.too_few:,} have too few values and "
            f"{found.lines.too_many:,} too many",
            field="records",
            next_step="Give each line one value for each column.",
        )
    for column in found.columns:
        for remark in column.remarks() if column.troubled else ():
            err.print(f"note: {path.name}, {column.column}: {remark}", markup=False)
    return table


def _dataset(path: Path, declaration: Declaration, files: Mapping[str, Any]) -> Dataset:
    text = {"file": read_text_file(files["file"], field="file")} if files else {}
    names = Source(path, None, (), **{**files, **text}).table().schema().names
    columns: dict[str, Domain] = {name: declaration.columns.get(name, Opaque()) for name in names}
    return Dataset(path, name=path.stem, columns=columns, **files)
