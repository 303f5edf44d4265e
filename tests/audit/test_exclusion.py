# SPDX-License-Identifier: Apache-2.0
"""The exclusion attack succeeds where it must, and fails on ours."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from anonymaly.audit.exclusion import draw_attack, exclusion_attack

ROOT = Path(__file__).parents[2]


def test_filters_give_the_missing_away_and_samples_do_not() -> None:
    outcomes = {item.release: item for item in exclusion_attack(["0.5", "2"], worlds=20_000)}
    leaking = [item for name, item in outcomes.items() if not name.startswith("sample")]
    assert [item.belief for item in leaking] == [1.0, 1.0]
    for epsilon in (0.5, 2):
        item = outcomes[f"sample, ε = {epsilon:g}"]
        # Bayes: among the missing, 4,000 are in the lounge and e^-ε of the other 16,000 are not.
        exact = 1 / (1 + 4 * np.exp(-epsilon))
        assert item.bound == pytest.approx(exact)
        assert item.belief == pytest.approx(exact, abs=5 / np.sqrt(item.missing))


def test_the_example_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "exclusion_attack.py"))
    example["main"](tmp_path)
    assert "access control (Truman filter): 100.0% and nothing limits it" in capsys.readouterr().out
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html", ".png", ".svg"]
    assert b"lounge" in (tmp_path / "exclusion_attack.svg").read_bytes()


def test_the_documentation_shows_the_picture() -> None:
    assert draw_attack.__doc__
    page = ROOT / "docs" / "questions"
    assert "exclusion_attack.svg" in (page / "share.md").read_text("utf-8")
    assert (page / "exclusion_attack.svg").stat().st_size > 5000


def test_names_have_room_in_a_font_that_is_wider_than_arial() -> None:
    svg = (ROOT / "docs" / "questions" / "exclusion_attack.svg").read_text("utf-8")
    left = float(svg.partition('transform="translate(')[2].partition(",")[0])
    longest = max(len(item.release) for item in exclusion_attack(["0.5"], worlds=100))
    assert left >= 7.4 * longest  # DejaVu Sans of twelve pixels, which Linux shows in Arial's place
