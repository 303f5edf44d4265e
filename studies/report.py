# SPDX-License-Identifier: Apache-2.0
"""One report of all papers in an output folder: ``report.json`` with everything, ``report.html`` to read."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from studies.page import page
from studies.papers import about, exhibits_of, papers
from studies.runner import RESULT, Made

KEPT = Path(__file__).with_name("results")  # summaries of one run, which the documentation is made from

MADE = {each.name for each in fields(Made)} - {"code"}
KEYS = {"paper", "made", "tables", "pictures", "further"}  # of a result that this version wrote

Document = dict[str, Any]


def write_report(output: Path) -> Path | None:
    """Write the report of what is in an output folder; return its page, or None if nothing is there."""
    report = collect(output)
    if not any(paper["result"] for paper in report["papers"]):
        return None
    target = output / "report.html"
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    for path, content in ((target.with_suffix(".json"), text), (target, page(report, output))):
        replacement = path.with_name(f"{path.name}.new")
        replacement.write_text(content, encoding="utf-8")
        replacement.replace(path)  # whoever reads it meanwhile reads a whole one
    return target


def collect(output: Path) -> Document:
    """Return what is known of every paper: its tables and figures, and our result if there is one."""
    return {"papers": [paper_document(name, _read(output / name / RESULT)) for name in papers()]}


def paper_document(name: str, result: Document | None) -> Document:
    """Return one paper's part: what it shows, what shows the same here, and the result.

    No study is imported: all of them together take seconds.
    """
    source, _, question = about(name).partition(": ")
    exhibits = [
        {
            "name": exhibit.name,
            "shows": exhibit.shows,
            "repeated": exhibit.repeated,
            "differs": exhibit.differs,
            "tables": [
                table["title"]
                for table in (result["tables"] if result else ())
                if exhibit.owns_table(table["title"])
            ],
            "pictures": list(exhibit.pictures),
        }
        for exhibit in exhibits_of(name)
    ]
    return {
        "name": name,
        "paper": source,
        "question": question,
        "exhibits": exhibits,
        "result": result,
    }


def summary(result: Document) -> Document:
    """Return a result as it is kept for the documentation: figures as printed, nothing of the source."""
    made = {key: value for key, value in result["made"].items() if key != "code"}
    tables = [{key: value for key, value in table.items() if key != "lines"} for table in result["tables"]]
    pictures = [name for name in result["pictures"] if name.endswith(".svg")]
    return {
        "paper": result["paper"],
        "made": made,
        "tables": tables,
        "pictures": pictures,
        "further": result["further"],
    }


def kept_result(name: str) -> Document | None:
    """Return the summary that is kept of a paper, if there is one."""
    return _read(KEPT / f"{name}.json")


def _read(path: Path) -> Document | None:
    """Return a result, or None where there is none that this version has written whole."""
    try:
        found: Document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(found, dict) and set(found) >= KEYS and set(found["made"]) >= MADE
    return found if whole else None
