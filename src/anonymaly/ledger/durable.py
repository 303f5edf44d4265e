# SPDX-License-Identifier: Apache-2.0
"""Making a new name in a directory survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def sync_directory(path: Path) -> None:
    """Write a directory's list of names to the disk."""
    if os.name == "nt":  # Windows has no descriptor for a directory, and orders such changes itself
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
