# SPDX-License-Identifier: Apache-2.0
"""One table in three forms."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from studies.table import Cell, Table

OURS = Cell("0.90 ± 0.01", {"mean": 0.9012, "deviation": 0.0123})
TABLE = Table(
    "AUROC", ("table", "ε", "ours", "made from"),
    (("Pima", "1", OURS, "whole"), ("Pima", "2", 12_345, "a sample")), "A note.", words=("made from",),
)  # fmt: skip


def test_a_program_gets_unrounded_figures() -> None:
    assert TABLE.to_dict() == {
        "title": "AUROC",
        "heads": ["table", "ε", "ours", "made from"],
        "words": ["made from"],
        "lines": [
            ["Pima", "1", {"mean": 0.9012, "deviation": 0.0123}, "whole"],
            ["Pima", "2", 12_345, "a sample"],
        ],
        "printed": [["Pima", "1", "0.90 ± 0.01", "whole"], ["Pima", "2", "12,345", "a sample"]],
        "note": "A note.",
    }


def test_a_page_repeats_what_a_line_is_about_and_a_terminal_does_not() -> None:
    assert TABLE.to_markdown().splitlines()[4:] == [
        "| Pima | 1 | 0.90 ± 0.01 | whole |",
        "| Pima | 2 | 12,345 | a sample |",
        "",
        "A note.",
    ]
    shown = io.StringIO()
    Console(file=shown, width=80).print(TABLE.to_terminal())
    assert shown.getvalue().count("Pima") == 1


def test_a_column_is_found_by_its_head() -> None:
    assert TABLE.column("ours") == [OURS, 12_345]


def test_a_line_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 heads"):
        Table("AUROC", ("table", "ours"), (("Pima",),))
