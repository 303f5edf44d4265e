# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of the pages on concepts; ``--check`` says whether they are current.

Shapes have attributes and no styles, stand on a light ground, and differ by more than their colour.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path

FOLDER = Path(__file__).with_name("pictures")
BLUE, ORANGE, INK, FAINT = "#0072b2", "#d55e00", "#2b2b2b", "#c9c9c9"


def picture(width: int, height: int, title: str, shapes: Iterable[str]) -> str:
    """Return a picture on a light ground, with its text alternative."""
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" '
        f'role="img" font-family="sans-serif" font-size="14"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    )
    return "\n".join([start, *shapes, "</svg>", ""])


def words(
    x: float, y: float, text: str, *, fill: str = INK, anchor: str = "middle", bold: bool = False
) -> str:
    """Return a line of text."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'


def box(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = INK, dashed: bool = False
) -> str:
    """Return a rectangle."""
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}"{dashes}/>'


def noisy_counts() -> str:
    """Two laws of a noisy count at ε = 1: with Anna and without her."""
    title = "How probable each answer is when 20 records match without Anna, and 21 with her, at ε = 1"
    shapes = [words(320, 24, "the same question about two tables, ε = 1", bold=True)]
    for value in range(14, 28):
        left = 50 + (value - 14) * 40
        for true, offset, colour, full in ((20, 4, BLUE, True), (21, 20, ORANGE, False)):
            probability = _law(abs(value - true), 1.0)
            height = 370 * probability
            if value == true:
                shapes.append(words(left + offset + 7, 222 - height, f"{100 * probability:.0f} %"))
            shapes.append(
                box(
                    left + offset, 230 - height, 14, height, fill=colour if full else "#ffffff", stroke=colour
                )
            )
        shapes.append(words(left + 19, 248, str(value)))
    shapes += [
        f'<line x1="44" x2="616" y1="230" y2="230" stroke="{INK}"/>',
        words(330, 270, "the answer"),
        words(620, 62, "height: how probable", anchor="end"),
        words(620, 80, "an answer is", anchor="end"),
        box(60, 50, 14, 14, fill=BLUE, stroke=BLUE),
        words(82, 62, "without Anna: 20 match", anchor="start"),
        box(60, 74, 14, 14, fill="#ffffff", stroke=ORANGE),
        words(82, 86, "with Anna: 21 match", anchor="start"),
        words(60, 110, "No bar is more than 2.72 times", anchor="start"),
        words(60, 128, "as high as the one beside it.", anchor="start"),
    ]
    return picture(640, 286, title, shapes)


def _law(distance: int, epsilon: float) -> float:
    keep = math.exp(-epsilon)
    return (1 - keep) / (1 + keep) * keep**distance


def sensitive() -> str:
    """A crowd whose members are protected, and somebody alone who is not."""
    title = "Records in a crowd have many others within the radius and are protected; one alone is not"
    draw = random.Random(3)  # noqa: S311  (a drawing)
    shapes = []
    for _ in range(90):
        x, y = 190 + 80 * draw.triangular(-1, 1), 150 + 80 * draw.triangular(-1, 1)
        shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{BLUE}"/>')
    shapes += [
        f'<circle cx="190" cy="150" r="60" fill="none" stroke="{INK}"/>',
        f'<circle cx="470" cy="110" r="60" fill="none" stroke="{INK}" stroke-dasharray="5 4"/>',
        _diamond(470, 110),
        words(190, 270, "many within the radius: normal", bold=True),
        words(190, 290, "protected by ε"),
        words(470, 200, "at most β within the radius: an anomaly", bold=True),
        words(470, 220, "not protected: an answer may show"),
        words(470, 238, "that this record is in the data"),
        words(190, 24, "each circle has the declared radius"),
    ]
    return picture(640, 306, title, shapes)


def _diamond(x: float, y: float) -> str:
    return f'<path d="M{x:g} {y - 8:g} l8 8 l-8 8 l-8 -8 z" fill="{ORANGE}"/>'


def one_sided() -> str:
    """A table of harmless and sensitive records, and a sample of the harmless ones."""
    title = (
        "Of seven records the policy calls four harmless; a coin for each leaves three of them in the sample"
    )
    people = [
        ("Ann, 34", False, True),
        ("Ben, 16", True, False),
        ("Cem, 51", False, True),
        ("Dora, 70", False, False),
        ("Eva, 12", True, False),
        ("Finn, 45", False, True),
        ("Gil, age unknown", True, False),
    ]
    shapes = [
        words(150, 26, "the table", bold=True),
        words(490, 26, "what is published", bold=True),
        words(320, 26, "a coin each"),
    ]
    for row, (name, hidden, kept) in enumerate(people):
        y = 40 + row * 34
        shapes.append(box(40, y, 220, 27, fill="#fbe6d9" if hidden else "#ddebf5", dashed=hidden))
        shapes.append(words(52, y + 18, name, anchor="start"))
        shapes.append(words(250, y + 18, "sensitive" if hidden else "harmless", anchor="end"))
        if not hidden:
            shapes.append(words(320, y + 18, "→ keep →" if kept else "→ leave out"))
        if kept:
            shapes.append(box(380, y, 220, 27, fill="#ddebf5"))
            shapes.append(words(392, y + 18, name, anchor="start"))
    shapes += [
        words(320, 304, "Dora is missing though she is harmless. So who is missing need not be sensitive."),
    ]
    return picture(640, 324, title, shapes)


def adjacency() -> str:
    """The two kinds of neighbouring tables."""
    title = "In add_remove one table has a row more; in replace one row says something else"
    rows = ["Ben, 16, ward A", "Cem, 51, ward B", "Dora, 70, ward A"]
    shapes = []
    for left, name, first, second in (
        (20, "add_remove", "Anna, 40, ward B", None),
        (340, "replace", "Anna, 40, ward B", "Anna, 81, ward A"),
    ):
        shapes.append(words(left + 140, 24, name, bold=True))
        for offset, own in ((0, first), (146, second)):
            for index, text in enumerate(rows):
                shapes.append(box(left + offset, 40 + index * 32, 134, 25, fill="#ddebf5"))
                shapes.append(words(left + offset + 67, 57 + index * 32, text))
            if own:
                shapes.append(box(left + offset, 136, 134, 25, fill="#fbe6d9", dashed=True))
                shapes.append(words(left + offset + 67, 153, own))
            else:
                shapes.append(words(left + offset + 67, 153, "(no Anna)"))
    shapes += [
        words(160, 190, "Even whether Anna is there is hidden."),
        words(480, 190, "What Anna's row says is hidden."),
        words(480, 208, "That there are four rows is not."),
    ]
    return picture(640, 224, title, shapes)


def budget() -> str:
    """A budget that questions take their shares from."""
    title = (
        "Three questions take 0.5, 1 and 0.3 of a budget of 2; 0.2 remain, and a question of 0.5 is refused"
    )
    scale, left, y = 240, 30, 60
    shapes = [words(320, 28, "a budget of ε = 2", bold=True)]
    at = 0.0
    for share, name, fill in (
        (0.5, "count", "#ddebf5"),
        (1.0, "score", "#c3dcee"),
        (0.3, "explain", "#ddebf5"),
    ):
        shapes.append(box(left + at * scale, y, share * scale, 44, fill=fill))
        shapes.append(words(left + (at + share / 2) * scale, y + 20, name))
        shapes.append(words(left + (at + share / 2) * scale, y + 37, f"{share:g}"))
        at += share
    shapes.append(box(left + at * scale, y, (2 - at) * scale, 44, fill="#ffffff", dashed=True))
    shapes.append(words(left + (at + (2 - at) / 2) * scale, y + 20, "left"))
    shapes.append(words(left + (at + (2 - at) / 2) * scale, y + 37, "0.2"))
    shapes.append(box(left + at * scale, y + 66, 0.5 * scale, 40, fill="#fbe6d9", stroke=ORANGE, dashed=True))
    shapes.append(words(left + (at + 0.25) * scale, y + 91, "0.5"))
    shapes.append(
        words(left + at * scale - 10, y + 84, "the next question asks for 0.5: refused,", anchor="end")
    )
    shapes.append(words(left + at * scale - 10, y + 102, "and nothing is spent", anchor="end"))
    return picture(640, 186, title, shapes)


DRAWINGS: dict[str, Callable[[], str]] = {
    "noisy-counts.svg": noisy_counts,
    "sensitive.svg": sensitive,
    "one-sided.svg": one_sided,
    "adjacency.svg": adjacency,
    "budget.svg": budget,
}


if __name__ == "__main__":
    for name, draws in DRAWINGS.items():
        if "--check" not in sys.argv:
            (FOLDER / name).write_text(draws(), "utf-8")
        elif not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != draws():
            sys.exit(f"docs/pictures/{name} is not current; run: python docs/drawings.py")
