# SPDX-License-Identifier: Apache-2.0
"""A real browser, and a provider on another site: which cookies are sent on the way is its to say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.server.logins.providing import RunningProvider, running_provider
from tests.server.logins.test_entering_by_provider import settings
from tests.server.web.served import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def elsewhere() -> Iterator[RunningProvider]:
    with running_provider("localhost") as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without"])
def test_a_browser_comes_back_from_another_site_and_is_logged_in(
    chromium: Browser, elsewhere: RunningProvider, tmp_path: Path, script: bool
) -> None:
    with serve(tmp_path, login=settings(elsewhere)) as served:
        context = chromium.new_context(java_script_enabled=script)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(f"{served.base}/tables/patients")
        page.get_by_role("link", name="Log in with Example University").click()
        page.locator("input[name=login]").fill("ann")
        page.locator("input[name=password]").fill("any")
        page.locator("button[type=submit]").click()
        page.get_by_role("button", name="Continue").click()
        # The session's cookie is Strict: a redirection from the provider's site would arrive without it.
        page.get_by_role("heading", name="patients", level=1).wait_for()
        assert page.url == f"{served.base}/tables/patients"
        cookies = {item["name"]: item.get("sameSite") for item in context.cookies(served.base)}
        assert cookies == {"anonymaly": "Strict"}
        page.get_by_role("button", name="Log out").click()
        page.get_by_text("You are logged out.").wait_for()
        context.close()
