# SPDX-License-Identifier: Apache-2.0
"""The searches by name: each is one file, and one line of the table below."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anonymaly.questions.explain.searches import breadth_first, depth_first, exact, random_walk, uniform
from anonymaly.questions.explain.searches.search import Search, SearchSettings

__all__ = ["SEARCHES", "Search", "SearchSettings"]

SEARCHES: Mapping[str, Search] = MappingProxyType(
    {
        search.name: search
        for search in (
            Search("exact", exact.search),
            Search("uniform", uniform.search),
            Search("random_walk", random_walk.search, takes_start=True),
            Search("depth_first", depth_first.search, takes_start=True, steered=True),
            Search("breadth_first", breadth_first.search, takes_start=True, steered=True),
        )
    }
)
