# SPDX-License-Identifier: Apache-2.0
"""Servers for tests of the console, one that is left as it is and one to change, and one browser for all."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server.web.conftest import served
from tests.server.web.served import Served, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["changing", "chromium", "served"]


@pytest.fixture(scope="session")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("changing")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A real browser: one for all tests that have it."""
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("needs Playwright; install: pip install playwright axe-playwright-python")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs Chromium; install: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Not in a sandbox, which root does not get; and it asks nobody else for anything.
        quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        browser = play.chromium.launch(executable_path=program, args=quiet)
        yield browser
        browser.close()
