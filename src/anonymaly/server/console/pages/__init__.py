# SPDX-License-Identifier: Apache-2.0
"""The pages by subject; `ALL` is what the console is made of, besides the login."""

from __future__ import annotations

from anonymaly.server.console.pages import books, budget, front, grants, keys, proposals, static, tables
from anonymaly.server.console.visit import ConsolePage

ALL: tuple[ConsolePage, ...] = (
    *static.PAGES,
    *front.PAGES,
    *tables.PAGES,
    *budget.PAGES,
    *grants.PAGES,
    *keys.PAGES,
    *books.PAGES,
    *proposals.PAGES,
)
