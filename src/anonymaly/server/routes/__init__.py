# SPDX-License-Identifier: Apache-2.0
"""The routes by subject; `ALL` is what an application is made of."""

from __future__ import annotations

from anonymaly.server.routes import (
    about,
    amendments,
    answers,
    books,
    grants,
    jobs,
    keys,
    operation,
    owner,
    proposals,
    questions,
    tables,
)
from anonymaly.server.routes.route import Route

ALL: tuple[Route, ...] = (
    *about.ROUTES,
    *operation.ROUTES,
    *tables.ROUTES,
    *questions.ROUTES,
    *jobs.ROUTES,
    *answers.ROUTES,
    *books.ROUTES,
    *grants.ROUTES,
    *owner.ROUTES,
    *amendments.ROUTES,
    *keys.ROUTES,
    *proposals.ROUTES,
)
