# SPDX-License-Identifier: Apache-2.0
"""The built site: whole, without another host, without scripts of ours, and readable on a phone."""

from __future__ import annotations

import functools
import http.server
import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anonymaly
from tests.docs.test_code_blocks import ROOT

PHONE = {"width": 390, "height": 844}
# What a page fetches by itself; a link that somebody clicks is another matter.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*?\bsrc=[\"']?([^\"'\s>]+)|<link\b([^>]*)>", re.IGNORECASE
)
# Short words of table cells that stand on more than one line.
BROKEN = """[...document.querySelectorAll("td, th")].flatMap(cell => {
  const found = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());)
    for (const word of node.data.matchAll(/\\w+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (word[0].length < 21 && range.getClientRects().length > 1) found.push(word[0]);
    }
  return found;
})"""
FOREIGN = re.compile(r"^(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it: a broken link or anchor, or a page in no menu, ends the build."""
    # Not --quiet: MkDocs counts the warnings that it prints, and would let all of them pass.
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def _pages(site: Path) -> list[str]:
    return sorted(path.parent.relative_to(site).as_posix() for path in site.rglob("index.html"))


@pytest.mark.slow
def test_the_site_is_whole_and_fetches_nothing_from_another_host(site: Path) -> None:
    pages = _pages(site)
    proofs = {f"proofs/{name}" for name in ("count", "explain-for-everyone", "stream")}
    assert proofs | {"tutorials/hospital", "reference/api-asking", "concepts/epsilon"} <= set(pages)
    assert [path.name for path in site.rglob("*.py")] == []
    for page in pages:
        text = (site / page / "index.html").read_text("utf-8")
        for source, link in FETCHED.findall(text):
            wanted = source or "".join(re.findall(r"\bhref=[\"']?([^\"'\s>]+)", link))
            canonical = 'rel="canonical"' in link
            assert canonical or not FOREIGN.match(wanted), f"{page} fetches {wanted}"
    for sheet in site.rglob("*.css"):
        fetched = re.findall(r"url\([\"']?([^\"')]+)", sheet.read_text("utf-8"))
        assert [place for place in fetched if FOREIGN.match(place)] == []


@pytest.mark.slow
def test_the_reference_has_every_public_name(site: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in (site / "reference").rglob("api-*/index.html"))
    modules = {"audit", "datasets", "identify", "inspect", "stream"}
    for name in set(dir(anonymaly)) - modules - {"__version__"}:
        assert re.search(rf'id="anonymaly\.(?:\w+\.)*{name}"', text), f"{name} is in no page of the reference"
    for name in modules:
        assert f"am.{name}." in text


@pytest.mark.slow
def test_mentions_of_a_proof_lead_to_its_page(site: Path) -> None:
    assert 'href="../../proofs/count/"' in (site / "questions/count/index.html").read_text("utf-8")
    assert "../proofs/share-histogram/" in (site / "guarantees/index.html").read_text("utf-8")
    rule = (site / "proofs/explain-under-a-rule/index.html").read_text("utf-8")
    assert 'href="../explain-for-everyone/"' in rule


@pytest.mark.slow
def test_lists_and_slanted_words_are_what_the_text_means(site: Path) -> None:
    """`D'_v … R_q` is no emphasis, and a list that a line of text runs into is no list."""
    for name in _pages(site):
        text = (site / name / "index.html").read_text("utf-8")
        text = text[text.find("<article") : text.find("</article>")]
        text = re.sub(r"<(pre|code)\b.*?</\1>", "<code></code>", text, flags=re.DOTALL)
        assert re.findall(r".{20}[\w'’]<em>.{20}|.{20}</em>\w.{20}", text) == [], name
        paragraphs = re.findall(r"<(?:p|li)>([^<]*(?:<(?!/?(?:p|li|ul|ol)\b)[^<]*)*)</(?:p|li)>", text)
        assert [part for part in paragraphs if re.search(r"\n(?:\d\.|[-*]) ", part)] == [], name


def test_a_chart_is_in_its_page_and_a_drawing_stays_a_picture(tmp_path: Path) -> None:
    hooks = runpy.run_path(str(ROOT / "docs" / "site_hooks.py"))
    folder = ROOT / "docs"
    chart = hooks["with_charts"]('<p><img alt="a" src="../pictures/plan.svg" /></p>', folder)
    assert chart.count("<img") == 0
    assert chart.startswith(
        '<p><span class="chart"><svg xmlns="http://www.w3.org/2000/svg" class="drawing" width="100%"'
    )
    assert "viewBox" not in chart.partition("<text")[0]
    assert "#ffffff" not in chart  # nor paper that dark words of a page would not be seen on
    for other in ("pictures/adjacency.svg", "questions/exclusion_attack.svg", "pictures/none.svg"):
        page = f'<p><img alt="a" src="{other}" /></p>'
        assert hooks["with_charts"](page, folder) == page


def test_cells_of_long_text_and_of_a_figure_are_marked() -> None:
    hooks = runpy.run_path(str(ROOT / "docs" / "site_hooks.py"))
    long = "a few words " * 6
    page = f"<td>short</td><td>98.7 / 100 %</td><td><code>{long}</code></td><td class='x'>{long}</td>"
    marked = hooks["with_marked_cells"](page)
    assert marked.startswith('<td>short</td><td class="figure">98.7')
    assert marked.count('<td class="long">') == marked.count("<td class='x'>") == 1


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("<code>count t.yaml --for-error 6</code>", "<code>count t.yaml {--for-error} 6</code>"),
        ("<code>--output, -o</code>", "<code>{--output}, {-o}</code>"),
        ('<code><a href="a-b">share-sample</a></code>', '<code><a href="a-b">{share-sample}</a></code>'),
        ("<code>src/a-b/c-d.md</code> and by-the-way", None),
        ("<code>" + "very-" * 12 + "long</code>", None),
    ],
)  # fmt: skip
def test_lines_do_not_end_within_an_option_or_a_name(code: str, shown: str | None) -> None:
    with_whole_options = runpy.run_path(str(ROOT / "docs" / "site_hooks.py"))["with_whole_options"]
    wanted = (shown or code).replace("{", '<span class="whole">').replace("}", "</span>")
    assert with_whole_options(code) == wanted


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing of requests."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def _requests(context: Any) -> list[str]:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    return asked


@pytest.mark.slow
def test_no_page_is_wider_than_a_phone_or_cuts_a_line(site: Path, address: str, chromium: Any) -> None:
    context = chromium.new_context(viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
    context.route("**/workers/*", lambda route: route.abort())  # search, which each page would set up
    asked = _requests(context)
    page = context.new_page()
    cut = "[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    for name in _pages(site):
        page.goto(f"{address}{name}/", wait_until="load")
        width, seen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= seen, f"{name} is {width} pixels wide"
        assert page.evaluate(cut) == 0, f"{name} cuts lines of code"
        assert page.evaluate(BROKEN) == [], f"{name} breaks words of a table"
    assert page.get_attribute("body", "data-md-color-scheme") == "slate"
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    context.close()


@pytest.mark.slow
def test_search_finds_words_without_another_host(address: str, chromium: Any) -> None:
    context = chromium.new_context(viewport=PHONE, reduced_motion="reduce")
    asked = _requests(context)
    page = context.new_page()
    page.goto(address)
    page.click("label.md-header__button[for=__search]")
    page.fill("input.md-search__input", "exclusion attack")
    page.wait_for_selector(".md-search-result__link")
    places = page.eval_on_selector_all(".md-search-result__link", "links => links.map(link => link.href)")
    assert any("one-sided" in place or "questions/share" in place for place in places)
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    context.close()
