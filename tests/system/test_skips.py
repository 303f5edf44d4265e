# SPDX-License-Identifier: Apache-2.0
"""A test that needs a program is skipped where it is missing, and fails where it should be there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """\
import pytest

@pytest.mark.skip(reason="needs the program nothing; install: apt-get install nothing")
def test_program():
    pass

def test_program_found_missing_later():
    pytest.skip("needs a broker (install: apt-get install broker)")

@pytest.mark.skip(reason="needs the public files")
def test_files():
    pass

@pytest.mark.xfail(reason="whatever one may install")
def test_known():
    assert False
"""
MODULE = "import pytest\npytest.skip('needs it; install: apt-get install it', allow_module_level=True)\n"


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [({}, 0, "4 skipped, 1 xfailed"), ({"CI": "1"}, 1, "1 failed, 1 skipped, 1 xfailed, 2 errors")],
    ids=["anywhere", "CI"],
)
def test_a_skip_that_says_what_to_install_fails_where_ci_is_set(
    tmp_path: Path, variables: dict[str, str], code: int, said: str
) -> None:
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_module.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"],
        cwd=tmp_path,
        env={name: text for name, text in os.environ.items() if name != "CI"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout
    assert done.returncode == code
    if variables:
        assert "apt-get install broker" in done.stdout
