# SPDX-License-Identifier: Apache-2.0
"""Perturbation at the source: exact noise on a public grid, and how far it moved each reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats, Integers
from anonymaly.engine.frames import columns_of
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream.protocol.declaration import PerturbedColumns
from anonymaly.stream.protocol.encoding import LARGEST_NUMBER


@dataclass(frozen=True)
class Perturbed:
    """What the two servers get of some readings: the grid points, and the shifts."""

    values: Integers
    shifts: Integers


class Named(Protocol):
    """A declaration whose columns have names."""

    @property
    def names(self) -> list[str]:
        """The columns, in the order in which a reading lists them."""


def read_readings(declaration: Named, readings: Any) -> Floats:
    """Return readings as rows of the declared columns, or say what is wrong with them.

    Parameters
    ----------
    declaration
        The columns and their order.
    readings
        A frame or mapping with the declared columns, or rows in their order; for one column also a plain
        list. Infinity lies beyond the outer domain and is moved to its end; NaN has no place and is refused.
    """
    columns = readings if isinstance(readings, Mapping) else columns_of(readings, field="readings")
    if columns is not None:
        missing = [name for name in declaration.names if name not in columns]
        if missing:
            raise InputError(
                f"lack the column {missing[0]}",
                field="readings",
                next_step=f"Give {', '.join(declaration.names)}.",
            )
        rows = np.column_stack([_numbers(columns[name]) for name in declaration.names])
    else:
        rows = _numbers(readings)
        rows = rows[:, np.newaxis] if rows.ndim == 1 and len(declaration.names) == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != len(declaration.names):
        raise InputError(
            f"must be rows of {len(declaration.names)} numbers",
            field="readings",
            next_step=f"Give {', '.join(declaration.names)} for each reading.",
        )
    if np.isnan(rows).any():
        raise InputError(
            "hold a value that is not a number",
            field="readings",
            next_step="Leave such readings out, or put a public constant in their place.",
        )
    return rows


def perturb(declaration: PerturbedColumns, rows: Floats, noise: Noise) -> Perturbed:
    """Round readings to the grid, add two-sided geometric noise, and say how far each moved.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column, Declaration
    >>> column = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.5)
    >>> room = Declaration(columns=[column], epsilon=1, window=3, layer=2.0)
    >>> made = perturb(room, np.array([[20.0], [21.0], [75.0]]), Noise.seeded(1))
    >>> made.values.ravel().tolist(), made.shifts.tolist()
    ([-67, 1, 133], [2175, 425, 75])
    """
    exact = np.column_stack(
        [column.to_grid(rows[:, index]) for index, column in enumerate(declaration.columns)]
    )
    values = np.column_stack(
        [
            noise.add_two_sided_geometric(exact[:, index], column.rate(declaration.nano))
            for index, column in enumerate(declaration.columns)
        ]
    )
    moved = declaration.distances(values) - declaration.distances(exact)
    # Rounded before anybody sees it: the last bits of a difference of two square roots name both of them.
    shifts = np.clip(np.rint(moved / declaration.precision), -LARGEST_NUMBER, LARGEST_NUMBER)
    return Perturbed(values, shifts.astype(np.int64))


def _numbers(values: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "must be numbers", field="readings", next_step="Convert them to numbers first."
        ) from None
