# SPDX-License-Identifier: Apache-2.0
"""Puts the console together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymaly.server.console.pages import ALL
from anonymaly.server.console.pages.entering import Entering
from anonymaly.server.console.pages.provider_login import ProviderLogin
from anonymaly.server.console.pending import PendingCookies
from anonymaly.server.console.sessions import ConsoleSessions
from anonymaly.server.console.visit import ConsolePage
from anonymaly.server.logins.settings import WebLogin
from anonymaly.server.permissions import PAGES
from anonymaly.server.services import Services

if TYPE_CHECKING:
    from anonymaly.server.console.code_flow import CodeFlow


def console_of(services: Services) -> dict[str, Any]:
    """Return what `ConsoleGate` needs."""
    sessions = ConsoleSessions(services.state, services.authenticator, encrypted=services.settings.encrypted)
    login = services.settings.login
    cookies = PendingCookies(encrypted=services.settings.encrypted)
    pages = every_page(
        Entering(sessions, None if login is None else login.name),
        ProviderLogin(sessions, cookies, None if login is None else _flow_of(login)),
    )
    return {"services": services, "sessions": sessions, "pages": pages}


def every_page(entering: Entering, provider: ProviderLogin) -> tuple[ConsolePage, ...]:
    """Return all pages; each has its row in the table of permissions, and each row its page."""
    pages = (*entering.pages, *provider.pages, *ALL)
    if {page.name for page in pages} != set(PAGES):
        raise AssertionError("the console's pages are not those of the table of permissions")
    return pages


def _flow_of(login: WebLogin) -> CodeFlow:
    from anonymaly.server.console.code_flow import CodeFlow  # noqa: PLC0415  (an extra)

    return CodeFlow(login)
