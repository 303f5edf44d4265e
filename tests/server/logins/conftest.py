# SPDX-License-Identifier: Apache-2.0
"""One provider for all tests that log in, and one server that has none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.logins.providing import RunningProvider, running_provider
from tests.server.web.conftest import served

__all__ = ["served"]


@pytest.fixture(scope="session")
def provider() -> Iterator[RunningProvider]:
    with running_provider() as running:
        yield running
