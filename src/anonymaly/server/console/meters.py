# SPDX-License-Identifier: Apache-2.0
"""How much of a limit is spent, as a bar without inline style."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from markupsafe import Markup


def meter(spent: str, limit: str) -> Markup:
    """Return a bar: spent from the left, what is left in the accent colour; the words say the same.

    Examples
    --------
    >>> "width=\\"25.00\\"" in meter("0.75", "1")
    True
    """
    whole = Decimal(limit)
    part = float(min(Decimal(spent) / whole, Decimal(1))) if whole else 1.0
    words = f"ε = {spent} of {limit} spent"
    return Markup(
        '<svg class="meter" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="spent" width="100" height="1"/>'
        '<rect class="left" x="{:.2f}" width="{:.2f}" height="1"/></svg>'
    ).format(words, part * 100, (1 - part) * 100)


def bar(limit: str, parts: Sequence[tuple[str, str]], words: str) -> Markup:
    """Return a bar of several named parts of a limit, one after the other.

    Examples
    --------
    >>> bar("4", [("spent", "1"), ("free", "3")], "…").count("<rect")
    2
    """
    whole, at, drawn = Decimal(limit) or Decimal(1), Decimal(0), Markup("")
    for name, amount in parts:
        width = min(Decimal(amount) / whole, 1 - at)
        drawn += Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="1"/>').format(
            name, float(at * 100), float(width * 100)
        )
        at += width
    head = Markup(
        '<svg class="meter" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="{}">'
        "<title>{}</title>"
    ).format(words, words)
    return head + drawn + Markup("</svg>")
