# SPDX-License-Identifier: Apache-2.0
"""Tables with a log, Delta and Iceberg, by their folder or as their own package opened them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from anonymaly.engine import lake, lookup
from anonymaly.engine.places.place import Request, TablePlace
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


class LakeTable(TablePlace):
    """One version of a table with a log, streamed to the engine in this process."""

    advice = (
        "Check that its log is whole and has the version; if the table has a feature that is newer than the "
        "package that reads it, install a newer deltalake or pyiceberg."
    )

    def __init__(self, table: lake.Lake, request: Request) -> None:
        self._lake = table
        self._request = request

    @classmethod
    def at(cls, path: str, kind: Literal["delta", "iceberg"], request: Request) -> LakeTable:
        """Return the table in a folder."""
        found = cls(lake.of_path(path, kind), request)
        found.shown = path
        return found

    @classmethod
    def accept(cls, source: Any, request: Request) -> LakeTable | None:
        """Return the table that a package opened; None if it is no such thing."""
        table = lake.of_object(source)
        return None if table is None else cls(table, request)

    def open(self) -> ir.Table:
        """Open the version that is current."""
        rows = self._lake.rows(self._request.needed)
        self._refuse_gone()
        return lookup.embedded(self._request.limits).open_arrow(rows)

    def renew(self) -> bool:
        """Look for a newer version; without one, see that the files are still there."""
        try:
            renewed = self._lake.renew()
        except SchemaError:
            raise
        except Exception:  # opening says why
            renewed = True
        if not renewed:
            self._refuse_gone()
        return renewed

    def _refuse_gone(self) -> None:
        """Refuse a version whose files were cleaned up, before a question about it is charged."""
        # Their names may hold the values of rows.
        if any(map(_is_gone, self._lake.files())):
            raise SchemaError(
                "files that its log names are gone",
                field="source",
                next_step="Give a newer version; vacuum, and expiring snapshots, remove files of old ones.",
            )


def _is_gone(file: str) -> bool:
    """Say whether a file of this machine is not there; of other machines, reading finds out."""
    path = file.removeprefix("file://")
    return os.path.isabs(path) and not os.path.exists(path)
