# SPDX-License-Identifier: Apache-2.0
"""The tables and figures of a paper, and which of ours show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper.

    Attributes
    ----------
    name, shows
        Its number, and what it shows.
    differs
        What is different here and why; of what is not repeated, why it is not.
    tables
        How the titles of our tables begin.
    pictures
        The names of our pictures, without an ending.

    Examples
    --------
    >>> Exhibit("Figure 1", "an illustration", "It shows no measurement.").repeated
    False
    """

    name: str
    shows: str
    differs: str
    tables: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()

    @property
    def repeated(self) -> bool:
        """Whether something of ours shows the same."""
        return bool(self.tables or self.pictures)

    def owns_table(self, title: str) -> bool:
        """Say whether a table of ours belongs to it."""
        return any(title.startswith(beginning) for beginning in self.tables)


def further(exhibits: Sequence[Exhibit], titles: Sequence[str]) -> list[str]:
    """Return the titles of our tables that the paper has no counterpart of.

    Examples
    --------
    >>> further([Exhibit("Table 1", "", "", tables=("Table 1.",))], ["Table 1. Sizes", "Real sensors"])
    ['Real sensors']
    """
    return [title for title in titles if not any(exhibit.owns_table(title) for exhibit in exhibits)]
