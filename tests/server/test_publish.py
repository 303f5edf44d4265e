# SPDX-License-Identifier: Apache-2.0
"""Only what could be read just now is published as ready."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from anonymaly.core.value import canonical_json
from anonymaly.server.held import without_password
from anonymaly.server.published import Published, find_table, publish
from tests.server.places import MANIFEST, ROWS, Place


def found(place: Place) -> Published:
    table = find_table(place.state, "patients")
    assert table is not None
    return table


def test_a_table_is_published_with_the_declaration_that_its_account_has(place: Place) -> None:
    with place.worker() as worker:
        declared = worker._tables["patients"].curator.declaration
        table = found(place)
    assert table.ready
    assert table.declaration == declared
    assert not table.paused
    assert {"count", "share-ngrams"} <= set(table.questions) == set(table.slots) - {"other"}
    assert min(table.slots.values()) >= 0.1


def test_a_table_whose_file_has_gone_is_not_ready_until_it_is_back(place: Place) -> None:
    rows = place.folder / "patients.csv"
    with place.worker() as worker:
        rows.rename(place.folder / "away.csv")
        worker.check()
        assert not found(place).ready
        asked = place.ask("olga")
        worker.work()
        (place.folder / "away.csv").rename(rows)
        worker.check()
        assert found(place).ready
    assert place.job(asked.id).state == "refused"
    assert str(place.folder) not in str(place.result(asked))
    assert place.charges() == 0


def test_a_table_whose_columns_are_not_what_was_declared_is_not_published_as_ready(here: Place) -> None:
    (here.folder / "patients.csv").write_text("age,town\n30,Bern\n")
    with here.worker():
        assert find_table(here.state, "patients") is None


def test_a_file_that_was_changed_and_does_not_fit_its_account_makes_a_table_not_ready(here: Place) -> None:
    manifest = here.folder / "patients.yaml"
    before = manifest.read_text()
    with here.worker() as worker:
        asked = here.ask("olga")
        worker.work()
        assert here.job(asked.id).state == "done"
        columns = {**MANIFEST["columns"], "age": {"type": "interval", "low": 0, "high": 100}}
        manifest.write_text(yaml.safe_dump({**MANIFEST, "columns": columns}))
        worker.check()
        assert not found(here).ready
        manifest.write_text(before)
        worker.check()
        assert found(here).ready


def test_a_worker_that_is_busy_stays_ready_and_one_whose_check_hangs_does_not(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with here.worker() as worker:
        publisher = worker._publisher
        long_ago = time.monotonic() + 3600
        worker.stop()
        publisher.withdraw("patients")
        monkeypatch.setattr(time, "monotonic", lambda: long_ago)
        publisher.renew(busy=False)
        assert not found(here).ready
        publisher.renew(busy=True)
        assert found(here).ready


def test_the_slots_that_an_owner_sets_are_published(here: Place) -> None:
    with here.worker(slots={"count": 0.3, "score": 7.0}, slots_of={"patients": {"score": 9.0}}):
        slots = found(here).slots
    assert (slots["count"], slots["score"]) == (0.3, 9.0)


def test_what_is_published_holds_no_password_and_no_value_of_a_row(tmp_path: Path) -> None:
    assert without_password("postgresql://me:secret@db:5432/x?sslmode=require&password=secret") == (
        "postgresql://db:5432/x?sslmode=require"
    )
    place = Place.make(tmp_path / "served", None)
    (place.folder / "patients.csv").write_text(ROWS.replace("Rome", "Roma"))
    with place.worker():
        text = canonical_json(found(place).to_text())
    assert "Roma" not in text
    place.state.close()


def test_workers_that_publish_a_table_at_once_all_go_on(place: Place) -> None:
    with place.worker():
        table = found(place)
    for number in range(20):
        one = replace(table, name=f"new {number}")
        with ThreadPoolExecutor(8) as workers:
            for done in [workers.submit(publish, place.state, one, ready=True) for _ in range(8)]:
                done.result()
        known = find_table(place.state, one.name)
        assert known is not None
        assert known.ready
