# SPDX-License-Identifier: Apache-2.0
"""Files and folders that survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(path: Path) -> None:
    """Write a folder's list of names to the disk, so that a new name in it survives a power cut."""
    if os.name == "nt":  # Windows has no descriptor for a folder, and orders such changes itself
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
