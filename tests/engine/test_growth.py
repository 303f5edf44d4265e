# SPDX-License-Identifier: Apache-2.0
"""The benchmark of growth, at a size at which nothing can be seen but that it measures."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anonymaly.ask.catalogue import QUESTIONS

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "growth.py"


def measured(folder: Path, *further: str) -> Any:
    command = [sys.executable, "-W", "ignore", str(BENCHMARK), "--json", "--folder", str(folder)]
    command += ["--rows", "2000", "4000", "--questions", "lookahead", *further]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def benchmark() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARK))


def test_every_question_is_measured(benchmark: dict[str, Any]) -> None:
    assert {case.query.question for case in benchmark["cases"]().values()} == set(QUESTIONS)


def test_what_grows_with_the_rows_has_exponent_one_and_ten_times_as_many_rows_take_ten_times_as_long(
    benchmark: dict[str, Any],
) -> None:
    few = {"seconds": 1.0, "memory": 0, "disk": 0}
    sizes = {rows: {**few, "seconds": 1 + rows / 10**6, "disk": rows} for rows in (10**6, 10**7, 10**8)}
    found = benchmark["grown"]({1000: few, **sizes})
    assert found["exponent"] == pytest.approx(1)
    assert found["overall"] == pytest.approx(1)
    assert found["seconds at"] == {10**9: pytest.approx(1000), 10**10: pytest.approx(10_000)}
    assert found["disk at"] == {10**9: 10**9, 10**10: 10**10}


@pytest.mark.slow
def test_what_was_measured_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    (first,) = measured(tmp_path)
    assert set(first["sizes"]) == {"2000", "4000"}
    for item in first["sizes"].values():
        assert item["seconds"] >= 0
        assert item["memory"] > 10**7
    assert (tmp_path / "growth-duckdb.svg").stat().st_size > 1000
    kept = (tmp_path / "measured.json").read_bytes()
    assert measured(tmp_path) == [first]
    assert (tmp_path / "measured.json").read_bytes() == kept
