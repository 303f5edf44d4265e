# SPDX-License-Identifier: Apache-2.0
"""What no amendment may change of a declaration: the sum of charges has no meaning across such a change."""

from __future__ import annotations

from typing import Any

FIXED = ("adjacency", "public", "unit")


def fixed(declaration: Any) -> dict[str, Any]:
    """Return the part of a declaration that no amendment may change.

    Examples
    --------
    >>> fixed({"adjacency": "replace", "public": False, "unit": None, "columns": {}})
    {'adjacency': 'replace', 'public': False, 'unit': None}
    """
    return {name: declaration.get(name) for name in FIXED}
