# SPDX-License-Identifier: Apache-2.0
"""Puts the console together."""

from __future__ import annotations

from typing import Any

from anonymaly.server.console.pages import ALL
from anonymaly.server.console.pages.entering import Entering
from anonymaly.server.console.sessions import ConsoleSessions
from anonymaly.server.console.visit import ConsolePage
from anonymaly.server.permissions import PAGES
from anonymaly.server.services import Services


def console_of(services: Services) -> dict[str, Any]:
    """Return what `ConsoleGate` needs."""
    sessions = ConsoleSessions(services.state, services.authenticator, encrypted=services.settings.encrypted)
    return {"services": services, "sessions": sessions, "pages": every_page(sessions)}


def every_page(sessions: ConsoleSessions) -> tuple[ConsolePage, ...]:
    """Return all pages; each has its row in the table of permissions, and each row its page."""
    pages = (*Entering(sessions).pages, *ALL)
    if {page.name for page in pages} != set(PAGES):
        raise AssertionError("the console's pages are not those of the table of permissions")
    return pages
