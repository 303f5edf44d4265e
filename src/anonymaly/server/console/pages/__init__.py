# SPDX-License-Identifier: Apache-2.0
"""The pages by subject; `ALL` is what the console is made of, besides the login."""

from __future__ import annotations

from anonymaly.server.console.pages import (
    amending,
    answers,
    asking,
    books,
    budget,
    choosing,
    finding,
    front,
    grants,
    keys,
    proposals,
    scoring,
    statement,
    static,
    streams,
    tables,
)
from anonymaly.server.console.visit import ConsolePage

ALL: tuple[ConsolePage, ...] = (
    *static.PAGES,
    *front.PAGES,
    *choosing.PAGES,
    *tables.PAGES,
    *asking.PAGES,
    *answers.PAGES,
    *scoring.PAGES,
    *finding.PAGES,
    *statement.PAGES,
    *budget.PAGES,
    *grants.PAGES,
    *keys.PAGES,
    *books.PAGES,
    *amending.PAGES,
    *proposals.PAGES,
    *streams.PAGES,
)
