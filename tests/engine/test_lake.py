# SPDX-License-Identifier: Apache-2.0
"""Delta and Iceberg tables: what their logs say, and nothing that only lies in their folders."""

from __future__ import annotations

import json
import multiprocessing
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.core import extras
from anonymaly.errors import ExtraMissing, InputError, SchemaError
from tests.declare.tables import records

deltalake = pytest.importorskip("deltalake", reason="install: pip install 'anonymaly[lake]'")
pytest.importorskip("pyiceberg", reason="install: pip install 'anonymaly[lake]'")

COLUMNS: dict[str, Any] = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}
AGE = {"age": am.Interval(0, 120)}


def visits(ages: list[int], ward: str = "A") -> pa.Table:
    return pa.table({"age": pa.array(ages, pa.int64()), "ward": [ward] * len(ages)})


def ages(source: Any) -> list[Any]:
    return [row[0] for row in records(am.Dataset(source, name="t", columns=AGE))]


@pytest.fixture
def delta(tmp_path: Path) -> str:
    """A table of 1, 3, 4 out of which 2 was deleted, with folders for wards."""
    place = str(tmp_path / "visits")
    deltalake.write_deltalake(place, visits([1, 2]), partition_by=["ward"])
    deltalake.write_deltalake(place, visits([3, 4], "B"), mode="append")
    deltalake.DeltaTable(place).delete("age = 2")
    return place


def test_deleted_rows_of_a_delta_table_do_not_come_back(delta: str) -> None:
    expected = [(1, "A"), (3, "B"), (4, "B")]
    assert records(am.Dataset(delta, name="t", columns=COLUMNS)) == expected
    assert records(am.Dataset(Path(delta), name="t", columns=COLUMNS)) == expected
    assert records(am.Dataset(deltalake.DeltaTable(delta), name="t", columns=COLUMNS)) == expected
    assert ages(f"{delta}@v0") == [1, 2]
    assert ages(deltalake.DeltaTable(delta, version=1)) == [1, 2, 3, 4]


@pytest.mark.parametrize("pattern", ["*/*.parquet", "**/*.parquet", "ward=A", "ward=*/*.parquet"])
def test_the_files_of_a_delta_table_are_not_read_without_its_log(delta: str, pattern: str) -> None:
    with pytest.raises(InputError, match="rows that were deleted are still in some of them") as refused:
        am.Dataset(f"{delta}/{pattern}", name="t", columns=AGE)
    assert refused.value.field == "source"
    assert f"Give the folder {delta} itself" in str(refused.value.next_step)


def test_a_link_does_not_lead_around_the_log(delta: str, tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(Path(delta) / "ward=A")
    (tmp_path / "one.parquet").symlink_to(next(Path(delta).glob("ward=A/*.parquet")))
    for source in ("folder", "folder/*.parquet", "one.parquet"):
        with pytest.raises(InputError, match="rows that were deleted are still in some of them"):
            am.Dataset(tmp_path / source, name="t", columns=AGE)
    (tmp_path / "whole").symlink_to(delta)
    assert ages(tmp_path / "whole") == [1, 3, 4]


def with_a_deletion_vector(place: Path, position: int) -> None:
    """Write the next version of a table by hand: its file, less one row, as the protocol's vectors say."""
    log = place / "_delta_log"
    (first,) = log.glob("*.json")
    lines = map(json.loads, first.read_text().splitlines())
    added = next(line["add"] for line in lines if "add" in line)
    bitmap = struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, position)  # a portable 32-bit Roaring bitmap
    blob = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    padded = blob + b"\0" * (-len(blob) % 4)
    numbers = (int.from_bytes(padded[start : start + 4], "big") for start in range(0, len(padded), 4))
    written = "".join(letters[number // 85**power % 85] for number in numbers for power in (4, 3, 2, 1, 0))
    vector = {"storageType": "i", "pathOrInlineDv": written, "sizeInBytes": len(blob), "cardinality": 1}
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
    actions = [
        {"protocol": protocol},
        {"remove": {"path": added["path"], "deletionTimestamp": 1, "dataChange": True}},
        {"add": {**added, "deletionVector": vector}},
    ]
    (log / "00000000000000000001.json").write_text("\n".join(map(json.dumps, actions)))


def test_rows_that_a_deletion_vector_names_are_gone(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path), visits([1, 2, 3]))
    with_a_deletion_vector(tmp_path, 1)
    assert ages(tmp_path) == [1, 3]
    assert ages(f"{tmp_path}@v0") == [1, 2, 3]


def test_each_question_is_about_the_newest_version_unless_one_is_named(delta: str, tmp_path: Path) -> None:
    def curator(source: Any, name: str) -> am.Curator:
        dataset = am.Dataset(source, name=name, columns=COLUMNS)
        return am.Curator(dataset, budget=60, ledger=tmp_path / f"{name}.ledger")

    newest, fixed = curator(delta, "newest"), curator(f"{delta}@v0", "fixed")
    opened = curator(deltalake.DeltaTable(delta), "opened")
    for each in (newest, fixed, opened):
        assert abs(each.ask(am.Count(epsilon=5)).value - 3) < 20
    deltalake.write_deltalake(delta, visits([50] * 400), mode="append")
    deltalake.DeltaTable(delta).delete("age = 1")
    assert abs(newest.ask(am.Count(epsilon=5), repeat=1).value - 402) < 20
    for each in (fixed, opened):
        assert abs(each.ask(am.Count(epsilon=5), repeat=1).value - 3) < 20


def test_every_kind_of_question_reads_a_streamed_table(delta: str, tmp_path: Path) -> None:
    deltalake.write_deltalake(delta, visits([50] * 2000), mode="append")
    dataset = am.Dataset(delta, name="t", columns=COLUMNS, rules={"grown": am.Policy("age >= 18")})
    curator = am.Curator(dataset, budget=60, ledger=tmp_path / "t.ledger")
    sample = curator.ask(am.ShareSample(policy="grown", columns=["age", "ward"], epsilon=3)).value
    assert set(sample.to_arrow()["age"].to_pylist()) == {50.0}
    scores = am.Score(columns=["age"], epsilon=5)
    assert curator.ask(scores).value is not None


def test_a_column_that_a_delta_table_has_not_costs_nothing(delta: str, tmp_path: Path) -> None:
    dataset = am.Dataset(delta, name="t", columns={**AGE, "weight": am.Interval(0, 9)})
    assert [line.problem for line in dataset.check()] == [None, "is not in the table"]
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    with pytest.raises(SchemaError, match="is not in the table"):
        curator.ask(am.Count(epsilon=1))
    assert curator.remaining == 1


def test_a_version_that_is_not_there_costs_nothing(delta: str, tmp_path: Path) -> None:
    dataset = am.Dataset(f"{delta}@v99", name="t", columns=AGE)
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    with pytest.raises(SchemaError, match="could not be opened"):
        curator.ask(am.Count(epsilon=1))
    assert curator.remaining == 1


def test_files_that_were_cleaned_up_are_missed_before_the_charge(delta: str, tmp_path: Path) -> None:
    early = am.Dataset(f"{delta}@v0", name="early", columns=AGE)
    curator = am.Curator(early, budget=2, ledger=tmp_path / "early.ledger")
    curator.ask(am.Count(epsilon=1))
    deltalake.DeltaTable(delta).vacuum(0, enforce_retention_duration=False, dry_run=False)
    for _ in range(2):
        with pytest.raises(SchemaError, match="files that its log names are gone") as refused:
            curator.ask(am.Count(where="age > 1", epsilon=1))
        assert "version" in str(refused.value.next_step)
    assert curator.remaining == 1
    with pytest.raises(SchemaError, match="files that its log names are gone"):
        am.Dataset(f"{delta}@v0", name="late", columns=AGE).check()
    assert ages(delta) == [1, 3, 4]


def test_names_that_addresses_escape_are_found_on_disk(tmp_path: Path) -> None:
    place = tmp_path / "all visits, 100%"
    deltalake.write_deltalake(str(place), visits([1, 2], "two words, 50%"), partition_by=["ward"])
    dataset = am.Dataset(place, name="t", columns=AGE)
    dataset.ready()
    dataset.ready()
    assert records(dataset) == [(1,), (2,)]


@pytest.mark.parametrize("feature", ["typeWidening", "fromTheFuture"])
def test_a_table_with_a_feature_that_its_package_does_not_know_costs_nothing(
    feature: str, tmp_path: Path
) -> None:
    deltalake.write_deltalake(str(tmp_path / "t"), visits([1]))
    (log,) = (tmp_path / "t" / "_delta_log").glob("*.json")
    features = {"readerFeatures": [feature], "writerFeatures": [feature]}
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
    lines = [line for line in map(json.loads, log.read_text().splitlines()) if "protocol" not in line]
    log.write_text("\n".join(map(json.dumps, [protocol, *lines])))
    curator = am.Curator(
        am.Dataset(tmp_path / "t", name="t", columns=AGE), budget=1, ledger=tmp_path / "t.ledger"
    )
    with pytest.raises(SchemaError, match="could not be opened") as refused:
        curator.ask(am.Count(epsilon=1))
    assert "a newer deltalake or pyiceberg" in str(refused.value.next_step)
    assert curator.remaining == 1


def _say(dataset: am.Dataset, answers: Any) -> None:
    try:
        dataset.ready()
        answers.put("read")
    except SchemaError as error:
        answers.put(str(error))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_is_told_that_it_cannot_read_a_delta_table(delta: str) -> None:
    dataset = am.Dataset(delta, name="t", columns=AGE)
    dataset.ready()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_say, args=(dataset, answers))
    child.start()
    assert "spawn or forkserver" in answers.get(timeout=60)
    child.join()
    assert ages(delta) == [1, 3, 4]


@pytest.fixture
def iceberg(tmp_path: Path) -> Any:
    """A table of 1, 3, 4 out of which 2 was deleted, and whose column was renamed."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("clinic")
    rows = visits([1, 2]).rename_columns(["age", "station"])
    table = catalog.create_table("clinic.visits", schema=rows.schema)
    table.append(rows)
    table.append(visits([3, 4], "B").rename_columns(["age", "station"]))
    table.delete("age == 2")
    with table.update_schema() as update:
        update.rename_column("station", "ward")
    return table


def test_deleted_rows_of_an_iceberg_table_do_not_come_back(iceberg: Any) -> None:
    expected = [(1, "A"), (3, "B"), (4, "B")]
    assert records(am.Dataset(iceberg, name="t", columns=COLUMNS)) == expected
    path = iceberg.metadata_location.removeprefix("file://")
    assert records(am.Dataset(path, name="t", columns=COLUMNS)) == expected
    folder = Path(path).parents[1]
    with pytest.raises(SchemaError, match="only its catalog knows") as refused:
        am.Dataset(folder, name="t", columns=COLUMNS)
    assert refused.value.field == "source"
    for pattern in ("data/*.parquet", "**/*.parquet"):
        with pytest.raises(InputError, match="rows that were deleted are still in some of them"):
            am.Dataset(f"{folder}/{pattern}", name="t", columns=COLUMNS)
    hint = Path(path).name.removesuffix(".metadata.json")
    (folder / "metadata" / "version-hint.text").write_text(hint)
    assert records(am.Dataset(folder, name="t", columns=COLUMNS)) == expected


def test_an_iceberg_table_is_read_as_its_catalog_has_it_when_a_question_is_asked(
    iceberg: Any, tmp_path: Path
) -> None:
    from pyiceberg.table import StaticTable

    fixed = StaticTable.from_metadata(iceberg.metadata_location)
    curators = [
        am.Curator(
            am.Dataset(source, name=name, columns=COLUMNS), budget=60, ledger=tmp_path / f"{name}.ledger"
        )
        for name, source in (("newest", iceberg.catalog.load_table("clinic.visits")), ("fixed", fixed))
    ]
    for curator in curators:
        assert abs(curator.ask(am.Count(epsilon=5)).value - 3) < 20
    iceberg.append(visits([50] * 400))
    found = [curator.ask(am.Count(epsilon=5), repeat=1).value for curator in curators]
    assert abs(found[0] - 403) < 20
    assert abs(found[1] - 3) < 20


def test_data_that_an_iceberg_table_has_lost_is_missed_before_the_charge(
    iceberg: Any, tmp_path: Path
) -> None:
    curator = am.Curator(am.Dataset(iceberg, name="t", columns=AGE), budget=2, ledger=tmp_path / "t.ledger")
    curator.ask(am.Count(epsilon=1))
    for path in Path(iceberg.location().removeprefix("file://")).glob("data/*.parquet"):
        path.unlink()
    with pytest.raises(SchemaError, match="files that its log names are gone"):
        curator.ask(am.Count(where="age > 1", epsilon=1))
    assert curator.remaining == 1


def test_without_the_packages_a_folder_with_a_log_is_refused_with_the_command(
    delta: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "missing", lambda extra: ["deltalake", "pyiceberg"])
    with pytest.raises(ExtraMissing, match=r"A Delta table needs deltalake.*anonymaly\[lake\]"):
        am.Dataset(delta, name="t", columns=AGE)
