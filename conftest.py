# SPDX-License-Identifier: Apache-2.0
"""What every test may use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _folder_for_examples(doctest_namespace: dict[str, Any], tmp_path: Path) -> None:
    """Examples in docstrings that need a place to write find it as ``folder``."""
    doctest_namespace["folder"] = tmp_path
