# SPDX-License-Identifier: Apache-2.0
"""A compiled kernel for a detector is one new file, and no edit: only its name says whose it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas
import pytest

import anonymaly as am
from anonymaly.detectors import DETECTORS, Detector
from anonymaly.questions.explain import binding, kernels
from anonymaly.questions.explain.kernels import generic, has_kernel, kernel_type

KERNEL = """
import numpy as np

from anonymaly.core.compiled import compiled
from anonymaly.questions.explain.kernels.cells import Sums
from anonymaly.questions.explain.kernels.kernel import Kernel
from anonymaly.questions.explain.kernels.populations import totals


@compiled
def judge(counts, sums, limit, verdicts):
    for place in range(len(counts)):
        verdicts[place] = abs(sums[place]) > limit * (counts[place] + 1)


class FarFromMeanKernel(Kernel):
    def __init__(self, space, cells, detector):
        self.space, self.cells, self.limit = space, cells, detector.limit

    @classmethod
    def needs(cls, detector):
        return Sums()

    def valid(self, progress=None):
        return self.valid_at(np.arange(self.space.size))

    def valid_at(self, indices):
        parts = self.cells.counts, np.array(self.cells.sums)
        counts, sums = (totals(self.space, indices, part) for part in parts)
        verdicts = np.empty(len(counts), np.bool_)
        judge(counts, sums, self.limit, verdicts)
        return verdicts
"""


@dataclass(frozen=True)
class FarFromMean(Detector):
    """An outlier is further from the mean than a limit."""

    limit: int = 20

    name: ClassVar[str] = "far_from_mean"

    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        numbers = np.asarray(values)
        return bool(abs(int((numbers - numbers[position]).sum())) > self.limit * len(numbers))


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> Detector:
    monkeypatch.setitem(DETECTORS, "far_from_mean", FarFromMean())
    return DETECTORS["far_from_mean"]


@pytest.fixture
def kernel_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that a contributor would add to the folder of kernels."""
    path = tmp_path / "far_from_mean.py"
    path.write_text(KERNEL)
    monkeypatch.setattr(kernels, "__path__", [*kernels.__path__, str(tmp_path)])
    yield path
    sys.modules.pop(f"{kernels.__name__}.far_from_mean", None)


def _question(**fields: Any) -> am.Explain:
    return am.Explain(
        record={"job": "Nurse", "city": "Oslo", "pay": 90},
        metric="pay",
        attributes=["job", "city"],
        detector="far_from_mean",
        rule="groups",
        epsilon=1,
        **fields,
    )


def _staff() -> am.Dataset:
    records = {
        "job": ["Nurse"] * 9 + ["Clerk"] * 9 + ["Nurse"],
        "city": ["Oslo", "Turin", "Rome"] * 6 + ["Oslo"],
        "pay": [*range(60, 78), 90],
    }
    columns = {
        "job": am.Categories(["Nurse", "Clerk"]),
        "city": am.Categories(["Oslo", "Turin", "Rome"]),
        "pay": am.Interval(0, 100, 1),
    }
    rules = {"groups": am.SameContexts()}
    return am.Dataset(pandas.DataFrame(records), name="staff", columns=columns, rules=rules, public=True)


def test_a_new_file_is_used_by_question_summary_and_inspection(
    detector: Detector, kernel_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert has_kernel(detector)
    assert kernel_type(detector).__name__ == "FarFromMeanKernel"
    # The way of a detector without a kernel must not be taken anywhere.
    monkeypatch.setattr(generic, "GenericKernel", None)
    found = am.inspect.contexts(_staff(), _question())
    assert 0 < found.valid.sum() < len(found.valid)
    value = am.simulate(_question(), _staff(), seed=1).value
    assert value in {found.context(int(index)) for index in np.flatnonzero(found.valid)}
    assert set(am.inspect.context_match(_staff(), _question(), changes=(1,), neighbours=2)) == {1}


def test_it_judges_as_the_detector_does_without_the_file(
    detector: Detector, kernel_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_kernel = am.inspect.contexts(_staff(), _question()).valid
    kernel_file.unlink()
    sys.modules.pop(f"{kernels.__name__}.far_from_mean")
    assert not has_kernel(detector)
    assert kernel_type(detector) is generic.GenericKernel
    assert am.inspect.contexts(_staff(), _question()).valid.tolist() == by_kernel.tolist()


def test_with_the_file_the_exact_search_goes_further(detector: Detector, kernel_file: Path) -> None:
    assert binding.most_free_bits(detector) == 24
    kernel_file.unlink()
    assert binding.most_free_bits(detector) == 16


def test_a_file_without_one_kernel_is_a_mistake(detector: Detector, kernel_file: Path) -> None:
    kernel_file.write_text("")
    with pytest.raises(AssertionError, match="one class that derives from Kernel, not 0"):
        kernel_type(detector)


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_has_a_kernel_that_takes_its_parameters(name: str) -> None:
    kind = kernel_type(DETECTORS[name])
    assert (kind is generic.GenericKernel) == (not kernels.has_kernel(DETECTORS[name]))
    assert kind.needs(DETECTORS[name])
