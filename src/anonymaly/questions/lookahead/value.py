# SPDX-License-Identifier: Apache-2.0
"""The answer of ``lookahead``: a count for every combination of values, kept as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, BinaryIO

import pyarrow as pa

from anonymaly.ask.encoding import decode_json, encode_json
from anonymaly.declare.attributes import Attribute, Label
from anonymaly.errors import InputError

SHOWN = 20  # rows of a table in print


def show(value: CountTable, asks: str) -> str:
    """Write the table."""
    return f"{asks}:\n{value}"


def encode(value: CountTable, file: BinaryIO) -> None:
    """Write the table as JSON."""
    encode_json(value.to_dict(), file)


def decode(file: BinaryIO) -> CountTable:
    """Read the table back."""
    return CountTable.read(decode_json(file))


@dataclass(frozen=True)
class CountTable:
    """Counts for every combination of the columns' values.

    Examples
    --------
    >>> table = CountTable((Attribute("ward", ("A", "B")), Attribute("adult", (False, True))), (5, 7, 0, 11))
    >>> table.count(ward="B", adult=True)
    11
    >>> next(table.rows())
    {'ward': 'A', 'adult': False, 'records': 5}
    """

    attributes: tuple[Attribute, ...]
    counts: tuple[int, ...]

    def count(self, **values: Label) -> int:
        """Return the count of one combination."""
        for row in self.rows():
            if all(row[name] == value for name, value in values.items()) and len(values) == len(row) - 1:
                return int(row["records"])
        names = ", ".join(attribute.column for attribute in self.attributes)
        raise InputError(
            "is no combination of declared values", next_step=f"Give a value of each of {names}."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each combination with its count, in the order of the declaration."""
        names = [attribute.column for attribute in self.attributes]
        for labels, count in zip(
            product(*(attribute.values for attribute in self.attributes)), self.counts, strict=True
        ):
            yield {**dict(zip(names, labels, strict=True)), "records": count}

    def to_arrow(self) -> pa.Table:
        """Return the table in Arrow's form."""
        return pa.Table.from_pylist(list(self.rows()))

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        import pandas  # noqa: PLC0415  (not every user of the table has it)

        return pandas.DataFrame(list(self.rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"columns": [item.to_dict() for item in self.attributes], "counts": list(self.counts)}

    @classmethod
    def read(cls, data: dict[str, Any]) -> CountTable:
        """Read the table from plain data."""
        attributes = tuple(map(Attribute.of_dict, data["columns"]))
        return cls(attributes, tuple(data["counts"]))

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import cells, fragment, paragraph  # noqa: PLC0415  (only notebooks)

        names = [*(item.column for item in self.attributes), "records"]
        rows = [
            [*map(str, list(row.values())[:-1]), f"{row['records']:,}"] for row in islice(self.rows(), SHOWN)
        ]
        more = len(self.counts) - SHOWN
        return fragment(
            cells(names, rows, numbers=(len(names) - 1,)),
            paragraph(f"… and {more:,} more", "faint") if more > 0 else "",
        )

    def __str__(self) -> str:
        lines = [
            ", ".join(f"{name} {value}" for name, value in row.items() if name != "records")
            + f": {row['records']:,}"
            for row in islice(self.rows(), SHOWN)
        ]
        more = [f"… and {len(self.counts) - SHOWN:,} more"] if len(self.counts) > SHOWN else []
        return "\n".join(lines + more)
