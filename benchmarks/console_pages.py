# SPDX-License-Identifier: Apache-2.0
"""How heavy the console's pages are and when they first show, beside datasette's page of a table.

Both serve a table of the same 2,000 rows, each by one process of this machine, to one Chromium in the same
run, by turns; each visit with an empty cache, and then one more with what the first left in it. The console's
page is the one that an analyst sees of a table: what is declared, and no row. Needs Chromium
(`apt-get install chromium`); without datasette (`pip install datasette`, in an environment of its own) only
the console is measured.

    python benchmarks/console_pages.py --visits 20 --datasette PATH/TO/datasette --json
"""

from __future__ import annotations

import argparse
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from server_place import NANO, Server, a_server, machine, show

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

ROWS = [(20 + number % 60, "AB"[number % 2], 150 + number % 50) for number in range(2000)]
COLUMNS = {
    "age": {"type": "interval", "low": 0, "high": 120},
    "ward": {"type": "categories", "values": ["A", "B"]},
    "height": {"type": "interval", "low": 50, "high": 250},
}
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
PATIENCE_SECONDS = 60


@contextmanager
def datasette(command: str, folder: Path) -> Iterator[str]:
    """Serve the rows by datasette; yield the address of its page of the table."""
    file = folder / "datasette.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, ward TEXT, height INTEGER)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", ROWS)
    connection.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [command, "serve", str(file), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/datasette/patients"
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                if httpx.get(address).status_code == 200:
                    break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


@contextmanager
def console() -> Iterator[Server]:
    """Serve the rows by the console."""
    rows = "\n".join(["age,ward,height", *(",".join(map(str, row)) for row in ROWS), ""])
    with a_server() as server:
        server.add_person("ann")
        server.add_table("patients", rows=rows, columns=COLUMNS, budget="10")
        server.grant("patients", ["ann"], NANO)
        server.start(web=1, workers=1)
        yield server


def log_in(browser: Browser, server: Server) -> dict[str, Any]:
    """Return the cookies of an analyst's session."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/login")
    page.get_by_label("Key").fill(server.keys["ann"].text)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{server.base}/")
    state: dict[str, Any] = dict(context.storage_state())
    context.close()
    return state


def visit(context: BrowserContext, address: str) -> dict[str, float]:
    """Go to a page; return bytes and requests over the network, and the milliseconds to the first paint."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    asked: list[str] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    session.on("Network.requestWillBeSent", lambda event: asked.append(event["request"]["url"]))
    page.goto(address, wait_until="networkidle")
    page.wait_for_function(PAINT)
    painted = page.evaluate(PAINT)
    page.close()
    return {"bytes": sum(sizes), "requests": len(asked), "first_paint_ms": painted}


def measure(browser: Browser, places: dict[str, tuple[str, dict[str, Any] | None]], visits: int) -> Any:
    """Visit all places by turns, each with an empty cache and then again."""
    seen: dict[str, list[dict[str, float]]] = {}
    for _ in range(visits):
        for name, (address, state) in places.items():
            context = browser.new_context(storage_state=state)  # type: ignore[arg-type]
            for again in ("", ", again"):
                seen.setdefault(name + again, []).append(visit(context, address))
            context.close()
    return {
        name: {measured: statistics.median(item[measured] for item in found) for measured in found[0]}
        for name, found in seen.items()
    }


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--datasette", default=shutil.which("datasette"), help="its command")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its command")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.chromium is None:
        sys.exit("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (after the options, for --help)

    before = machine()
    with ExitStack() as stack:
        server, play = stack.enter_context(console()), stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        state = log_in(browser, server)
        places: dict[str, tuple[str, dict[str, Any] | None]] = {
            "console, table": (f"{server.base}/tables/patients", state),
            "console, question": (f"{server.base}/tables/patients/ask/count", state),
            "console, login": (f"{server.base}/login", None),
        }
        if options.datasette is not None:
            other = stack.enter_context(datasette(options.datasette, server.folder))
            places["datasette, table"] = other, None
        found = measure(browser, places, options.visits)
        browser.close()
    show({**before, **found}, options.json)


if __name__ == "__main__":
    main()
