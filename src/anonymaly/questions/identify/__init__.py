# SPDX-License-Identifier: Apache-2.0
"""Is this record an anomaly in our data?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anonymaly.questions.identify.suggestion import Suggestion, suggest

__all__ = ["Suggestion", "suggest"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Imported when first used: a suggestion counts by compiled code, and asking a question needs none of it.
    return getattr(importlib.import_module(f"{__name__}.suggestion"), name)


def __dir__() -> list[str]:
    return __all__
