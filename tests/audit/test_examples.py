# SPDX-License-Identifier: Apache-2.0
"""Other people's faults are found, and the right mechanism beside each is not rejected: false alarms 1e-6."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "audit").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_fault_is_found_and_the_right_mechanism_passes(example: Path) -> None:
    names = runpy.run_path(str(example))
    broken, right = names["broken"](), names["right"]()
    assert broken.violated, str(broken)
    assert str(broken).startswith("violation found")
    assert not right.violated, str(right)
    assert str(right).startswith("no violation found")


def test_there_are_the_three_that_the_documentation_speaks_of() -> None:
    names = [path.stem for path in EXAMPLES]
    assert names == ["bounds_from_data", "float_laplace", "published_dawa"]
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text("utf-8")
    assert all(f"examples/audit/{name}.py" in page for name in names)
