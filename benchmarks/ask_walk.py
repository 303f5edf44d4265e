# SPDX-License-Identifier: Apache-2.0
"""The walk of one ``ask`` of each question, counted: files visited, functions, bindings made, texts parsed.

Run with ``--json`` for a machine. To compare two versions, run each with its own sources first on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import anonymaly as am

ROOT = Path(am.__file__).parent
# What binds a question to its declaration, by any name that it ever had.
BINDS = {"bind", "make_plan", "plan_lookahead", "cite", "cited_policy"}
PARSES = {"parse"}
SKIPPED = {"<listcomp>", "<dictcomp>", "<genexpr>", "<setcomp>", "<lambda>", "<module>"}


def kinds() -> dict[str, type[am.Query]]:
    """Return every question by its name."""
    found = [am.Count, am.Score, am.Identify, am.Lookahead, am.Explain, am.ShareSample, am.ShareHistogram]
    return {kind.question: kind for kind in found}


def walk(kind: type[am.Query]) -> dict[str, Any]:
    """Count what one warm ask of a question's example calls."""
    example = kind.example()
    with tempfile.TemporaryDirectory() as folder:
        curator = am.Curator(example.dataset(), budget=100, ledger=Path(folder) / "walk.ledger")
        curator.ask(example.query)  # imports, compiles and opens all that a first ask must
        calls: Counter[tuple[str, str]] = Counter()
        order: list[str] = []

        def profile(frame: Any, event: str, argument: object) -> None:
            path = Path(frame.f_code.co_filename)
            if event != "call" or not path.is_relative_to(ROOT) or frame.f_code.co_name in SKIPPED:
                return
            name = str(path.relative_to(ROOT))
            calls[name, frame.f_code.co_qualname] += 1
            if not order or order[-1] != name:
                order.append(name)

        sys.setprofile(profile)
        try:
            curator.ask(example.query, repeat=1)
        finally:
            sys.setprofile(None)
        curator.close()
    files = {name for name, _ in calls}
    return {
        "files": len(files),
        "functions": len(calls),
        "calls": sum(calls.values()),
        "changes_of_file": len(order),
        "lines_in_those_files": sum(len((ROOT / name).read_text("utf-8").splitlines()) for name in files),
        "bound": {
            f"{name}:{function}": count
            for (name, function), count in sorted(calls.items())
            if function in BINDS
        },
        "texts_parsed": sum(count for (_, function), count in calls.items() if function in PARSES),
    }


def main() -> None:
    """Print one line for each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    wanted = parser.parse_args()
    found = {name: walk(kind) for name, kind in kinds().items()}
    if wanted.json:
        print(json.dumps(found, indent=2))
        return
    head = ("question", "files", "functions", "calls", "changes", "lines", "parsed", "bound")
    print("{:16} {:>5} {:>9} {:>7} {:>7} {:>6} {:>6}  {}".format(*head))
    for name, counts in found.items():
        bound = ", ".join(f"{place} {count}×" for place, count in counts["bound"].items()) or "-"
        numbers = [counts[key] for key in ("files", "functions", "calls", "changes_of_file")]
        numbers += [counts["lines_in_those_files"], counts["texts_parsed"]]
        print("{:16} {:5} {:9} {:7,} {:7} {:6} {:6}  {}".format(name, *numbers, bound))


if __name__ == "__main__":
    main()
