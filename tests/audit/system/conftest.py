# SPDX-License-Identifier: Apache-2.0
"""What several layers need of the machine."""

from __future__ import annotations

import pytest

from anonymaly.audit.system.sqlite_sync import heard_syncs
from anonymaly.errors import InputError


@pytest.fixture(scope="module")
def heard() -> None:
    """Skip where SQLite's own syncs cannot be listened to."""
    try:
        with heard_syncs(lambda file: None, lambda file: None):
            pass
    except InputError as problem:
        pytest.skip(str(problem))
