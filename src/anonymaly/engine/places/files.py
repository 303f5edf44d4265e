# SPDX-License-Identifier: Apache-2.0
"""Tables in files of text or Parquet: one file, several of them, or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymaly.engine import layouts, lookup, partition_links
from anonymaly.engine.encodings import exact_paths, in_utf_8, lines_not_utf_8
from anonymaly.engine.files import find_files, state_of_files
from anonymaly.engine.headers import common_header
from anonymaly.engine.parquet import (
    columns_in_milliseconds,
    read_schemas,
    refuse_differences,
    refuse_wide_files,
)
from anonymaly.engine.places.place import Request, TablePlace
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.engine.duckdb import DuckDB


class Files(TablePlace):
    """Files that the engine in this process reads, and reads again once they are others."""

    has_collations = False
    advice = "Check that the file is complete, and that this user may read it."

    def __init__(self, path: str, request: Request) -> None:
        self.path = self.shown = path
        self._request = request
        self._state: object = None

    def open(self) -> ir.Table:
        """Open the files that there are now."""
        if not find_files(self.path):  # there was one when it was declared
            raise SchemaError(
                f"there is no file {self.path} any more",
                field="source",
                next_step="Put it back, or declare the dataset anew with the path that it has now.",
            )
        self._state = self._state_now()
        return self._read(lookup.embedded(self._request.limits))

    def renew(self) -> bool:
        """Say whether the files are others than those that were opened."""
        return self._state is not None and self._state != self._state_now()

    def _read(self, engine: DuckDB) -> ir.Table:
        raise NotImplementedError

    def _state_now(self) -> object:
        try:
            return state_of_files(self.path)
        except OSError:  # a file went while we looked; opening says so
            return ()

    def _folders(self, names: Sequence[str]) -> list[str]:
        """Return the columns that folders hold; what they are called after is text, read as declared."""
        folders = layouts.partitions(find_files(self.path))
        for name in folders:
            if name.lower() in {other.lower() for other in names}:
                raise SchemaError(
                    f"{name} is a column of the files and of the folders that they lie in",
                    field="source",
                    next_step="Rename the folders, or leave the column out of the files.",
                )
        return folders


class TextFiles(Files):
    """Files with one record a line, every value as text."""

    def _read(self, engine: DuckDB) -> ir.Table:
        files, names, delimiter = self._header()
        line_breaks = self._request.line_breaks
        return engine.open_text(
            files, names, delimiter, line_breaks=line_breaks, folders=self._folders(names)
        )

    def lengths(self, opened: ir.Table) -> ir.Table:
        """Return how many values each line has, and how many are needed."""
        from anonymaly.engine import lines  # noqa: PLC0415  (Ibis, when the table is open)

        _, names, delimiter = self._header()
        return lines.lengths(opened.get_backend().table("source"), names, delimiter)

    def lines_not_utf_8(self) -> int:
        """Return how many lines are left out because they are not in UTF-8, as the file is said to be."""
        return lines_not_utf_8(in_utf_8(find_files(self.path), self._request.file.encoding))

    def _header(self) -> tuple[list[str], list[str], str]:
        """Return the files in UTF-8, the names of their columns, and their delimiter."""
        files = in_utf_8(find_files(self.path), self._request.file.encoding)
        return exact_paths(files), *common_header(files, self._request.file.delimiter)


class ParquetFiles(Files):
    """Files with typed columns."""

    def _read(self, engine: DuckDB) -> ir.Table:
        found = find_files(self.path)
        refuse_wide_files(found)
        folders = self._folders(())
        schemas = read_schemas(found)
        refuse_differences(schemas, [name for name in self._request.needed if name not in folders])
        self.in_milliseconds = columns_in_milliseconds(schemas)
        opened, untyped = engine.open_parquet(
            [partition_links.plainly(file) for file in found], folders=folders, needed=self._request.needed
        )
        self.loose = {**untyped, **dict.fromkeys(folders, "the name of a folder")}
        return opened
