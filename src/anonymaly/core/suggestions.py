# SPDX-License-Identifier: Apache-2.0
"""What somebody who misspelt a public name probably meant, and lists that are too long to be printed."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

SHOWN = 20  # names that are listed in full
CLOSEST = 5  # of longer lists
LONGEST = 100  # characters that are compared; a longer text is no misspelt name


def near(text: str, known: Iterable[object], most: int = 3) -> list[str]:
    """Return the known names most like a text, the nearest first; capital and small letters are alike.

    Examples
    --------
    >>> near("cuont", ["count", "score", "check"]), near("january", ["January", "May"]), near("x", ["age"])
    (['count'], ['January'], [])
    """
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(str(name).casefold(), []).append(str(name))
    found = difflib.get_close_matches(text[:LONGEST].strip().casefold(), names, most)
    return [name for match in found for name in names[match]][:most]


def guess(text: str, known: Iterable[object]) -> str:
    """Return the question whether one of the nearest names was meant, with a space behind it, or nothing.

    Examples
    --------
    >>> guess("cuont", ["count", "score"]), guess("x", ["count"])
    ('Did you mean count? ', '')
    """
    found = near(text, known)
    return f"Did you mean {' or '.join(found)}? " if found else ""


def listed(known: Collection[object], text: str = "") -> str:
    """Return all of a few names; of many, those nearest to a text or else the first, and how many there are.

    Examples
    --------
    >>> listed(["A", "B"]), listed([])
    ('A, B', 'none')
    >>> listed([f"ward {number}" for number in range(170)], "Ward 1699")
    'ward 169, ward 99, ward 69, ward 19, ward 16 … (170 in all)'
    """
    if len(known) <= SHOWN:
        return ", ".join(map(str, known)) or "none"
    shown = near(text, known, CLOSEST) or [str(name) for name in known][:CLOSEST]
    return f"{', '.join(shown)} … ({len(known):,} in all)"
