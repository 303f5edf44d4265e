# SPDX-License-Identifier: Apache-2.0
"""What answers of other people's kinds hold, by name: frames, columns, and objects of any class."""

from __future__ import annotations

from typing import Any

import numpy as np


def columns_of(item: Any) -> list[tuple[Any, Any]] | None:
    """Return a table's or a column's parts by name, of packages whose boxes are known; None for others."""
    home = type(item).__module__.partition(".")[0]
    kind = type(item).__name__
    if home == "pandas" and kind in ("DataFrame", "Series"):
        index = item.index
        usual = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
        columns = [] if usual else [("index", index.to_numpy())]
        if kind == "Series":
            return [*columns, ("values", item.to_numpy())]
        return [
            *columns,
            *((name, item.iloc[:, place].to_numpy()) for place, name in enumerate(item.columns)),
        ]
    if home == "polars" and kind in ("DataFrame", "Series"):
        series = [item] if kind == "Series" else item.get_columns()
        return [(column.name, column.to_numpy()) for column in series]
    if home == "pyarrow" and kind in ("Table", "RecordBatch"):
        pairs = zip(item.schema.names, item.columns, strict=True)
        return [(name, column.to_numpy(zero_copy_only=False)) for name, column in pairs]
    if home == "pyarrow" and kind.endswith("Array"):
        return [("values", item.to_numpy(zero_copy_only=False))]
    return [("value", item.as_py())] if home == "pyarrow" and kind.endswith("Scalar") else None


def parts_of(item: Any) -> list[tuple[str, Any]]:
    """Return what an object of no known kind holds, by name."""
    slots = [name for kind in type(item).__mro__ for name in np.atleast_1d(vars(kind).get("__slots__", ()))]
    parts = {str(name): getattr(item, name) for name in slots if hasattr(item, name)}
    parts.update(getattr(item, "__dict__", {}))
    for own in ("__dict__", "__weakref__"):
        parts.pop(own, None)
    if isinstance(item, BaseException):
        parts["args"] = item.args
    return sorted(parts.items())
