# SPDX-License-Identifier: Apache-2.0
"""Margins by name: by how many records someone stands out in a group."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anonymaly.questions.explain.everyone.margins.fence import Fence
from anonymaly.questions.explain.everyone.margins.margin import Margin
from anonymaly.questions.explain.everyone.margins.window import BinMargin, Rare

__all__ = ["MARGINS", "Margin"]

MARGINS: Mapping[str, type[Margin]] = MappingProxyType({kind.name: kind for kind in (Fence, Rare, BinMargin)})
