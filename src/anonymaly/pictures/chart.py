# SPDX-License-Identifier: Apache-2.0
"""`Chart`: what a picture shows, as plain data; `svg`, `terminal` and `vega.draw` draw it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anonymaly.core.extras import load
from anonymaly.core.files import appearing
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import altair as alt

Scale = Literal["linear", "powers", "time"]  # time is in seconds since 1970
ENDINGS = (".svg", ".html", ".png")


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What is measured along an axis, in which unit, from where to where, and at which places it is read."""

    title: str
    unit: str
    low: float
    high: float
    scale: Scale = "linear"
    ticks: tuple[tuple[float, str], ...] = ()

    @property
    def label(self) -> str:
        """The title with its unit."""
        return f"{self.title} ({self.unit})" if self.title and self.unit else self.title


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from 0 in a line of its own, with its figure in words; an interval if one is proved."""

    name: str
    value: float
    said: str
    low: float | None = None
    high: float | None = None
    of: float | None = None  # what it is a part of: drawn faintly behind it
    heading: str | None = None  # above it, where a group of bars begins


@dataclass(frozen=True, slots=True)
class Box:
    """A group's middle half with its median, and the record that is held against it."""

    low: float
    middle: float
    high: float
    record: float
    said: str  # of the box
    record_said: str


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line through points; stepped ones stay level until the next point."""

    name: str
    points: tuple[tuple[float, float], ...]
    stepped: bool = False
    dashed: bool = False
    filled: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One point that is marked and named."""

    x: float
    y: float
    said: str


@dataclass(frozen=True, slots=True)
class Level:
    """A height that is marked across the picture, and named."""

    y: float
    said: str


Mark = Bar | Box | ChartLine | Point | Level


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture as plain data: marks, axes with units, a title, and what it shows in words.

    Bars and boxes lie one below the other and need no ``y``; lines, points and levels do.

    Examples
    --------
    >>> axis = ChartAxis("records", "", 0, 20)
    >>> chart = Chart("By ward", "A 20 records, B 5.", axis, (Bar("A", 20, "20"), Bar("B", 5, "5")))
    >>> print(chart)
    By ward
    A  ████████████████████████████████████████  20
    B  ██████████                                5
    """

    title: str
    words: str
    x: ChartAxis
    marks: tuple[Mark, ...]
    y: ChartAxis | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain data."""
        marks = [{"mark": type(mark).__name__.lower(), **asdict(mark)} for mark in self.marks]
        return {**asdict(self), "marks": marks}

    def to_svg(self, *, alone: bool = False) -> str:
        """Return it as SVG without script, style or address, in the colours and width of what is around it.

        With ``alone`` it is for a file of its own: of a fixed width, in dark ink on white paper.
        """
        from anonymaly.pictures.svg import to_svg  # noqa: PLC0415  (it draws this)

        return to_svg(self, width=640, ink="#1f2328", paper="#ffffff") if alone else to_svg(self)

    def __str__(self) -> str:
        from anonymaly.pictures.terminal import to_text  # noqa: PLC0415  (it draws this)

        return to_text(self)

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import figure, fragment  # noqa: PLC0415  (only notebooks)

        return fragment(figure(self))

    def to_altair(self) -> alt.LayerChart:
        """Return it as altair's chart, to be changed further; its HTML fetches nothing, as ours does not."""
        from anonymaly.pictures.vega.draw import to_altair  # noqa: PLC0415  (an extra)

        return to_altair(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as .svg, .html or .png; the last needs the extra ``report``."""
        place = Path(path)
        match place.suffix.lower():
            case ".svg":
                content = self.to_svg(alone=True).encode()
            case ".html":
                from anonymaly.pictures.page import figure, fragment, whole_page  # noqa: PLC0415

                content = whole_page(self.title, fragment(figure(self))).encode()
            case ".png":
                converter = load("vl_convert", "report", "A picture as PNG")
                content = converter.svg_to_png(self.to_svg(alone=True), scale=2)
            case other:
                raise InputError(
                    f"the ending {other or '(none)'} does not name a picture",
                    field="path",
                    next_step=f"Use one of {', '.join(ENDINGS)}.",
                )
        try:
            with appearing(place, private=False) as file:
                file.write(content)
        except OSError as problem:
            raise InputError(
                f"cannot write {place} ({type(problem).__name__})",
                field="path",
                next_step="Name another file.",
            ) from None


def pictures_of(value: Any) -> Sequence[Chart]:
    """Return the pictures that a released value has."""
    drawn = getattr(value, "pictures", None)
    return () if drawn is None else drawn()
