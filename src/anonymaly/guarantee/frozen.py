# SPDX-License-Identifier: Apache-2.0
"""Mappings inside frozen values: kept as sorted items, because a dict can be neither hashed nor frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sorted_items(data: Any) -> Any:
    """Return a mapping as its items in order; pass on what is items already."""
    if isinstance(data, Mapping):
        return tuple(sorted(((str(name), item) for name, item in data.items()), key=lambda item: item[0]))
    return data
