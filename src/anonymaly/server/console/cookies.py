# SPDX-License-Identifier: Apache-2.0
"""Cookies as browsers send them."""

from __future__ import annotations

from collections.abc import Sequence


def given_cookie(headers: Sequence[tuple[bytes, bytes]], name: str) -> str | None:
    """Return a cookie that a browser sent; None if it sent none, or two of the same name.

    Examples
    --------
    >>> given_cookie([(b"cookie", b"a=1; b=2")], "b")
    '2'
    """
    text = "; ".join(value.decode("latin-1") for header, value in headers if header == b"cookie")
    pairs = (item.strip().partition("=") for item in text.split(";"))
    found = [value for known, _, value in pairs if known == name]
    return found[0] if len(found) == 1 else None
