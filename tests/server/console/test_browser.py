# SPDX-License-Identifier: Apache-2.0
"""The console in a real browser: the whole way of each role, by mouse, by keyboard, without JavaScript, on a
phone, in print, light and dark; and nothing that axe calls a barrier (WCAG 2.2 AA).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.web.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}


@contextmanager
def visiting(chromium: Browser, served: Served, who: str | None = None, **options: Any) -> Iterator[Page]:
    """Open a page as somebody, logged in; fail if it asks another host, or anything is wrong in its log."""
    context = chromium.new_context(base_url=served.base, **options)
    page = context.new_page()
    heard: list[str] = []
    page.on("request", lambda asked: heard.append(asked.url))
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    refused = re.compile("responded with a status of 4")  # which a page shows in its own words
    page.on("pageerror", lambda error: wrong.append(str(error)))
    try:
        if who is not None:
            page.goto("/login")
            page.get_by_label("Key").fill(served.keys[who].text)
            page.get_by_role("button", name="Log in").click()
            page.wait_for_url(f"{served.base}/")
        yield page
        assert {url for url in heard if not url.startswith(f"{served.base}/")} == set()
        assert [text for text in wrong if not refused.search(text)] == []
    finally:
        context.close()


def refuse_barriers(page: Page) -> None:
    """Fail on whatever axe finds."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
    wrong = found.response["violations"]
    assert [(item["id"], [node["html"][:200] for node in item["nodes"]]) for item in wrong] == [], page.url


def refuse_sideways(page: Page) -> None:
    """Fail if the page is wider than the screen."""
    root = "document.documentElement"
    wide, screen = page.evaluate(f"[{root}.scrollWidth, {root}.clientWidth]")
    assert wide <= screen, page.url


def pages_of(who: str) -> list[str]:
    """Return pages that a role has, without those of one answer."""
    shared = ["/", "/choose", "/tables/patients", "/tables/patients/answers", "/tables/patients/statement"]
    asks = [f"/tables/patients/ask/{name}" for name in QUESTIONS]
    books = ["rules", "budget", "asked", "grants", "ledger", "ledger/verification", "full-statement"]
    read = ["/proposals", *(f"/tables/patients/{name}" for name in books)]
    done = ["/keys", "/tables/patients/grant", "/tables/patients/budget/raise"]
    done += ["/tables/patients/grants/ann/revoke", "/tables/patients/amend"]
    done += ["/streams", "/streams/rooms", "/streams/gone"]
    return {
        "analyst": [*shared, *asks, "/tables/patients/find"],
        "auditor": [*shared, *read],
        "owner": [*read, *done, asks[0]],  # the others are as the auditor and the analyst see them
    }[who]


QUESTIONS = (
    "count", "score", "identify", "lookahead", "explain", "share-sample", "share-histogram", "share-ngrams",
)  # fmt: skip


def ask_in(page: Page, where: str, epsilon: str = "0.05") -> None:
    """Preview a count, ask it, and wait for its answer, on the page of a table's question."""
    page.get_by_label("Where").fill(where)
    page.get_by_label("Price").fill(epsilon)
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_role("button", name=re.compile("^Ask, and be charged")).click()
    page.wait_for_url(re.compile("/answers/"), timeout=60_000)


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no javascript"])
def test_an_analyst_goes_the_whole_way(chromium: Browser, served: Served, javascript: bool) -> None:
    with visiting(chromium, served, "analyst", java_script_enabled=javascript) as page:
        page.get_by_role("link", name="patients").first.click()
        page.get_by_role("link", name="Ask count").click()
        before = page.locator("#preview").inner_text()
        assert "Nothing is asked or charged" in before
        ask_in(page, f"age < {41 + javascript}")
        assert "records" in page.locator("main").inner_text()
        assert "The ledger has this charge" in page.locator("main").inner_text()
        page.get_by_role("link", name="Answers").first.click()
        assert f"age < {41 + javascript}" in page.locator("main").inner_text()
        page.goto("/tables/patients/statement")
        assert f"age < {41 + javascript}" in page.locator("main").inner_text()


def test_a_preview_comes_by_itself_where_scripts_run(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, "analyst") as page:
        page.goto("/tables/patients/ask/count")
        page.get_by_label("Where").press_sequentially("age < 44")
        page.get_by_label("Price").fill("0.02")
        page.wait_for_selector("#preview .price :text('ε = 0.02')", timeout=30_000)
        assert page.locator("#preview svg.drawing").count() == 1


def test_a_mistake_is_said_beside_its_field_and_at_the_top(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, "analyst", java_script_enabled=False) as page:
        page.goto("/tables/patients/ask/count")
        page.get_by_label("Where").fill("hight < 3")
        page.get_by_label("Price").fill("0.1")
        page.get_by_role("button", name="Preview", exact=True).click()
        assert page.locator("[aria-invalid=true]").get_attribute("name") == "where"
        assert "hight" in page.get_by_role("alert").inner_text()


class Keyboard:
    """Somebody who has no mouse."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def to(self, is_there: Callable[[str], bool], most: int = 80) -> None:
        """Press Tab until what has the focus is what is wanted, which must show that it has it."""
        for _ in range(most):
            self._page.keyboard.press("Tab")
            text, outline = self._page.evaluate(
                "() => { const at = document.activeElement, style = getComputedStyle(at);"
                " const label = at.labels?.length ? at.labels[0].innerText : '';"
                " const outline = style.outlineStyle + ' ' + style.outlineWidth;"
                " return [label + ' ' + (at.innerText || ''), outline]; }"
            )
            if is_there(" ".join(text.split())):
                assert not outline.startswith("none"), text
                assert not outline.endswith(" 0px"), text
                return
        raise AssertionError("it is not reached by the keyboard")

    def press(self, wanted: str) -> None:
        """Go to a link or button that begins so, and press it."""
        self.to(lambda text: text.startswith(wanted))
        self._page.keyboard.press("Enter")

    def type(self, label: str, text: str) -> None:
        """Go to a field and type."""
        self.to(lambda found: found.startswith(label))
        self._page.keyboard.type(text)


def test_the_whole_way_by_keyboard_alone(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, java_script_enabled=True) as page:
        keyboard = Keyboard(page)
        page.goto("/login")
        keyboard.type("Key", served.keys["analyst"].text)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{served.base}/")
        keyboard.press("patients")
        page.wait_for_url(re.compile("/tables/patients$"))
        keyboard.press("Ask count")
        page.wait_for_url(re.compile("/ask/count$"))
        keyboard.type("Price", "0.03")
        keyboard.press("Preview")
        page.wait_for_selector("#preview .price")
        page.keyboard.press("Home")
        keyboard.press("Ask, and be charged")
        page.wait_for_url(re.compile("/answers/"), timeout=60_000)
        keyboard.press("Answers")
        page.wait_for_url(re.compile("/tables/patients/answers"))
        keyboard.press("Log out")
        page.wait_for_url(re.compile("/login"))


@pytest.mark.parametrize("who", ["analyst", "owner", "auditor"])
def test_no_page_has_a_barrier(chromium: Browser, served: Served, who: str) -> None:
    # Axe is a script of ours that the page did not ask for: only this lets it in.
    with visiting(chromium, served, who, bypass_csp=True) as page:
        for place in pages_of(who):
            assert page.goto(place).status == 200, place  # type: ignore[union-attr]
            refuse_barriers(page)
            page.emulate_media(color_scheme="dark")
            refuse_barriers(page)
            page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("who", ["analyst", "owner", "auditor"])
def test_pages_fit_a_phone_and_large_type(chromium: Browser, served: Served, who: str) -> None:
    with visiting(chromium, served, who, **PHONE) as page:
        for place in pages_of(who):
            page.set_viewport_size({"width": 360, "height": 740})
            page.goto(place)
            refuse_sideways(page)
            page.set_viewport_size({"width": 1280 // 4, "height": 256})  # as at 400 %
            refuse_sideways(page)


def test_what_an_answer_cost_does_not_run_into_its_time_on_a_phone(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, "analyst", **PHONE) as page:
        page.goto("/tables/patients/ask/count")
        ask_in(page, "age < 47")
        page.goto("/tables/patients/answers")
        shown = page.locator(".rows .right").first
        assert re.fullmatch(r"ε = [0-9.]+\s+20[0-9-]+ [0-9:]+ UTC", shown.inner_text().strip())
        cost, asked = (part.bounding_box() for part in shown.locator("span").all())
        assert cost["x"] + cost["width"] < asked["x"] or cost["y"] < asked["y"]


def test_an_owner_gives_a_grant_and_takes_it_back(chromium: Browser, changing: Served) -> None:
    with visiting(chromium, changing, "owner", java_script_enabled=False) as page:
        page.get_by_role("link", name="patients").first.click()
        page.get_by_role("link", name="Grants", exact=True).first.click()
        page.goto("/tables/patients/grant")
        page.get_by_label("Analyst").fill("bea")
        page.get_by_label("In all").fill("0.5")
        page.get_by_label("Why").fill("study 12")
        page.locator("main form button").last.click()
        assert "bea may ask patients" in page.locator("main").inner_text()
        page.get_by_role("button", name="Give it").click()
        assert "bea" in page.locator("main").inner_text()
        page.goto("/tables/patients/grants/bea/revoke")
        page.get_by_label("Why").fill("it is over")
        page.locator("main form button").last.click()
        assert "revoked" in page.locator("main").inner_text()


def test_records_become_a_report_with_one_plan_and_one_button(chromium: Browser, changing: Served) -> None:
    with visiting(chromium, changing, "analyst", bypass_csp=True) as page:
        page.goto("/tables/patients")
        page.get_by_role("link", name="Find odd records").click()
        page.get_by_label("Records").fill("case,age,ward\nc-1,30,A\nc-2,119,B\n")
        page.get_by_label("Price").fill("0.6")
        page.get_by_role("button", name="Show the plan").click()
        assert "explanation 2" in page.locator("#plan").inner_text()
        refuse_barriers(page)
        page.get_by_role("button", name=re.compile("^Find them, for at most ε = ")).click()
        page.wait_for_selector(".report", timeout=120_000)
        assert "c-2" in page.locator(".report").inner_text()
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            refuse_barriers(page)
        with page.expect_download() as found:
            page.get_by_role("link", name="Download as one HTML file").click()
        assert found.value.suggested_filename == "patients-find.html"
        page.emulate_media(media="print")
        assert not page.get_by_role("button", name="Forget").is_visible()
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 360, "height": 740})
        refuse_sideways(page)
        page.get_by_role("button", name="Forget").click()
        page.wait_for_url(f"{changing.base}/tables/patients")


def test_an_owner_proposes_to_amend(chromium: Browser, changing: Served) -> None:
    with visiting(chromium, changing, "owner", java_script_enabled=False) as page:
        page.goto("/tables/others/rules")
        page.get_by_role("link", name="Propose to amend").click()
        text = page.get_by_label("Declaration").input_value()
        page.get_by_label("Declaration").fill(f"{text}rules:\n  old: {{type: policy, text: age > 90}}\n")
        page.get_by_label("Why").fill("they agreed")
        page.get_by_role("button", name="Show what would change").click()
        assert "leaves people unprotected" in page.locator(".warning").inner_text()
        page.get_by_role("button", name="Propose it").click()
        assert "waits for the host" in page.locator("main").inner_text()


def test_an_auditor_checks_the_ledger_and_reads_the_statement(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, "auditor") as page:
        page.goto("/tables/patients/ledger/verification")
        assert "entries" in page.locator("main").inner_text()
        page.goto("/tables/patients/full-statement")
        assert "protected" in page.locator("main").inner_text().lower()
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_statement_is_printed_without_what_only_a_screen_needs(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, "auditor") as page:
        page.goto("/tables/patients/statement")
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        assert page.locator("h1").is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_login_has_no_barrier_and_says_what_is_wrong(chromium: Browser, served: Served) -> None:
    with visiting(chromium, served, bypass_csp=True) as page:
        page.goto("/tables/patients")  # whoever is not logged in
        refuse_barriers(page)
        page.get_by_label("Key").fill("anm_nobody")
        page.get_by_role("button", name="Log in").click()
        assert "not a key that is valid" in page.get_by_role("alert").inner_text()
        refuse_barriers(page)
