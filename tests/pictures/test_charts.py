# SPDX-License-Identifier: Apache-2.0
"""One description of a chart, drawn in three ways: nothing in any of them is run, fetched or styled."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anonymaly.ask.plan_picture import error_chart
from anonymaly.core.epsilon import NANO
from anonymaly.errors import InputError
from anonymaly.ledger.burn_down import BudgetStep, burn_down_chart
from anonymaly.pictures.chart import Bar, Box, Chart, ChartAxis, ChartLine
from anonymaly.pictures.page import whole_page
from anonymaly.pictures.svg import to_svg
from anonymaly.pictures.ticks import linear

HOSTILE = '<script>alert("1")</script>'
BARS = Chart(
    f"By {HOSTILE}",
    f"{HOSTILE}: 20.",
    ChartAxis(HOSTILE, "records", -5, 20),
    (Bar(HOSTILE, 20, HOSTILE, 17, 23, heading=HOSTILE), Bar("B", -5, "-5", of=20)),
)
STRIP = Chart("", HOSTILE, ChartAxis("pay", "", 100, 400), (Box(100, 150, 200, 400, HOSTILE, HOSTILE),))
CURVE = error_chart([(0.1, 30), (0.2, 15), (1, 0)], 0.2, HOSTILE, wanted=20)
STEPS = [
    BudgetStep(1, "2026-01-01T00:00:00+00:00", "opened", 4 * NANO, 4 * NANO, 4 * NANO),
    BudgetStep(2, "2026-01-03T00:00:00+00:00", "asked", -NANO, 3 * NANO, 4 * NANO),
]
BURN = burn_down_chart(STEPS, "2026-01-31T00:00:00+00:00")
CHARTS = {"bars": BARS, "strip": STRIP, "curve": CURVE, "burn": BURN}


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_svg_has_presentation_attributes_only_and_says_itself_in_words(chart: Chart) -> None:
    for text in (chart.to_svg(), chart.to_svg(alone=True)):
        root = ElementTree.fromstring(text)  # noqa: S314  (our own)
        assert root.get("role") == "img"
        assert root.get("aria-label") == (f"{chart.title}. {chart.words}" if chart.title else chart.words)
        for element in root.iter():
            tag = element.tag.removeprefix("{http://www.w3.org/2000/svg}")
            assert tag in {"svg", "rect", "line", "path", "polyline", "polygon", "circle", "text"}
            assert not {"style", "href", "onload"} & set(element.attrib)
        assert "<script" not in text


def test_bars_whose_long_names_differ_at_their_end_have_different_names_in_every_picture() -> None:
    bins = ["(0, 100000]", "(100000, 200000]", "(100000, 300000]"]
    names = [f"Hydro One and Ontario Power Generation, {pay}" for pay in bins]
    axis = ChartAxis("records", "", 0, 20)
    chart = Chart("By employer, pay", "…", axis, tuple(Bar(name, 20, "20") for name in names))
    root = ElementTree.fromstring(chart.to_svg())  # noqa: S314  (our own)
    drawn = [item.text or "" for item in root.iter("{http://www.w3.org/2000/svg}text")]
    for pay in bins:
        assert sum(text.endswith(f"…, {pay}") for text in drawn) == 1
        assert sum(f"…, {pay} " in line for line in str(chart).splitlines()) == 1
    assert [mark["name"] for mark in chart.to_dict()["marks"]] == names


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_the_same_description_is_text_data_and_altairs_chart(chart: Chart) -> None:
    assert str(chart)
    told = json.loads(json.dumps(chart.to_dict()))
    assert [mark["mark"] for mark in told["marks"]] == [type(mark).__name__.lower() for mark in chart.marks]
    drawn = chart.to_altair()
    bundle = drawn._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml"}, "altair's own bundle fetches scripts from another host"
    assert "<script" not in bundle["image/svg+xml"]


def test_saved_pages_and_altairs_fetch_nothing(tmp_path: Path) -> None:
    BARS.save(tmp_path / "own.html")
    STRIP.to_altair().save(tmp_path / "vega.html")
    own, vega = ((tmp_path / name).read_text("utf-8") for name in ("own.html", "vega.html"))
    assert "<script" not in own
    assert 'src="http' not in vega
    BARS.save(tmp_path / "own.png")
    assert (tmp_path / "own.png").read_bytes().startswith(b"\x89PNG")
    BARS.save(tmp_path / "own.svg")
    assert (tmp_path / "own.svg").read_text("utf-8").startswith("<svg")
    with pytest.raises(InputError, match="does not name a picture"):
        BARS.save(tmp_path / "own.doc")
    with pytest.raises(InputError, match="cannot write"):
        BARS.save(tmp_path / "nowhere" / "own.svg")


def test_a_page_allows_its_own_style_sheets_by_their_hashes_and_no_other() -> None:
    page = whole_page(HOSTILE, BARS._repr_html_())
    policy = page.partition('content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe-inline" not in policy
    assert " style=" not in page
    assert HOSTILE not in page


def test_text_and_axes_have_the_colour_of_what_is_around_them() -> None:
    assert 'fill="currentColor"' in BARS.to_svg()
    assert 'color="#abcdef"' in to_svg(BARS, ink="#abcdef")


def test_axes_hold_every_number_and_end_at_round_ones() -> None:
    for numbers in ([0.0], [0.003], [7.2, -1], [123456.0], [1e-9]):
        axis = linear("left", "ε", numbers)
        assert axis.low <= min(0, *numbers) if len(numbers) > 1 else axis.low <= numbers[0]
        assert axis.high >= max(numbers)
        assert 2 <= len(axis.ticks) <= 8


def test_a_line_of_steps_stays_level_until_the_next_one() -> None:
    line = ChartLine("", ((0, 4), (1, 3)), stepped=True)
    svg = to_svg(Chart("", "…", ChartAxis("t", "", 0, 1), (line,), linear("left", "ε", [4])))
    points = svg.partition('polyline class="accent-line" points="')[2].partition('"')[0].split()
    (_, first), (_, level), (_, last) = (point.split(",") for point in points)
    assert first == level != last


def test_words_that_a_phone_has_no_room_for_side_by_side_stand_one_below_the_other() -> None:
    def drawn(name: str, width: int | None = None) -> list[str]:
        bars = (Bar(name, 20, "1,648 (1,633 to 1,663)"), Bar("B", 3, "3 (1 to 5)"))
        svg = to_svg(Chart("", "A: 20.", ChartAxis("", "", 0, 20), bars), width=width)
        return re.findall(r'<text x="[^"]+" y="([^"]+)"', svg)

    beside, below = drawn("Lawyer"), drawn("Manager, Municipalities")
    assert [beside[0] == beside[1], beside[2] == beside[3]] == [True, True]
    assert len(set(below)) == 4
    assert len(set(drawn("Manager, Municipalities", width=640))) == 2
