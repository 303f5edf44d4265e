# SPDX-License-Identifier: Apache-2.0
"""What a study has found: tables, and where the pictures are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

Table = TypeVar("Table")


@dataclass(frozen=True)
class Reproduction(Generic[Table]):
    """The tables of a paper's experiments, its pictures, and further figures by name."""

    paper: str
    tables: tuple[Table, ...]
    pictures: tuple[Path, ...]
    further: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        tables: tuple[Any, ...] = self.tables
        return {
            "paper": self.paper,
            "tables": [table.to_dict() for table in tables],
            "pictures": [path.name for path in self.pictures],
            **self.further,
        }
