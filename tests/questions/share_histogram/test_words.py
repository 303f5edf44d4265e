# SPDX-License-Identifier: Apache-2.0
"""What a preview says about a histogram's error is true of what is then released."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anonymaly.ask.binding import Expectation
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.methods import rates as rates_of
from anonymaly.questions.share_histogram.methods.prices import lone_count
from anonymaly.questions.share_histogram.methods.words import expectation

SMOOTHED = ["auto", "hybrid", "smoothed", "dawa", "dawaz"]


def expected(name: str, *, epsilon: int = 1, cells: int = 4096) -> Expectation:
    method = METHODS[name]
    return expectation(method, method.rates(epsilon * 10**9, adjacency="add_remove", bins=cells), cells)


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("epsilon", [800, 10**6])
def test_no_epsilon_is_too_large_to_be_previewed(name: str, epsilon: int) -> None:
    found = expected(name, epsilon=epsilon)
    assert "nan" not in found.noise + found.error
    if name.startswith("one_sided"):
        assert found.noise.endswith("one-sided geometric, mean 0")


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("cells", [9, 4096])
def test_each_fact_has_a_short_line(name: str, cells: int) -> None:
    found = expected(name, cells=cells)
    for line in (found.noise + "\n" + found.error).split("\n"):
        assert line
        assert len(line) <= 135
    assert all(len(line) <= 100 for line in found.error.split("\n"))


@pytest.mark.parametrize("name", SMOOTHED)
def test_the_width_of_the_noise_is_not_called_the_error_of_what_is_smoothed(name: str) -> None:
    before, _, after = expected(name).error.partition("±")
    assert "before smoothing" in before
    assert "smoothing may then move a cell further" in after
    assert "±" not in after


def test_a_count_that_stands_alone_vanishes_below_the_number_that_is_named() -> None:
    method, cells = METHODS["smoothed"], 4096
    rates = method.rates(10**9, adjacency="add_remove", bins=cells)
    bound = lone_count(cells, Fraction(1))
    assert f"below about {int(np.ceil(bound))} that stand alone" in expected("smoothed").error
    counts = np.zeros(cells, np.int64)
    places = np.arange(8, cells, 16)

    def standing(count: float) -> float:
        counts[places] = round(count)
        found = method.run(counts, counts, rates=rates, noise=Noise.seeded(1))
        return float((found[places] > 0).mean())

    assert standing(bound / 2) < 0.1
    assert standing(bound * 2) > 0.9


def test_auto_names_what_can_run() -> None:
    method, rates = METHODS["auto"], rates_of.hybrid(Fraction(1), "add_remove", 9)
    assert expected("auto").noise.startswith("hybrid or geometric, by how many records")
    assert expectation(method, rates, 9).noise.startswith("hybrid, as public facts decide")
    plain = {"two_sided": rates["two_sided"]}
    assert expectation(method, plain, 9).noise.startswith("geometric, as public facts decide")


@pytest.mark.parametrize("name", list(METHODS))
def test_the_preview_says_what_each_method_is_good_and_bad_for(name: str) -> None:
    line = expected(name).noise.split("\n")[1]
    assert line.startswith("good ")
    assert "; bad " in line


PREVIEWS = """
import sys
import anonymaly as am
columns = {"age": am.Interval(0, 120), "consent": am.Flag()}
table = am.Dataset("t.csv", name="t", columns=columns, rules={"open": am.Policy("consent")})
declaration = table.with_adjacency("replace")
am.ShareSample(policy="open", columns=["age"], epsilon=1).bind(declaration).expectation
for method in sys.argv[1:]:
    query = am.ShareHistogram(by=[am.Bins("age", range(121))], policy="open", method=method, epsilon=1)
    query.bind(declaration).expectation
print(*sys.modules)
"""


def test_what_to_expect_is_known_without_an_engine_and_without_compiled_code(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_text("age,consent\n30,true\n")
    command = [sys.executable, "-c", PREVIEWS, *METHODS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert not {"ibis", "duckdb", "numba", "pandas", "pyarrow"} & set(done.stdout.split())
