# SPDX-License-Identifier: Apache-2.0
"""Tables in databases, by the path of a DuckDB file or by an address; each is opened for us alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymaly.engine import lookup
from anonymaly.engine.addresses import refuse_stores, scheme
from anonymaly.engine.encodings import for_engine
from anonymaly.engine.places.place import Request, TablePlace
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


class DatabaseFile(TablePlace):
    """A table of a DuckDB file."""

    def __init__(self, path: str, request: Request) -> None:
        self.path = self.shown = path
        self._table = request.named("a DuckDB file")
        self._limits = request.limits

    def open(self) -> ir.Table:
        """Open the file for reading alone."""
        return lookup.embedded(self._limits).open_database(for_engine(self.path), self._table)


class DatabaseAddress(TablePlace):
    """A table of the database at an address, which may hold a password and is never shown."""

    def __init__(self, address: str, request: Request) -> None:
        refuse_stores(address)
        lookup.refuse_unknown(address)
        lookup.refuse_unusable(scheme(address))
        self._table = request.named("a database URL")
        self._limits = request.limits
        self._address = lookup.wherever(address)
        self.is_embedded = self._address.startswith("duckdb:")

    def open(self) -> ir.Table:
        """Connect to the database."""
        if self.is_embedded:
            embedded = lookup.embedded(self._limits)
            return embedded.table(embedded.connect(self._address), self._table)
        engine = lookup.of_address(self._address)
        try:
            return engine.table(engine.connect(self._address), self._table)
        except SchemaError:
            raise
        except ImportError:
            problem, advice = lookup.without_driver(engine)
        except Exception as failure:
            problem, advice = engine.why_unreadable(type(failure).__name__)
        # Raised outside the handler: the engine's own words hold names, and may hold more.
        raise SchemaError(problem, field="source", next_step=advice)
