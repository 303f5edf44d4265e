# SPDX-License-Identifier: Apache-2.0
"""Write results.md from the studies' kept summaries; ``--check``: is it current?

``--take DIR`` first takes new summaries out of an output folder of ``make reproduce``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from studies.page import settings_text
from studies.papers import headlines_of, papers
from studies.report import KEPT, collect, kept_result, paper_document, summary
from studies.table import duration

PAGE = Path(__file__).with_name("results.md")
INTRODUCTION = """\
# Results

The experiments of the five papers, on public data, with what the papers print beside ours. They are one
run's on one machine: times depend on it, and what is drawn depends on the seed. `make reproduce DATA=DIR`
repeats all of them, goes on where it was interrupted, and writes `report.html` with every table and picture;
`OPTIONS=--quick` repeats things less often, `OPTIONS=--list` names the files that are read. This page is
written by `make tables` from `studies/results/`.
"""


def page() -> str:
    """Return the whole page."""
    documents = [paper_document(name, kept_result(name)) for name in papers()]
    return "\n".join([INTRODUCTION, _overview(documents), *(_part(document) for document in documents)])


def take(output: Path) -> None:
    """Keep the summaries of an output folder."""
    KEPT.mkdir(exist_ok=True)
    for document in collect(output)["papers"]:
        if document["result"] is not None:
            text = json.dumps(summary(document["result"]), indent=1, ensure_ascii=False) + "\n"
            (KEPT / f"{document['name']}.json").write_text(text, "utf-8")


def _overview(documents: Iterable[dict[str, Any]]) -> str:
    lines = []
    for document in documents:
        exhibits, made = document["exhibits"], document["result"]["made"]
        repeated = sum(exhibit["repeated"] for exhibit in exhibits)
        took = duration(made["seconds"])
        lines.append((document["paper"], str(len(exhibits)), str(repeated), settings_text(made), took))
    return _table(("paper", "tables and figures", "repeated", "settings", "measuring took"), lines)


def _part(document: dict[str, Any]) -> str:
    made, question = document["result"]["made"], document["question"]
    facts = f"Settings: {settings_text(made)}. Anonymaly {made['version']}; {made['machine']}; files: "
    files = ", ".join(f"`{name}`" for name in made["files"])
    exhibits = [
        (exhibit["name"], exhibit["shows"], "yes" if exhibit["repeated"] else "no", exhibit["differs"])
        for exhibit in document["exhibits"]
    ]
    shown = [
        table
        for table in document["result"]["tables"]
        if table["title"].startswith(headlines_of(document["name"]))
    ]
    parts = [
        f"## {document['paper']}\n",
        f"{question[:1].upper()}{question[1:]} (`make reproduce PAPER={document['name']} DATA=DIR`)\n",
        f"{facts}{files}.\n",
        _table(("the paper's", "shows", "repeated", "what differs, and why"), exhibits),
    ]
    for table in shown:
        parts += [f"### {_text(table['title'])}\n", _table(table["heads"], table["printed"])]
        parts += [f"{_text(table['note'])}\n"] if table["note"] else []
    return "\n".join(parts)


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ("---",) * len(heads), *lines]
    return "\n".join(f"| {' | '.join(map(_text, row))} |" for row in rows) + "\n"


def _text(text: str) -> str:
    """Return text that means itself in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    if "--take" in sys.argv:
        take(Path(sys.argv[sys.argv.index("--take") + 1]))
    if "--check" in sys.argv:
        if PAGE.read_text("utf-8") != page():
            sys.exit("docs/results.md is not current; run: python docs/results.py")
    else:
        PAGE.write_text(page(), "utf-8")
