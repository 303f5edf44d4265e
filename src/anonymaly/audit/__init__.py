# SPDX-License-Identifier: Apache-2.0
"""Does a mechanism keep its promise? Testers that try to break it, and mutants that test the testers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anonymaly.audit.mechanism import MechanismLoss as MechanismLoss
    from anonymaly.audit.mechanism import lower_bound as lower_bound

__all__ = ["MechanismLoss", "lower_bound"]


def __getattr__(name: str) -> Any:
    # On first use: the demonstration attacks by simpler means, and must not need what these import.
    if name in __all__:
        return getattr(import_module("anonymaly.audit.mechanism"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
