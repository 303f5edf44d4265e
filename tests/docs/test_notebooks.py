# SPDX-License-Identifier: Apache-2.0
"""Every notebook of the tutorials runs, and prints what it was committed with."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_code_blocks import ROOT, _agree

NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


def _run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell as a notebook does; return what it printed and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None  # noqa: S307
    return printed.getvalue(), shown


def _committed(cell: dict[str, Any]) -> tuple[str, str | None]:
    """Return what a cell printed when it was committed, and in which form it showed its value."""
    printed = "".join("".join(item["text"]) for item in cell["outputs"] if item.get("name") == "stdout")
    forms = [form for item in cell["outputs"] for form in item.get("data", {})]
    return printed, next(iter(forms), None)


def _elements(page: str) -> set[tuple[str, ...]]:
    """Return which elements a piece of a page has, by their names: noise changes none."""
    found = set()

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.add((tag, *sorted(name for name, _ in attrs)))

    Parser().feed(page)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_was_committed_with(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        printed, shown = _run(source, names)
        expected, form = _committed(cell)
        assert _agree(expected.splitlines(), printed.splitlines()), f"{source}\nprinted\n{printed}"
        assert (form is None) == (shown is None), (
            f"{source}\nshows {type(shown).__name__}; run: make notebooks"
        )
        if form == "text/html":
            page = "".join(cell["outputs"][-1]["data"][form])
            assert _elements(page) == _elements(shown._repr_html_()), f"{source}\nrun: make notebooks"
    # All cells again, as people do: the folder holds accounts and answers by now.
    names = {"__name__": "notebook"}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            _run("".join(cell["source"]), names)


def test_every_notebook_is_there_as_it_was_run() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["hospital", "pipeline", "publishing", "sensors"]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        numbers = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
        assert numbers == list(range(1, len(numbers) + 1)), f"{path.name} was not run from its top"
