# SPDX-License-Identifier: Apache-2.0
"""A saved picture as part of a page: only shapes and words, no script and no address."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

SPACE = "{http://www.w3.org/2000/svg}"
SHAPES = frozenset({
    "svg", "g", "path", "rect", "line", "circle", "text", "tspan", "defs", "linearGradient", "stop",
    "clipPath",
})  # fmt: skip
ATTRIBUTES = frozenset({
    "clip-path", "cx", "cy", "d", "dx", "dy", "fill", "fill-opacity", "font-family", "font-size",
    "font-style", "font-weight", "height", "id", "offset", "opacity", "r", "stop-color", "stroke",
    "stroke-dasharray", "stroke-linecap", "stroke-miterlimit", "stroke-opacity", "stroke-width",
    "text-anchor", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
})  # fmt: skip


def inline(path: Path, name: str) -> str:
    """Return a picture for a page; ``name`` keeps what it refers to apart from other pictures'.

    Its words for those who do not see it are its title and subtitle.
    """
    root = Xml.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 (a study has just drawn it)
    said = " ".join(part if part[-1] in ".?!" else f"{part}." for part in _titles(root)) or name
    kept = _kept(root, name)
    # The page gives the picture its paper; on a dark one the picture's own would be a hard white block.
    first = next(iter(kept), None)
    if first is not None and first.tag == "rect" and first.get("fill") == "white":
        kept.remove(first)
    kept.attrib |= {"role": "img", "aria-label": said}
    return Xml.tostring(kept, encoding="unicode", short_empty_elements=True)


def _titles(root: Xml.Element) -> list[str]:
    """Return the title and the lines of the subtitle, which the renderer marks by class."""
    found: list[str] = []
    for kind in ("role-title-text", "role-title-subtitle"):
        groups = [group for group in root.iter(f"{SPACE}g") if kind in (group.get("class") or "").split()]
        # Panels have titles, too; the picture's own is drawn last.
        for text in (text for group in groups[-1:] for text in group.iter(f"{SPACE}text")):
            found += text.itertext()  # each line by itself
    return [text.strip() for text in found if text.strip()]


def _kept(element: Xml.Element, name: str) -> Xml.Element:
    """Return an element with what is allowed in it, and without what cannot be seen."""
    copy = Xml.Element(element.tag.removeprefix(SPACE))
    for key, value in element.attrib.items():
        if key in ATTRIBUTES:
            copy.set(key, _value(key, value, name))
    copy.text, copy.tail = element.text, element.tail
    for child in element:
        tag = child.tag.removeprefix(SPACE) if isinstance(child.tag, str) else ""
        if tag in SHAPES and child.get("display") != "none" and not _is_empty_frame(child):
            copy.append(_kept(child, name))
    return copy


def _is_empty_frame(element: Xml.Element) -> bool:
    """Say whether this is the unpainted rectangle that the renderer puts around each group."""
    framed = element.get("class") in ("background", "foreground")
    return framed and not {"fill", "stroke"} & set(element.attrib)


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if "url(" in value:
        inner = re.fullmatch(r"url\(#([\w-]+)\)", value)
        return f"url(#{name}-{inner[1]})" if inner else "none"
    # A tenth of a pixel cannot be seen; sixteen digits of it are most of the file.
    return re.sub(r"\d+\.\d{2,}", lambda digits: f"{float(digits[0]):.2f}".rstrip("0").rstrip("."), value)
