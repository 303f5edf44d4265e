# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Run


def test_a_manifest_is_written_without_the_password_of_its_database(
    run: Run, folder: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS SELECT true AS consent")
    address = postgres.replace("postgres:@", "postgres:geheim@", 1)
    written = run("init", address, "--table", "clinic.visits", "-o", "visits.yaml")
    assert written.returncode == 0, written.stderr
    text = (folder / "visits.yaml").read_text()
    assert "geheim" not in text + written.stdout + written.stderr
    assert "postgres:${PGPASSWORD}@" in text
    (folder / "visits.yaml").write_text(text.replace('"?"', "1"))
    monkeypatch.setenv("PGPASSWORD", "geheim")
    checked = run("check", "visits.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "geheim" not in checked.stdout + checked.stderr
