# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of the gallery by its own code: a block's ``picture`` goes to the image below it."""

from __future__ import annotations

import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("gallery.md")
PART = re.compile(r"^```python\n(.*?)^```$|^!\[[^\]]*\]\((pictures/[\w-]+\.svg)\)$", re.MULTILINE | re.DOTALL)
WIDTH = 640  # pixels: a picture in a file has no page whose width it could take
SPACE = 'xmlns="http://www.w3.org/2000/svg"'


def draw(folder: Path) -> None:
    """Run the page's blocks in order and write each picture where the page looks for it, below ``folder``."""
    names: dict[str, Any] = {"__name__": "gallery"}
    for code, place in PART.findall(PAGE.read_text("utf-8")):
        if code:
            exec(compile(code, PAGE.name, "exec"), names)  # noqa: S102  (the page's own code, as in its test)
        else:
            (folder / place).write_text(_svg(names["picture"]) + "\n", "utf-8")


def _svg(shown: Any) -> str:
    text = shown.svg() if hasattr(shown, "svg") else shown._repr_html_()
    start = depth = 0
    for found in re.finditer(r"<svg\b|</svg>", text):  # marks of a drawing are drawings inside of it
        start = found.start() if depth == 0 else start
        depth += -1 if found[0] == "</svg>" else 1
        if depth == 0:
            svg = text[start : found.end()]
            opening, rest = svg[: svg.index(">")], svg[svg.index(">") :]  # paper has a width, too
            if 'width="100%" height="' in opening:
                high = opening.partition('height="')[2].partition('"')[0]
                opening = opening.replace('width="100%"', f'width="{WIDTH}" viewBox="0 0 {WIDTH} {high}"', 1)
            svg = opening + rest
            return svg if "xmlns=" in svg else svg.replace("<svg", f"<svg {SPACE}", 1)
    raise ValueError(f"{type(shown).__name__} draws nothing")


if __name__ == "__main__":
    page = PAGE.resolve()
    with tempfile.TemporaryDirectory() as place, chdir(place):  # the blocks open ledgers where they are run
        draw(page.parent)
