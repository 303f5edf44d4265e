# SPDX-License-Identifier: Apache-2.0
"""The built site: whole, without another host, without scripts of ours, and readable on a phone."""

from __future__ import annotations

import functools
import http.server
import os
import re
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
