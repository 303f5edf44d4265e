# SPDX-License-Identifier: Apache-2.0
"""The sample as a question: truthful, of declared columns, through the store, the same on every engine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.publication import Publication
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.engine.statements import collect
from anonymaly.errors import AnswerFailed, ExpressionError, InputError, LedgerDamaged, RuleNotDeclared
from anonymaly.ledger import Ledger
from anonymaly.noise import Noise
from anonymaly.promise import SensitiveUnderPolicy
from anonymaly.questions.share_sample.mechanism import release_sample
from anonymaly.questions.share_sample.shuffle import shuffled
from anonymaly.questions.share_sample.summary import non_sensitive_records
from tests.places import Put
from tests.questions.patients import COLUMNS, DECLARED, HARMLESS, SENSITIVE, counted, declare, frame, row

Open = Callable[..., am.Curator]


@pytest.fixture
def open_curator(tmp_path: Path) -> Open:
    def open_curator(dataset: am.Dataset | None = None, **options: Any) -> am.Curator:
        account = {"budget": 100, "ledger": tmp_path / "patients.ledger", **options}
        return am.Curator(dataset or declare(), **account)

    return open_curator


def ask(**fields: Any) -> am.ShareSample:
    return am.ShareSample(**{"policy": "adults", "columns": ["ward", "age"], "epsilon": 50, **fields})


def test_every_released_record_is_true_and_nobody_sensitive_is_among_them(open_curator: Open) -> None:
    value = open_curator().ask(ask()).value
    assert value.columns == ["ward", "age"]
    # At ε = 50 a harmless record is left out once in 10^21 samples.
    assert counted(value.to_arrow().to_pylist(), ["ward", "age"]) == counted(DECLARED, ["ward", "age"])


UNDECLARED = [
    ("a category", {"ward": "witness protection"}),
    ("a number above", {"size": 3.5}),
    ("a number below", {"size": -0.25}),
    ("a whole number", {"year": 1999}),
    ("a moment", {"seen": datetime(1999, 12, 31)}),
]
DECLARATION = {
    "age": am.Interval(0, 120),
    "ward": am.Categories(["A", "B"]),
    "size": am.Interval(0, 3),
    "year": am.Categories([2003, 2004]),
    "seen": am.Timestamps("2000-01-01", "2030-01-01"),
    "free": am.Unbounded(),
    "flag": am.Flag(),
    "note": am.Opaque(),
}
PUBLISHED = ["ward", "size", "year", "seen", "free", "flag", "note"]
TYPES = pa.schema(
    {
        "age": pa.float64(), "ward": pa.string(), "size": pa.float64(), "year": pa.int64(),
        "seen": pa.timestamp("us"), "free": pa.float64(), "flag": pa.bool_(), "note": pa.string(),
        "name": pa.string(),
    }
)  # fmt: skip
ORDINARY = {"age": 30.0, "ward": "A", "size": 3.0, "year": 2003, "seen": datetime(2000, 1, 1), "free": -1e9,
            "flag": True, "note": "ordinary", "name": "Ann"}  # fmt: skip
EMPTY = {**dict.fromkeys(TYPES.names), "age": 40.0, "name": "Bob"}


def of_many_kinds(records: list[dict[str, Any]], source: Any = None, **options: Any) -> am.Dataset:
    table = pa.Table.from_pylist(records, TYPES) if source is None else source
    rules = {"adults": am.Policy("age >= 18")}
    return am.Dataset(table, name="kinds", columns=DECLARATION, rules=rules, **options)


def published(dataset: am.Dataset, **fields: Any) -> list[str | None]:
    bound = ask(columns=PUBLISHED, **fields).bind(dataset.declaration)
    found: list[str | None] = (
        non_sensitive_records(dataset.view(bound.policy), bound.columns).read_all().column("note").to_pylist()
    )
    return found


@pytest.mark.parametrize(("_", "odd"), UNDECLARED, ids=[name for name, _ in UNDECLARED])
def test_an_undeclared_value_in_a_published_column_is_not_published(
    _: str, odd: dict[str, Any], put: Put
) -> None:
    records = [ORDINARY, {**ORDINARY, **odd, "note": "odd"}, EMPTY]
    dataset = of_many_kinds(records, **put(pa.Table.from_pylist(records, TYPES)))
    # A null is no value, and is published as null; so is what cannot be read as the declared kind.
    assert sorted(map(str, published(dataset))) == ["None", "ordinary"]
    bound = ask(columns=PUBLISHED).bind(dataset.declaration)
    assert isinstance(bound.policy, Publication)
    judged = [not bound.policy.sensitive(record, dataset.declaration.columns) for record in records]
    assert judged == [True, False, True]
    # Where that column is not published, the policy alone decides.
    others = [name for name in PUBLISHED if name not in odd]
    bound = ask(columns=others).bind(dataset.declaration)
    assert len(non_sensitive_records(dataset.view(bound.policy), others).read_all()) == 3


@pytest.mark.parametrize(("_", "odd"), UNDECLARED, ids=[name for name, _ in UNDECLARED])
def test_nor_is_any_row_of_that_person_even_if_the_value_is_in_a_row_that_is_cut_off(
    _: str, odd: dict[str, Any]
) -> None:
    rows = [{**ORDINARY, "age": 20.0 + place} for place in range(4)]
    for place in range(5):
        records = [*rows[:place], {**ORDINARY, **odd, "age": 20.0 + place}, *rows[place:], EMPTY]
        dataset = of_many_kinds(records, person="name", max_rows=2)
        assert published(dataset) == [None], "Ann's rows are sensitive, Bob's one row is not"


def test_an_answer_without_undeclared_values_promises_what_it_did(open_curator: Open) -> None:
    answer = open_curator().ask(ask())
    assert answer.guarantee.relation == SensitiveUnderPolicy("adults", am.Policy("age >= 18 and consent"))
    assert "Z" not in answer.value.to_arrow().column("ward").to_pylist()


def test_opaque_columns_may_be_carried(open_curator: Open) -> None:
    value = open_curator().ask(ask(columns=["note"])).value
    assert sorted(value.to_arrow().column("note").to_pylist()) == sorted(item["note"] for item in HARMLESS)


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_a_sample_holds_the_expected_part(epsilon: str) -> None:
    many = frame([row(30, "A"), row(5, "B")] * 10_000)
    answer = am.simulate(ask(epsilon=epsilon), declare(many, public=True), seed=1)
    expected = 10_000 * -np.expm1(-float(epsilon))
    assert abs(len(answer.value) - expected) < 5 * np.sqrt(expected)
    assert set(answer.value.to_arrow().column("ward").to_pylist()) == {"A"}
    assert f"{100 * expected / 10_000:.3g} of 100" in answer.expectation.error


def test_a_person_is_sensitive_if_any_row_is_even_one_that_is_cut_off() -> None:
    # By content, Ann's younger rows come first and her child's row is the one that is cut off.
    ann = [row(18, "A", name="Ann"), row(19, "A", name="Ann"), row(60, "C", consent=False, name="Ann")]
    bob = [row(40, "B", name="Bob"), row(41, "B", name="Bob"), row(42, "B", name="Bob")]
    nobody = [row(33, "C"), row(4, "C")]
    dataset = declare([*ann, *bob, *nobody], person="name", max_rows=2)
    judged = dataset.judged(am.Policy("age >= 18 and consent")).to_pyarrow().to_pylist()
    assert counted(judged, ["ward", "age", NON_SENSITIVE]) == {
        ("A", 18, False): 1,
        ("A", 19, False): 1,
        ("B", 40, True): 1,
        ("B", 41, True): 1,
        ("C", 33, True): 1,
        ("C", 4, False): 1,
    }
    assert dataset.table.columns == tuple(COLUMNS)


@pytest.mark.parametrize("options", [{}, {"person": "name", "max_rows": 1}], ids=["rows", "persons"])
def test_every_engine_gives_the_same_records(put: Put, options: Any) -> None:
    rows = [*HARMLESS, *SENSITIVE, row(25, "A", name="Ann"), row(8, "A", name="Ann")]
    place = put(frame(rows))
    found = []
    for dataset in (declare(rows, **options), declare(place.pop("source"), **place, **options)):
        judged = dataset.judged(am.Policy("age >= 18 and consent"))
        found.append(
            counted(non_sensitive_records(judged, ["ward", "age"]).read_all().to_pylist(), ["ward", "age"])
        )
    assert found[0] == found[1]
    # One of Ann's rows is harmless by itself.
    assert found[0].total() == (6 if options else 7)


def test_nothing_is_visible_before_the_commit(
    open_curator: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    curator = open_curator()
    seen: list[set[str]] = []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        seen.append({path.name for path in tmp_path.rglob("*") if path.is_file()})
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        curator.ask(ask(epsilon=1))
    key = curator.accountant.ledger.reservations("patients")[0].key
    drawn = {name for name in seen[0] if not name.startswith("patients.")}
    assert len(drawn) == 1
    assert drawn.pop().startswith(f"{key}-"), "only the store's own file, under a name that nobody was told"
    monkeypatch.undo()
    answer = open_curator().ask(ask(epsilon=1))
    assert curator.spent == 1
    files = list(curator.accountant.store.folder.iterdir())
    assert len(files) == 1
    assert files[0].name.endswith(answer.receipt.digest)


def test_a_failure_in_the_middle_of_a_stream_keeps_the_charge_and_frees_the_engine(
    open_curator: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(batches: Any) -> Any:
        yield from batches
        raise ValueError("the secret of row 4711")

    real = ibis.Table.to_pyarrow_batches
    curator = open_curator()
    monkeypatch.setattr(
        ibis.Table, "to_pyarrow_batches", lambda self, **options: failing(real(self, **options))
    )
    with pytest.raises(AnswerFailed) as failure:
        curator.ask(ask(epsilon=1))
    assert "4711" not in str(failure.value)
    assert curator.spent == 1
    monkeypatch.undo()
    assert len(curator.ask(ask(epsilon=1), repeat=1).value) >= 0


def test_a_release_that_fails_in_the_middle_lets_others_use_the_engine(
    open_curator: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymaly.questions.share_sample.summary.ROWS", 2)

    def full(*arguments: Any, **options: Any) -> Any:
        raise OSError("no room")

    curator = open_curator()
    monkeypatch.setattr("anonymaly.questions.share_sample.shuffle._Bucket.add", full)
    with pytest.raises(AnswerFailed) as failure:
        curator.ask(ask(epsilon=1))
    monkeypatch.undo()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: collect(curator.dataset.table)).result(timeout=60).num_rows == 14
    assert failure.value.exit_code == 1


@pytest.mark.parametrize("memory", [1 << 28, 4000, 1])
def test_an_order_needs_no_more_memory_than_is_given_and_loses_nothing(memory: int) -> None:
    batches = [pa.record_batch({"number": range(start, start + 500)}) for start in range(0, 5000, 500)]
    pieces = [(batch, np.arange(0, 500, 2)) for batch in batches]
    found = pa.concat_tables(shuffled(batches[0].schema, pieces, Noise.seeded(1), memory=memory))
    numbers = found.column("number").to_pylist()
    assert sorted(numbers) == list(range(0, 5000, 2))
    # A uniform order of 2,500 has a correlation of 0.02 with any given one.
    assert abs(np.corrcoef(numbers, np.arange(2500))[0, 1]) < 0.1


def test_a_sample_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sample = release_sample(pa.table({"age": range(1000)}).to_reader(), Fraction(1), Noise.seeded(1))
    assert len(sample) > 500
    assert os.listdir(tmp_path) == []


POLICIES = {
    "adults": am.Policy("age >= 18 and consent"),
    "all open": am.Policy("age >= 0"),
    "all open too": am.Policy("consent or not consent"),
    "none open": am.Policy("age > 120"),
    "none open either": am.Policy("ward is null"),
    "groups": am.SameContexts(),
}


@pytest.mark.parametrize(
    ("fields", "kind", "said"),
    [
        ({"policy": "grown ups"}, RuleNotDeclared, "declared no policy 'grown ups'"),
        ({"policy": "groups"}, RuleNotDeclared, "declared no policy 'groups'"),
        ({"policy": "age >= 18"}, RuleNotDeclared, "ask the owner"),
        ({"policy": "all open"}, InputError, "protects nobody"),
        ({"policy": "all open too"}, InputError, "protects nobody"),
        ({"policy": "none open"}, InputError, "every record is sensitive"),
        ({"policy": "none open either"}, InputError, "every record is sensitive"),
        ({"columns": ["name"]}, InputError, "no declared column 'name'"),
        ({"columns": ["age", "age"]}, InputError, "twice"),
    ],
)
def test_bad_input_is_explained_and_spends_nothing(
    open_curator: Open, fields: dict[str, Any], kind: type[Exception], said: str
) -> None:
    curator = open_curator(declare(rules=POLICIES))
    for asked in (curator.ask, curator.preview):
        with pytest.raises(kind, match=said):
            asked(ask(**fields))
    assert curator.spent == 0
    assert curator.statement().questions == 0


def test_a_policy_on_an_undeclared_column_is_refused_when_it_is_declared() -> None:
    with pytest.raises(ExpressionError, match="height"):
        declare(rules={"tall": am.Policy("height > 180")})


def test_the_preview_says_when_next_to_nothing_would_be_released(open_curator: Open) -> None:
    curator = open_curator()
    said = curator.preview(ask(epsilon="0.001")).expectation.error
    assert said.startswith("0.1 of 100 records")
    assert said.count("\n") == 2, "a line for each fact"
    assert "next to nothing is released (ε = 1 keeps 63 of 100)" in said
    assert "next to nothing" not in curator.preview(ask(epsilon=1)).expectation.error
    missing = "that one is missing shows that it is absent or sensitive only up to the factor e^ε"
    assert said.splitlines()[-1] == f"kept records are true; {missing}"
    assert "nothing is said" not in said
    assert curator.spent == 0


def test_an_owner_alone_with_the_data_may_write_the_policy_itself(open_curator: Open) -> None:
    curator = open_curator(declare(rules="any"))
    answer = curator.ask(ask(policy="18<=age and consent"))
    assert "an undeclared policy: `age >= 18 and consent`" in answer.guarantee.relation.protects()
    assert curator.ask(ask(policy="age >= 18 and consent")).charged == 0
    with pytest.raises(InputError, match="protects nobody"):
        curator.ask(ask(policy="age >= 0"))


def test_the_value_is_lazy_and_the_same_bytes_for_everybody(open_curator: Open, tmp_path: Path) -> None:
    curator = open_curator()
    value, again = (curator.ask(ask(epsilon=1)).value for _ in range(2))
    value.to_parquet(tmp_path / "one.parquet")
    again.to_parquet(tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_rows_are_refused_if_their_file_was_changed_after_the_answer_was_opened(open_curator: Open) -> None:
    curator = open_curator()
    value = curator.ask(ask(epsilon=1)).value
    assert len(value.to_arrow()) == len(value)
    (path,) = curator.accountant.store.folder.iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for read in (value.to_arrow, lambda: next(value.batches())):
        with pytest.raises(LedgerDamaged, match="altered"):
            read()
    path.unlink()
    with pytest.raises(LedgerDamaged, match="missing"):
        value.to_arrow()
