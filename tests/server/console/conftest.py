# SPDX-License-Identifier: Apache-2.0
"""One server for all tests of the console that leave it as it is, and one for those that change it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.web.conftest import served
from tests.server.web.served import Served, serve

__all__ = ["changing", "served"]


@pytest.fixture(scope="session")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("changing")) as running:
        yield running
