# SPDX-License-Identifier: Apache-2.0
"""Draw the picture of the README, on light and on dark: ``python docs/readme_picture.py [--check]``.

What is drawn are answers about the built-in salaries at the README's ε, with repeatable noise: the model's
reasons for a new record, and the group in which it stands out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anonymaly as am
from anonymaly.pictures.chart import Chart
from anonymaly.pictures.svg import to_svg
from anonymaly.questions.score.reasons_picture import one_record

FOLDER = Path(__file__).parent / "pictures"
RECORD = {"job": "Director", "sector": "Hospitals", "year": 2005, "salary": 640_000.0}
MODEL, EXPLANATION = "1.333333334", "0.666666666"  # the shares of ε = 2 that `find` would give them
WIDTH, GAP = 720, 18
INKS = {"light": "#1f2328", "dark": "#e6edf3"}


def charts() -> list[Chart]:
    """Return the reasons of the record's score, and the record against its group."""
    table = am.datasets.salaries(public=True)
    columns = ["job", "sector", "year", "salary"]
    model = am.simulate(am.Score(columns=columns, epsilon=MODEL), table, seed=1).value
    (reason,) = model.reasons([RECORD])
    asked = am.Explain(
        record=RECORD, metric="salary", attributes=["job", "sector", "year"], epsilon=EXPLANATION
    )
    explained = am.simulate(asked, table, seed=1)
    parts = [(part.title, part.part) for part in reason.parts]
    (group,) = explained.value.groups
    (strip,) = explained.pictures()
    why = one_record(parts, max(part for _, part in parts))
    return [
        replace(why, title="A director of a hospital, 2005, with a salary of 640,000: why is it odd?"),
        replace(strip, title=f"Its salary {group.brief}, about {group.size:,}"),
    ]


def drawing(found: list[Chart], ink: str) -> str:
    """Return the charts one below the other in one picture."""
    parts, top = [], 8.0
    for chart in found:
        inner = to_svg(chart, width=WIDTH - 32, ink=ink)
        height = float(inner.partition(' height="')[2].partition('"')[0])
        parts.append(f'<svg x="16" y="{top:.0f}">{inner}</svg>')
        top += height + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top:.0f}" '
        f'viewBox="0 0 {WIDTH} {top:.0f}">{"".join(parts)}</svg>\n'
    )


def main() -> None:
    """Write the pictures, or say which are not current."""
    found = charts()
    stale = []
    for name, ink in INKS.items():
        path, text = FOLDER / f"odd-record-{name}.svg", drawing(found, ink)
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"not current: {', '.join(stale)}; run: make tables")


if __name__ == "__main__":
    main()
