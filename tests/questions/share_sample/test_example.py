# SPDX-License-Identifier: Apache-2.0
"""The example that trains a classifier on a sample."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "learn_on_a_sample.py"


@pytest.mark.slow
def test_a_classifier_trained_on_a_sample_is_as_good_as_one_trained_on_all_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLE))["main"]()
    areas = [float(found) for found in re.findall(r"AUC (\d\.\d+)", capsys.readouterr().out)]
    assert len(areas) == 4
    # Half of 36,631 records: over draws of the sample, the difference is below 0.005.
    assert areas[0] > areas[2] - 0.02
