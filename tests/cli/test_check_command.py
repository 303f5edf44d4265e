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
    assert "delimiter" not in checked.stdout


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


def test_answers_whose_ledger_is_gone_are_warned_of(run: Run, folder: Path) -> None:
    assert run("count", "patients.yaml", "--epsilon", "0.5").returncode == 0
    assert "warning" not in run("check", "patients.yaml").stdout
    for path in folder.glob("patients.ledger*"):
        if path.is_file():
            path.unlink()
    checked = run("check", "patients.yaml")
    assert "warning: patients.ledger.answers holds answers" in checked.stdout
    assert "Restore patients.ledger" in checked.stdout
    refused = run("count", "patients.yaml", "--epsilon", "0.5")
    assert refused.returncode == 2
    assert "patients.ledger.answers holds answers" in refused.stderr
    assert run("count", "patients.yaml", "--epsilon", "0.5", "--preview").returncode == 0


def test_a_store_that_is_named_may_hold_answers_of_other_ledgers(run: Run, folder: Path) -> None:
    (folder / "patients.yaml").write_text(MANIFEST + "store: answers\nledger: one.ledger\n")
    assert run("count", "patients.yaml", "--epsilon", "0.5").returncode == 0
    (folder / "patients.yaml").write_text(MANIFEST + "store: answers\nledger: two.ledger\n")
    assert "warning" not in run("check", "patients.yaml").stdout
