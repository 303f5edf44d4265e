# SPDX-License-Identifier: Apache-2.0
"""The report as a page that stands alone: no script, nothing from any address, light and dark, for print."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.picture import inline
from studies.style import STYLE
from studies.table import duration

Document = Mapping[str, Any]

TITLE = "The papers' experiments, repeated"
READING = (
    "Five papers in six parts: Kotsogiannis et al. 2020 has two. Every table and figure of a paper is listed "
    "with what shows the same here, or with the reason why nothing does. All data are public, and nobody's "
    "budget is spent. Figures are one run's on one machine; times depend on it, and what is drawn depends on "
    "the seed. What a picture shows is in the tables of its part, or follows from the same measurements."
)


def page(report: Document, output: Path) -> str:
    """Return the whole page.

    Parameters
    ----------
    report
        What ``studies.report.collect`` returns.
    output
        The folder whose folders of papers hold the pictures.
    """
    papers = report["papers"]
    body = "\n".join([
        f"<h1>{escaped(TITLE)}</h1>",
        f"<p>{escaped(READING)}</p>",
        _overview(papers),
        _contents(papers),
        *(_part(paper, output / paper["name"]) for paper in papers),
    ])  # fmt: skip
    # The browser itself refuses whatever is not in the page.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{escaped(TITLE)}</title>\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def escaped(text: object) -> str:
    """Return text that means itself, in a page and in an attribute."""
    return html.escape(str(text), quote=True)


def settings_text(made: Document) -> str:
    """Write settings in a line, with what they are by default where that is something else.

    Examples
    --------
    >>> settings_text({"settings": {"runs": 5, "places": [50, 120]}, "defaults": {"runs": 10}})
    'runs 5 instead of 10, places 50 120'
    """
    parts = []
    for name, value in made["settings"].items():
        default = made["defaults"].get(name, value)
        parts.append(
            f"{name} {_words(value)}" + ("" if default == value else f" instead of {_words(default)}")
        )
    return ", ".join(parts)


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _overview(papers: Sequence[Document]) -> str:
    lines = []
    for paper in papers:
        repeated = sum(exhibit["repeated"] for exhibit in paper["exhibits"])
        result = paper["result"]
        took = (
            [duration(result["made"]["seconds"]), settings_text(result["made"])]
            if result
            else ["not run", ""]
        )
        link = f'<a href="#{paper["name"]}">{escaped(paper["paper"])}</a>'
        lines.append([link, str(len(paper["exhibits"])), str(repeated), *map(escaped, took)])
    heads = ("paper", "tables and figures", "repeated here", "measuring took", "settings")
    return _table("All papers", heads, lines, words=("settings",), stacked=True)


def _contents(papers: Sequence[Document]) -> str:
    entries = []
    for paper in papers:
        inner = "".join(
            f'<li><a href="#{_anchor(paper, exhibit)}">{escaped(exhibit["name"])}: '
            f"{escaped(exhibit['shows'])}</a></li>"
            for exhibit in paper["exhibits"]
            if _shown(exhibit, paper["result"])
        )
        link = f'<a href="#{paper["name"]}">{escaped(paper["paper"])}</a>'
        entries.append(f"<li>{link}{f'<ol>{inner}</ol>' if inner else ''}</li>")
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{"".join(entries)}</ul></nav>'


def _part(paper: Document, folder: Path) -> str:
    result = paper["result"]
    parts = [f"<h2>{escaped(paper['paper'])}</h2>", f"<p>{escaped(_sentence(paper['question']))}</p>"]
    if result is None:
        said = f"Not run yet, or its files were missing: make reproduce PAPER={paper['name']} DATA=DIR"
        parts += [f'<p class="warning">{escaped(said)}</p>', _coverage(paper)]
    else:
        parts += [_facts(result["made"]), _coverage(paper), *_exhibits(paper, folder)]
    return f'<section id="{paper["name"]}">\n' + "\n".join(parts) + "\n</section>"


def _facts(made: Document) -> str:
    facts = {
        "settings": settings_text(made),
        "measuring took": duration(made["seconds"]),
        "machine": made["machine"],
        "anonymaly": made["version"],
        "public files": ", ".join(f"{name} ({size:,} bytes)" for name, size in made["files"].items())
        or "none",
    }
    return (
        "<dl>" + "".join(f"<dt>{name}</dt><dd>{escaped(said)}</dd>" for name, said in facts.items()) + "</dl>"
    )


def _coverage(paper: Document) -> str:
    lines = []
    for exhibit in paper["exhibits"]:
        name = escaped(exhibit["name"])
        if _shown(exhibit, paper["result"]):
            name = f'<a href="#{_anchor(paper, exhibit)}">{name}</a>'
        here = "repeated" if exhibit["repeated"] else "not repeated"
        lines.append([name, escaped(exhibit["shows"]), here, escaped(exhibit["differs"])])
    heads = ("the paper's", "shows", "here", "what differs, and why")
    return _table("Every table and figure of the paper", heads, lines, words=heads, stacked=True)


def _exhibits(paper: Document, folder: Path) -> Iterable[str]:
    """Yield the paper's tables and figures with ours, and then what is ours alone."""
    result = paper["result"]
    tables = {table["title"]: table for table in result["tables"]}
    pictures = [Path(name).stem for name in result["pictures"] if name.endswith(".svg")]
    for exhibit in paper["exhibits"]:
        if not _shown(exhibit, result):
            continue
        heading = escaped(f"{exhibit['name']}: {exhibit['shows']}")
        yield f'<h3 id="{_anchor(paper, exhibit)}">{heading}</h3>'
        yield f'<p class="differs"><b>What differs:</b> {escaped(exhibit["differs"])}</p>'
        for name in exhibit["pictures"]:  # before the tables, of which some fill several screens
            if name in pictures:
                pictures.remove(name)
                yield _figure(folder / f"{name}.svg", f"{paper['name']}-{name}")
        yield from (_table_of(tables.pop(title)) for title in exhibit["tables"])
    if tables or pictures:
        yield "<h3>Not in the paper</h3>"
        yield from map(_table_of, tables.values())
        yield from (_figure(folder / f"{name}.svg", f"{paper['name']}-{name}") for name in pictures)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _shown(exhibit: Document, result: Document | None) -> bool:
    return bool(result and exhibit["repeated"])


def _anchor(paper: Document, exhibit: Document) -> str:
    return f"{paper['name']}-{exhibit['name'].lower().replace(' ', '-')}"


def _table_of(table: Document) -> str:
    lines = [[escaped(cell) for cell in line] for line in table["printed"]]
    return _table(table["title"], table["heads"], lines, words=table["words"], note=table["note"])


def _table(
    title: str,
    heads: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    words: Sequence[str],
    note: str = "",
    stacked: bool = False,
) -> str:
    """Return a table of cells that are escaped already.

    A narrow window can move it sideways; where it is stacked, its cells are below each other there.
    """
    kinds = [""] + [f' class="{"words" if head in words else "number"}"' for head in heads[1:]]
    above = "".join(
        f'<th scope="col"{kind}>{escaped(head)}</th>' if head else "<td></td>"
        for head, kind in zip(heads, kinds, strict=True)
    )
    shown = kinds
    if stacked:
        shown = [f'{kind} data-head="{escaped(head)}"' for head, kind in zip(heads, kinds, strict=True)]
    rows = []
    for line in lines:
        first, *others = line
        cells = (f"<td{kind}>{cell}</td>" for cell, kind in zip(others, shown[1:], strict=True))
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    said = f'<p class="note">{escaped(note)}</p>' if note else ""
    return (
        f'<div class="sideways" role="group" tabindex="0" aria-label="{escaped(title)}">'
        f'<table class="{"stacked" if stacked else "plain"}"><caption>{escaped(title)}</caption>'
        f"<thead><tr>{above}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{said}"
    )


def _figure(path: Path, name: str) -> str:
    if not path.is_file():
        return f'<p class="warning">{escaped(path.name)} is no longer in the folder.</p>'
    around = '<div class="sideways" role="group" tabindex="0" aria-label="picture">'
    return f"<figure>{around}{inline(path, name)}</div></figure>"
