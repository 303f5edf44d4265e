# SPDX-License-Identifier: Apache-2.0
"""What tests of the programs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anonymaly.stream.programs.processes import reserved_port


@pytest.fixture
def port() -> Iterator[int]:
    """A port for a broker that nothing else gets while the test runs."""
    with reserved_port() as port:
        yield port
