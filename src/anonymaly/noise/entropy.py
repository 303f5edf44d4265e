# SPDX-License-Identifier: Apache-2.0
"""The operating system's entropy, for keys; without the compiled code that draws noise."""

from __future__ import annotations

import os

KEY_BYTES = 32


def fresh_key() -> bytes:
    """Return 32 bytes that nobody can know.

    Examples
    --------
    >>> len(fresh_key())
    32
    """
    return os.urandom(KEY_BYTES)
