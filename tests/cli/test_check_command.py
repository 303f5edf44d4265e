# SPDX-License-Identifier: Apache-2.0
"""``anonymaly check``: what it says of columns that are not in the table."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import MANIFEST, Run


def test_a_declared_column_that_is_not_in_the_table_comes_with_what_it_may_be_called(
    run: Run, folder: Path
) -> None:
    (folder / "patients.yaml").write_text(MANIFEST.replace("  ward:", "  wadr:"))
    checked = run("check", "patients.yaml")
    assert checked.returncode == 2
    assert "wadr: did you mean ward?\nin the table and not declared: ward\n" in checked.stdout
    assert "1 to correct" in checked.stdout


def test_a_file_that_is_parted_by_another_sign_is_noticed_by_its_one_column(run: Run, folder: Path) -> None:
    (folder / "patients.yaml").write_text(MANIFEST + 'file: {delimiter: ";"}\n')
    checked = run("check", "patients.yaml")
    assert checked.returncode == 2
    assert "in the table and not declared: age,ward\n" in checked.stdout
    assert "file: {delimiter: …} says which" in checked.stdout


def test_a_table_that_fits_lists_no_other_columns(run: Run) -> None:
    checked = run("check", "patients.yaml")
    assert checked.returncode == 0
    assert "not declared" not in checked.stdout
