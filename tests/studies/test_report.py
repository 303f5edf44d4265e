# SPDX-License-Identifier: Apache-2.0
"""The report: a page that stands alone, whatever its tables and pictures say."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from studies.exhibit import further
from studies.papers import exhibits_of, headlines_of, papers
from studies.picture import inline
from studies.report import collect, kept_result, summary, write_report
from studies.runner import RESULT
from studies.table import Cell, Table

HOSTILE = '<script>alert("1")</script>'
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="marks" width="400"
  height="100" viewBox="0 0 400 100" onload="alert(1)"><style>@import "https://example.org/a.css";</style>
<rect width="400" height="100" fill="white"/><script>alert(2)</script>
<defs><linearGradient id="ramp"><stop offset="0" stop-color="red"/></linearGradient></defs>
<image href="https://example.org/a.png"/><a href="https://example.org"><text>gone</text></a>
<path class="background" d="M0,0h1"/><path d="M0.123456789,3" fill="url(#ramp)" stroke="url(https://x)"/>
<g class="mark-text role-title-text"><text>of a panel</text></g>
<g class="mark-text role-title-text"><text>What ε &lt;buys&gt;</text></g>
<g class="mark-text role-title-subtitle"><text><tspan>mean of 5 runs</tspan><tspan>why?</tspan></text></g>
</svg>
"""


class Tags(HTMLParser):
    """Checks that elements are closed in order; keeps ids and addresses."""

    VOID = frozenset({"meta", "br", "img", "link", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href"):
                self.addresses.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output folder in which one paper was measured."""
    tables = [
        Table(
            "Figure 3, ε for each column",
            ("", "paper", HOSTILE),
            ((HOSTILE, 1.5, Cell("2.0", {"mean": 2})),),
        ),
        Table("Real sensors", ("source", "recall"), (("a|b", 0.5),), note=HOSTILE),
    ]
    made = {
        "settings": {"runs": 5, "separations": [50, 120]}, "defaults": {"runs": 10},
        "files": {"nab.parquet": 7}, "seconds": 61.0, "version": "1.2.3", "machine": "a machine",
        "code": "abc",
    }  # fmt: skip
    folder = tmp_path / "sensors"
    folder.mkdir()
    (folder / "figure_3_recall.svg").write_text(PICTURE, "utf-8")
    (folder / "readings.svg").write_text(PICTURE, "utf-8")
    result = {
        "paper": "Böhler",
        "made": made,
        "tables": [table.to_dict() for table in tables],
        "pictures": ["figure_3_recall.png", "figure_3_recall.svg", "readings.svg", "lost.svg"],
        "further": {"correction_seconds": 0.1},
    }
    (folder / RESULT).write_text(json.dumps(result), "utf-8")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / RESULT).write_text('{"paper": "cut o', "utf-8")
    (tmp_path / "pcor").mkdir()  # of an earlier version, which kept less
    (tmp_path / "pcor" / RESULT).write_text(json.dumps({**result, "made": {"settings": {}}}), "utf-8")
    return tmp_path


def test_the_page_is_well_formed_and_reaches_for_nothing(output: Path) -> None:
    assert write_report(output) == output / "report.html"
    text = (output / "report.html").read_text("utf-8")
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    assert not tags.seen & {"script", "img", "link", "iframe", "image"}
    assert len(tags.ids) == len(set(tags.ids))
    assert set(tags.addresses) <= {f"#{name}" for name in tags.ids}
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_hostile_words_are_shown_as_words(output: Path) -> None:
    write_report(output)
    text = (output / "report.html").read_text("utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;") == 3


def test_every_paper_is_there_with_what_it_shows_and_what_was_measured(output: Path) -> None:
    write_report(output)
    text = (output / "report.html").read_text("utf-8")
    for name in papers():
        assert f'<section id="{name}">' in text
    assert text.count("Not run yet, or its files were missing") == len(papers()) - 1
    assert "runs 5 instead of 10, separations 50 120" in text
    for said in ("1.2.3", "a machine", "nab.parquet (7 bytes)", "61 s", "It shows no measurement."):
        assert said in text
    ours = text.index("<h3>Not in the paper</h3>")
    assert text.index('<h3 id="sensors-figure-3">') < text.index('aria-label="What ε') < ours
    assert ours < text.index("<caption>Real sensors</caption>")
    assert "lost.svg is no longer in the folder." in text


def test_the_document_beside_it_holds_unrounded_figures(output: Path) -> None:
    write_report(output)
    report = json.loads((output / "report.json").read_text("utf-8"))
    assert report == collect(output)
    sensors = next(paper for paper in report["papers"] if paper["name"] == "sensors")
    assert sensors["result"]["tables"][0]["lines"] == [[HOSTILE, 1.5, {"mean": 2}]]
    assert sensors["result"]["tables"][0]["printed"] == [[HOSTILE, "1.5", "2.0"]]
    assert sensors["exhibits"][-1]["tables"] == ["Figure 3, ε for each column"]
    kept = summary(sensors["result"])
    assert "code" not in kept["made"]
    assert all("lines" not in table for table in kept["tables"])


def test_without_a_result_there_is_no_report(tmp_path: Path) -> None:
    assert write_report(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_a_picture_keeps_its_shapes_and_says_its_title(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(PICTURE, "utf-8")
    drawn = inline(tmp_path / "a.svg", "one")
    assert 'role="img" aria-label="What ε &lt;buys&gt;. mean of 5 runs. why?"' in drawn
    assert '<path d="M0.12,3" fill="url(#one-ramp)" stroke="none" />' in drawn
    assert 'id="one-ramp"' in drawn
    assert "gone" not in drawn
    assert "white" not in drawn


@pytest.mark.parametrize("name", papers())
def test_every_table_and_figure_of_a_paper_has_ours_or_a_reason(name: str) -> None:
    kept = kept_result(name)
    assert kept is not None, f"keep a result: python docs/results.py --take reproduced ({name})"
    titles = [table["title"] for table in kept["tables"]]
    drawn = [Path(picture).stem for picture in kept["pictures"]]
    exhibits = exhibits_of(name)
    assert len({exhibit.name for exhibit in exhibits}) == len(exhibits)
    for exhibit in exhibits:
        assert exhibit.shows
        assert exhibit.differs.endswith(".")
        for beginning in exhibit.tables:
            assert any(title.startswith(beginning) for title in titles), beginning
        assert set(exhibit.pictures) <= set(drawn)
    for title in titles:
        assert sum(exhibit.owns_table(title) for exhibit in exhibits) <= 1, title
    # What a paper numbers is among its tables and figures, so nothing numbered is left over.
    assert not [title for title in further(exhibits, titles) if re.match(r"(Table|Figure) \d", title)]
    assert all(any(title.startswith(beginning) for title in titles) for beginning in headlines_of(name))
