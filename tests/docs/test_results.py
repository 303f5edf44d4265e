# SPDX-License-Identifier: Apache-2.0
"""The page of results is what the kept summaries say."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_results_is_current() -> None:
    script = runpy.run_path(str(DOCS / "results.py"))
    current = (DOCS / "results.md").read_text("utf-8") == script["page"]()
    assert current, "docs/results.md is not current; run: make tables"


def test_a_cell_cannot_end_its_row() -> None:
    script = runpy.run_path(str(DOCS / "results.py"))
    assert script["_table"](("a",), [("x|y <b>",)]).splitlines()[-1] == r"| x\|y &lt;b> |"
