# SPDX-License-Identifier: Apache-2.0
"""Names in one line each, cut where they are too long, so that what tells them apart stays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

LEAST = 8  # letters of a name's beginning that stay before a cut


def short(name: str, longest: int) -> str:
    """Return a name in one line that is not too long.

    Examples
    --------
    >>> short("a  long\\nname", 7)
    'a long…'
    """
    plain = " ".join(name.split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def short_names(names: Sequence[str], longest: int) -> list[str]:
    """Return names that are shown together: cut at the end, or before the end where that tells them apart.

    Examples
    --------
    >>> short_names(["Hydro One and Ontario Power Generation, 0", "Nobody, 0"], 20)
    ['Hydro One and Ontar…', 'Nobody, 0']
    >>> cells = [f"Hydro One and Ontario Power Generation, {pay}" for pay in ("0 to 9", "9 to 18")]
    >>> short_names([*cells, "Nobody, 0 to 9"], 20)
    ['Hydro One a…, 0 to 9', 'Hydro One…, 9 to 18', 'Nobody, 0 to 9']
    """
    plain = [" ".join(name.split()) for name in names]
    cut = [short(name, longest) for name in plain]
    if len(set(cut)) == len(set(plain)):
        return cut
    alike: dict[str, set[str]] = defaultdict(set)
    for name, seen in zip(plain, cut, strict=True):
        alike[seen].add(name)
    shared = {seen: _shared(min(group), max(group)) for seen, group in alike.items()}
    inner = [
        name if name == seen else _without_middle(name, min(shared[seen], len(name)), longest)
        for name, seen in zip(plain, cut, strict=True)
    ]
    return _better(inner, cut)


def _shared(first: str, last: str) -> int:
    """Return how many letters the first and the last of sorted names begin with, and so all between them."""
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(last)))


def _without_middle(name: str, differs: int, longest: int) -> str:
    """Keep the beginning, and the end from before the place where a name differs from others."""
    room = longest - LEAST - 1
    # The first that leaves room: whole parts, then whole words.
    for between in (", ", " "):
        place = name.find(between, max(len(name) - room, 0))
        if 0 <= place <= differs:
            last = name[place:] if between == ", " else name[place + 1 :]
            break
    else:
        last = short(name[differs:], room)
    return f"{name[: longest - 1 - len(last)].rstrip(', ')}…{last}"


def _better(inner: list[str], cut: list[str]) -> list[str]:
    """Return the names that tell more apart: no cut does for all."""
    clashes = [sum(times - 1 for times in Counter(names).values()) for names in (inner, cut)]
    return inner if clashes[0] <= clashes[1] else cut
