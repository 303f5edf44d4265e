# SPDX-License-Identifier: Apache-2.0
"""The defaults of a file, resolved into the columns that they say something about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from anonymaly.declare.domain import Domain, read_domain
from anonymaly.engine.reading import OF_ALL, OF_KIND, Reading
from anonymaly.errors import InputError

_OF_COLUMNS = frozenset({"same"})  # what only a column can say: its values are its own


def with_defaults(columns: Mapping[str, Domain], defaults: Reading | None) -> Mapping[str, Domain]:
    """Return the columns with the defaults of their file; what a column says itself counts before them.

    Afterwards each column says by itself how it is read, and the defaults are needed no more.
    """
    if defaults is None:
        return columns
    given = _said(defaults)
    if misplaced := sorted(given.keys() & _OF_COLUMNS):
        raise InputError(
            "cannot be a default of all columns",
            field=f"reading.{misplaced[0]}",
            next_step="Declare it in the read of the column that has these values.",
        )
    return MappingProxyType(
        {name: _with_defaults(domain, given, f"columns.{name}") for name, domain in columns.items()}
    )


def _with_defaults(domain: Domain, given: Mapping[str, Any], field: str) -> Domain:
    fields = OF_KIND[domain.kind] | OF_ALL
    own = {} if domain.read is None else _said(domain.read)
    meant = {name: item for name, item in given.items() if name in fields} | own
    if not meant:
        return domain
    return read_domain({**domain.to_dict(), "read": meant}, field=field)


def _said(reading: Reading) -> dict[str, Any]:
    """Return the fields that somebody gave, those at their default too."""
    given = reading.model_dump(mode="json", include=reading.model_fields_set)
    # What has its default is left out there.
    plain = {name: getattr(reading, name) for name in reading.model_fields_set - given.keys()}
    return {**given, **plain}
