# SPDX-License-Identifier: Apache-2.0
"""Write the tree of choosing.md from the one that ``anonymaly choose`` asks; ``--check``: is it current?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from anonymaly.finding.choosing import BUDGETS, DECISIONS, EVERYONE, MORE_THAN_NEEDED, TREE, Advice

PAGE = Path(__file__).with_name("choosing.md")
BEGIN, END = "<!-- the tree, by `make tables` -->\n", "<!-- end of the tree -->"


def tree() -> str:
    """Return the decisions, and each advice below what leads to it."""
    by_name = {decision.name: decision for decision in DECISIONS}
    parts = []
    for decision in DECISIONS:
        lines = [f"- `{name}`: {says}" for name, says in decision.choices.items()]
        parts.append("\n".join([f"**{decision.asks}** `--{decision.name}`", "", *lines]))
    budgets = [f"- `{name}`: budget {start.value}, {start.reason}" for name, start in BUDGETS.items()]
    parts.append("\n".join(["**Who asks decides how much there is to spend in all.**", "", *budgets]))
    for leaves, says in by_name["leaves"].choices.items():
        parts.append(f"### {says[0].upper()}{says[1:]}")
        for protects, advice in _together(leaves):
            who = " or ".join(f"`--protect {name}`" for name in protects)
            parts.append("\n".join([f"`--leaves {leaves}`, {who}:", "", *_lines(advice, protects)]))
    return "\n" + "\n\n".join(parts) + "\n\n"


def _together(leaves: str) -> Iterator[tuple[list[str], Advice]]:
    """Return each advice once, with all who it is for."""
    for advice in dict.fromkeys(TREE[leaves].values()):
        yield [name for name, item in TREE[leaves].items() if item is advice], advice


def _lines(advice: Advice, protects: list[str]) -> list[str]:
    notes = list(advice.notes)
    others = [name for name in protects if name != "everyone"]
    if others and advice.promise is EVERYONE:
        notes.append(f"for {' and '.join(others)}: {MORE_THAN_NEEDED}")
    return [
        f"- **{advice.question or 'no question'}**: {advice.promise}",
        *([] if advice.rule is None else [f"- declare below `rules:`: `{advice.rule}`"]),
        *(f"- start with {start.name} = {start.value}: {start.reason}" for start in advice.starts),
        *(f"- {note}" for note in notes),
        *(f"- `{command}`" for command in advice.commands),
    ]


def with_tree(page: str) -> str:
    """Return the page with the tree as it is now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit("docs/choosing.md has lost the comments around its tree")
    return before + BEGIN + tree() + END + after


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    if "--check" in sys.argv:
        if with_tree(text) != text:
            sys.exit("docs/choosing.md is not current; run: python docs/choosing.py")
    else:
        PAGE.write_text(with_tree(text), "utf-8")
