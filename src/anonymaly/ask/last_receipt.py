# SPDX-License-Identifier: Apache-2.0
"""The last receipt that an analyst got of a server, by which a ledger that is an old copy is noticed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from anonymaly.core.files import appearing


def place(host: str, table: str) -> Path | None:
    """Return where the receipt of a table is kept; None where a user has no folder for such things."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        folder = Path(state) if state else Path.home() / ".local" / "state"
    except RuntimeError:  # no home
        return None
    name = hashlib.sha256(f"{host}\n{table}".encode()).hexdigest()[:32]
    return folder / "anonymaly" / "receipts" / f"{name}.json"


def recall(path: Path | None) -> dict[str, Any] | None:
    """Return the receipt that is kept, if there is one that can be read."""
    with contextlib.suppress(OSError, ValueError):
        if path is not None:
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return found
    return None


def remember(path: Path | None, receipt: dict[str, Any]) -> None:
    """Keep a receipt; a disk that takes none is no reason to lose the answer."""
    with contextlib.suppress(OSError):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with appearing(path) as file:
                file.write(json.dumps(receipt).encode())
