# SPDX-License-Identifier: Apache-2.0
"""Delta and Iceberg tables, through the packages that read their logs; rows are streamed to the engine.

A question is about one version of the table: the newest one when it is asked, or one that its owner names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import unquote

from anonymaly.core.extras import load, require
from anonymaly.engine import layouts
from anonymaly.errors import SchemaError


class Rows:
    """The rows of one version, which the engine may read as often as it needs."""

    def __init__(self, scan: Callable[[], Any]) -> None:
        import pyarrow as pa  # noqa: PLC0415

        self._scan = scan
        self._schema = pa.schema(scan().schema)

    # Arrow's interface; without a schema of its own, the engine would begin to read rows for it.
    def __arrow_c_schema__(self) -> Any:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._scan().__arrow_c_stream__(requested_schema)


class Lake(Protocol):
    """A table with a log."""

    def renew(self) -> bool:
        """Look for a newer version, and say whether there is one."""

    def rows(self, needed: Sequence[str]) -> Rows:
        """Return these columns, as far as the table has them, of the version that is current."""

    def files(self) -> Sequence[str]:
        """Return where the files are that these rows are read from."""


def of_path(path: str, kind: str) -> Lake:
    """Return the table in a folder."""
    return Delta(path) if kind == "delta" else Iceberg(path)


def of_object(source: Any) -> Lake | None:
    """Return the table that a user opened with the package of its kind; None if it is no such thing."""
    libraries = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    if "deltalake" in libraries and hasattr(source, "scan"):
        return Delta(source)
    if "pyiceberg" in libraries and hasattr(source, "scan"):
        return Iceberg(source)
    return None


class Delta:
    """A Delta table: the newest version at each question, or that of ``folder@v12`` or of an open table."""

    def __init__(self, source: Any) -> None:
        require("lake", "A Delta table", "deltalake")
        self._path: str | None = None
        self._version: int | None = None
        if isinstance(source, str):
            self._path, self._version = layouts.pinned(source)
        self._table: Any = source if self._path is None else None
        self._process = os.getpid()

    def renew(self) -> bool:
        """Look for a newer version."""
        self._refuse_forked()
        if self._path is None or self._version is not None or self._table is None:
            return False
        before = self._table.version()
        self._table = None
        return bool(self._opened().version() != before)

    def rows(self, needed: Sequence[str]) -> Rows:
        """Return the columns; deletion vectors and renamed columns are heeded by the package."""
        table = self._opened()
        known = [field.name for field in table.schema().fields]
        columns = [name for name in known if name in needed] or known
        return Rows(lambda: table.scan(columns=columns))

    def files(self) -> Sequence[str]:
        """Return the files that the log names in the table's own folder."""
        table = self._opened()
        root = table.table_uri.removeprefix("file://")
        # The package escapes the folder of the table, and leaves what is below it as it is on disk.
        own = [file.removeprefix(root) for file in table.file_uris() if file.startswith(root)]
        return [os.path.join(unquote(root), file) for file in own]

    def _opened(self) -> Any:
        self._refuse_forked()
        if self._table is None:
            package = load("deltalake", "lake", "A Delta table")
            self._table = package.DeltaTable(self._path, version=self._version)
        return self._table

    def _refuse_forked(self) -> None:
        if self._process != os.getpid():
            raise SchemaError(
                "a Delta table cannot be read in a forked process, because its package cannot be used there",
                field="source",
                next_step="Start processes by spawn or forkserver, or declare the table in each of them.",
            )


class Iceberg:
    """An Iceberg table: a metadata file, a folder that says which one counts, or an open table."""

    def __init__(self, source: Any) -> None:
        require("lake", "An Iceberg table", "pyiceberg")
        self._path = source if isinstance(source, str) else None
        self._table: Any = None if self._path is not None else source
        self._files: list[str] = []
        if self._path is not None:
            _refuse_without_hint(self._path)

    def renew(self) -> bool:
        """Look for a newer version: a catalog's, or the folder's."""
        if self._table is None:
            return False
        before = self._table.metadata_location
        if self._path is not None:
            self._table = None
            return bool(self._opened().metadata_location != before)
        if type(self._table).__name__ != "StaticTable":
            self._table.refresh()
        return bool(self._table.metadata_location != before)

    def rows(self, needed: Sequence[str]) -> Rows:
        """Return the columns; deletes and renamed columns are heeded by the package."""
        table = self._opened()
        known = [field.name for field in table.schema().fields]
        columns = tuple(name for name in known if name in needed) or ("*",)
        scan = table.scan(selected_fields=columns)  # of what the table is now, whatever becomes of it
        files = list(scan.plan_files())  # what its package cannot read is known before a question is charged
        self._files = [part.file_path for task in files for part in (task.file, *task.delete_files)]
        return Rows(lambda: _file_by_file(scan, files))

    def files(self) -> Sequence[str]:
        """Return the files of rows and of deletes that were planned to be read."""
        return self._files

    def _opened(self) -> Any:
        if self._table is None:
            package = load("pyiceberg.table", "lake", "An Iceberg table")
            self._table = package.StaticTable.from_metadata(self._path)
        return self._table


def _file_by_file(scan: Any, files: Sequence[Any]) -> Any:
    """Return a reader that holds one file at a time; the package's own may hold all of them."""
    import pyarrow as pa  # noqa: PLC0415

    package = load("pyiceberg.io.pyarrow", "lake", "An Iceberg table")
    projection = scan.projection()
    schema = package.schema_to_pyarrow(projection, include_field_ids=False)
    reading = package.ArrowScan(
        scan.table_metadata, scan.io, projection, scan.row_filter, scan.case_sensitive
    )
    batches = (batch for file in files for batch in reading.to_record_batches([file]))
    return pa.RecordBatchReader.from_batches(schema, batches).cast(schema)


def _refuse_without_hint(path: str) -> None:
    """Refuse a folder that does not say which of its metadata files counts: its catalog knows that."""
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "metadata", "version-hint.text")):
        raise SchemaError(
            f"{path} is an Iceberg table, and only its catalog knows which of its metadata files is current",
            field="source",
            next_step="Give the current metadata.json file, or the table as pyiceberg's catalog loads it.",
        )
