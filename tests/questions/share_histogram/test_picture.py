# SPDX-License-Identifier: Apache-2.0
"""A histogram drawn as bars: every figure is in the picture, and nothing in it is run."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pandas

import anonymaly as am
from anonymaly.declare.attributes import Attribute
from anonymaly.questions.share_histogram.error_bars import Release
from anonymaly.questions.share_histogram.picture import MOST_BARS, charts, page
from anonymaly.questions.share_histogram.value import ReleasedHistogram

RELEASE = Release("geometric", {"two_sided": Fraction(1)})
WARD = Attribute("ward", ("A", "<b>&"))


def test_every_cell_has_a_bar_with_its_interval() -> None:
    histogram = ReleasedHistogram([WARD, Attribute("new", (False, True))], [9, -2, 0, 30], release=RELEASE)
    (chart,) = charts(histogram)
    assert [(bar.value, bar.low, bar.high) for bar in chart.marks][-1] == (30, 27, 33)
    drawn = ElementTree.fromstring(chart.to_svg())  # noqa: S314  (our own)
    name = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{name}rect")) == 4
    assert len(drawn.findall(f"{name}line")) == 3 * 4  # an interval and its two ends for each
    texts = [item.text for item in drawn.findall(f"{name}text")]
    assert "<b>&, True" in texts
    assert "30 (27 to 33)" in texts
    assert "-2 (0 to 1)" in texts


def test_an_estimate_outside_of_its_interval_is_explained_once() -> None:
    said = "an estimate below 0 is outside of its interval, which is cut at 0"
    outside = ReleasedHistogram([WARD], [-2, -1], release=RELEASE)
    within = ReleasedHistogram([WARD], [0, 9], release=RELEASE)
    assert [outside.chart().count(said), outside._repr_html_().count(said)] == [1, 1]
    assert page(outside, "wards", "words").count(said) == 1
    assert said not in within.chart()


def test_many_cells_are_drawn_by_column_and_long_columns_in_groups() -> None:
    edges = am.Bins("age", list(range(0, 151)))
    histogram = ReleasedHistogram(
        [WARD, Attribute("age", edges.labels, edges)], np.ones(300, int), release=RELEASE
    )
    first, second = charts(histogram)
    assert [bar.value for bar in first.marks] == [150, 150]
    assert len(second.marks) == 50 <= MOST_BARS
    assert {bar.value for bar in second.marks} == {6}
    assert second.title == "Records by age, 3 values a bar"


def test_a_histogram_of_zeros_and_one_of_one_cell_are_drawn() -> None:
    for cells in ([0, 0], [5, 5]):
        assert "<svg" in ReleasedHistogram([WARD], cells)._repr_html_()
    one = ReleasedHistogram([Attribute("ward", ("A",))], [3])
    assert one.chart().splitlines()[:2] == ["Records by ward", f"A  {'█' * 40}  3"]


def test_a_page_runs_nothing_and_asks_for_nothing() -> None:
    text = page(ReleasedHistogram([WARD], [3, 1], release=RELEASE), "<script>", "words & more")
    assert "<script" not in text
    assert "<b>&" not in text
    assert "default-src 'none'" in text
    assert "words &amp; more" in text


def test_an_answer_in_a_notebook_shows_the_bars_and_the_promise() -> None:
    table = am.Dataset(
        pandas.DataFrame({"ward": ["A"] * 30}),
        name="wards",
        public=True,
        columns={"ward": am.Categories(["A", "B"])},
    )
    answer = am.simulate(am.ShareHistogram(by=["ward"], method="geometric", epsilon=1), table, seed=1)
    shown = answer._repr_html_()
    assert "<svg" in shown
    assert "protected" in shown
    assert "each interval holds in 95 of 100 releases" in shown
