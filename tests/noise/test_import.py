# SPDX-License-Identifier: Apache-2.0
"""What a preview needs of noise is there without compiled code."""

from __future__ import annotations

import subprocess
import sys

import pytest

import anonymaly.noise

LAWS = "from anonymaly.noise import ExactProbability, laws, partition_error, two_sided_geometric_half_width"


@pytest.mark.parametrize("statement", ["import anonymaly.noise.laws", LAWS, "import anonymaly.core.rate"])
def test_laws_and_rates_are_imported_without_numba(statement: str) -> None:
    code = f"{statement}; import sys; assert not {{'numba', 'llvmlite', 'ibis', 'duckdb'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_of_noise_can_be_imported_and_no_other() -> None:
    for name in anonymaly.noise.__all__:
        assert getattr(anonymaly.noise, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Random'"):
        _ = anonymaly.noise.Random
