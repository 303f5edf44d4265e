# SPDX-License-Identifier: Apache-2.0
"""The kinds that a column can be read as, and the names of the columns that a view adds."""

from __future__ import annotations

from typing import Literal

Kind = Literal["number", "whole number", "text", "flag", "moment", "opaque"]

PERSON = "__person__"  # whose row it is
PLACE = "__place__"  # of the row among those of its person
NON_SENSITIVE = "__non_sensitive__"  # whether a policy calls the row, or its person, so
ADDED = frozenset({PERSON, PLACE, NON_SENSITIVE})
