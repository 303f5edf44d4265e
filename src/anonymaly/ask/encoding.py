# SPDX-License-Identifier: Apache-2.0
"""Plain values as JSON, for the store."""

from __future__ import annotations

import json
from typing import Any, BinaryIO


def encode_json(value: Any, file: BinaryIO) -> None:
    """Write plain data."""
    file.write(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


def decode_json(file: BinaryIO) -> Any:
    """Read plain data back."""
    return json.load(file)
