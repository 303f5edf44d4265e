# SPDX-License-Identifier: Apache-2.0
"""`SyntheticRows`: rows drawn from what was released. They are nobody's, and say so wherever they go."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anonymaly.ask.table import Table
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import pandas

MARK = "synthetic"  # the column that is true in every row, in whatever file they end
BANNER = (
    "SYNTHETIC ROWS: drawn from a released answer, for software tests and teaching; not records of the table"
)
MOST_ROWS = 1_000_000
SEEDS = 2**64  # a larger one would draw the rows of a smaller one again


class SyntheticRows(Table):
    """Rows of the declared columns, and a last column ``synthetic`` that is always true.

    Examples
    --------
    >>> rows = SyntheticRows.made({"ward": pa.array(["A", "B"])}, seed=7)
    >>> print(rows)
    SYNTHETIC ROWS: drawn from a released answer, for software tests and teaching; not records of the table
    ward  synthetic
    A     True
    B     True
    >>> rows.seed
    7
    """

    seed: int  # draws the same rows again

    @classmethod
    def made(cls, columns: dict[str, pa.Array], *, seed: int) -> SyntheticRows:
        """Return typed columns of equal length as marked rows."""
        count = len(next(iter(columns.values())))
        table = pa.table({**columns, mark_of(columns): pa.array(np.ones(count, bool))})
        table = table.replace_schema_metadata({MARK: BANNER})  # in Parquet and Arrow files, also without rows
        rows = cls(Table.of(table.schema, [table])._source)
        rows.seed = seed
        return rows

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns, and what the rows are, which Arrow files say as well."""
        return super().schema.with_metadata({MARK: BANNER})

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas frame, whose ``attrs`` say that they are synthetic."""
        frame = super().to_pandas()
        frame.attrs[MARK] = BANNER
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return what is in the table, without the rows themselves."""
        return {MARK: True, "seed": self.seed, **super().to_dict()}

    def __repr__(self) -> str:
        return f"SyntheticRows({len(self):,} rows, columns={self.columns})"

    def __str__(self) -> str:
        return f"{BANNER}\n{super().__str__()}"


def mark_of(taken: dict[str, pa.Array]) -> str:
    """Return a name for the column of the mark that no other column has, to engines that ignore case too."""
    name, used = MARK, {column.lower() for column in taken}
    while name in used:
        name += "_row"
    return name


def read_count(rows: Any, *, field: str = "rows") -> int:
    """Return how many rows are wanted, or raise an error."""
    whole = isinstance(rows, int | np.integer) and not isinstance(rows, bool)
    if not whole or not 0 <= rows <= MOST_ROWS:
        raise InputError(
            f"must be a whole number from 0 to {MOST_ROWS:,}, got {rows!r}",
            field=field,
            next_step="Draw more rows in several calls: without a seed, each draws others.",
        )
    return int(rows)


def read_seed(seed: Any) -> int:
    """Return the seed, or one of its own for each call; it is public, and hides nothing."""
    if seed is None:
        from anonymaly.noise import Noise  # noqa: PLC0415  (compiled code, which a seed does without)

        return Noise.system().uniform(2**63)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < SEEDS:
        raise InputError(
            f"must be a whole number from 0 to 2^64 - 1, got {seed!r}",
            field="seed",
            next_step="Give 0, 1, 2 and so on.",
        )
    return int(seed)
