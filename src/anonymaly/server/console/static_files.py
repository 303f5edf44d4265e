# SPDX-License-Identifier: Apache-2.0
"""The console's own files, under names that change with their bytes: browsers may keep them for good."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that is the same for everybody."""

    name: str  # with a digest in it
    content: bytes
    media_type: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Return all of them by their names in the folder."""
    found = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in TYPES:
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:16]
            found[path.name] = StaticFile(f"{path.stem}.{digest}{path.suffix}", content, TYPES[path.suffix])
    return found


def static_place(name: str) -> str:
    """Return where a file of the folder is served."""
    return f"/static/{static_files()[name].name}"
