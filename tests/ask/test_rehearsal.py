# SPDX-License-Identifier: Apache-2.0
"""A rehearsal goes the whole way on rows that are nobody's, and leaves no trace."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.invention import invent
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain
from anonymaly.errors import BudgetExceeded, InputError, RuleNotDeclared
from anonymaly.noise import Noise

COLUMNS: dict[str, Domain] = {
    "age": am.Interval(0, 120),
    "weight": am.Interval(40.5, 42, step=0.25),
    "income": am.Unbounded(),
    "ward": am.Categories(["A", "B"]),
    "floor": am.Categories([1, 2, 3]),
    "consent": am.Flag(),
    "admitted": am.Timestamps("2020-01-01", "2020-12-31"),
    "note": am.Opaque(),
}


def declared(**options: Any) -> Declaration:
    return Declaration.read(name="patients", columns=COLUMNS, **options)


def test_invented_values_lie_in_their_domains_and_some_are_null() -> None:
    table = invent(declared(), 2_000, Noise.seeded(1))
    assert table.column_names == list(COLUMNS)
    for name, domain in COLUMNS.items():
        values = table[name].to_pylist()
        present = [value for value in values if value is not None]
        # One in 50 is null: 2,000 draws leave this range with a probability below 1e-5.
        assert 10 <= len(values) - len(present) <= 75, name
        assert all(domain.contains(value) for value in present), name
    assert set(table["weight"].to_pylist()) == {None, 40.5, 40.75, 41, 41.25, 41.5, 41.75, 42}
    assert {type(moment) for moment in table["admitted"].to_pylist()} == {datetime, type(None)}


def test_persons_have_up_to_max_rows_and_rows_have_keys() -> None:
    table = invent(declared(person="id", max_rows=4, key="number"), 1_000, Noise.seeded(1))
    assert len(set(table["number"].to_pylist())) == 1_000
    assert set(Counter(table["id"].to_pylist()).values()) == {1, 2, 3, 4}


def test_a_person_who_is_a_declared_column_has_several_rows_as_well() -> None:
    declaration = Declaration.read(
        name="t", columns={"id": am.Interval(0, 9), "age": am.Interval(0, 120)}, person="id", max_rows=4
    )
    ids = Counter(invent(declaration, 1_000, Noise.seeded(1))["id"].to_pylist())
    del ids[None]
    assert set(ids.values()) == {1, 2, 3, 4}


def open_curator(folder: Path, source: Any = None, **options: Any) -> am.Curator:
    frame = pandas.DataFrame({"age": [200, 300], "ward": ["C", "C"]}) if source is None else source
    columns: dict[str, Domain] = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}
    rules = {"adults": am.Policy("age >= 18")}
    dataset = am.Dataset(frame, name="patients", columns=columns, rules=rules, **options)
    return am.Curator(dataset, budget="0.1", ledger=folder / "patients.ledger")


def test_a_rehearsal_is_free_labelled_and_leaves_nothing(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    before = sorted(path for path in tmp_path.rglob("*"))
    entries = len(curator.accountant.ledger.entries("patients"))
    answer = curator.rehearse(am.Count(where="age <= 120", epsilon=50))
    assert str(answer).startswith("INVENTED ROWS: ")
    assert answer.to_dict()["invented"] is True
    assert "INVENTED ROWS" in answer._repr_html_()
    assert (answer.number, answer.charged, answer.receipt) == (None, 0, None)
    assert 900 < answer.value <= 1_000, "a thousand rows, of which about one in fifty is null"
    assert curator.spent == 0
    assert len(curator.accountant.ledger.entries("patients")) == entries
    assert sorted(path for path in tmp_path.rglob("*")) == before
    with pytest.raises(BudgetExceeded):
        curator.ask(am.Count(where="age <= 120", epsilon=50))


def test_an_answer_of_the_table_is_not_labelled(tmp_path: Path) -> None:
    answer = open_curator(tmp_path).ask(am.Count(epsilon="0.1"))
    assert "INVENTED" not in str(answer) + answer._repr_html_()
    assert "invented" not in answer.to_dict()


def test_a_rehearsal_works_where_the_table_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age,ward\n30,A\n")
    curator = open_curator(tmp_path, path)
    path.unlink()
    assert curator.rehearse(am.Count(epsilon=50), rows=77).value == 77


def test_the_same_seed_gives_the_same_rehearsal_and_none_gives_others(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    query = am.Count(where="age < 60", epsilon=50)
    assert len({curator.rehearse(query, seed=5).value for _ in range(3)}) == 1
    # Counts of a thousand fair coins: nine equal ones in a row have a probability below 1e-12.
    assert len({curator.rehearse(query).value for _ in range(10)}) > 1


def test_the_record_asked_about_is_among_the_invented_rows(tmp_path: Path) -> None:
    columns = {"age": am.Interval(0, 1e9)}
    rules = {"rare": am.AnomalyModel(["age"], radius=1, beta=30)}
    dataset = am.Dataset(pandas.DataFrame({"age": [1.0]}), name="t", columns=columns, rules=rules)
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    query = am.Identify(record={"age": 5}, model="rare", epsilon=50)
    assert curator.rehearse(query, seed=1).value is True


def test_what_ask_would_refuse_is_refused(tmp_path: Path) -> None:
    curator = open_curator(tmp_path)
    with pytest.raises(RuleNotDeclared):
        curator.rehearse(am.ShareSample(policy="children", columns=["age"], epsilon=1))
    with pytest.raises(InputError, match="no declared column"):
        curator.rehearse(am.Count(where="height > 3", epsilon=1))
    for rows in (0, True, 10**7, "many"):
        with pytest.raises(InputError) as refusal:
            curator.rehearse(am.Count(epsilon=1), rows=rows)  # type: ignore[arg-type]
        assert refusal.value.field == "rows"


def test_a_public_stand_in_is_used_where_the_owner_names_one(tmp_path: Path) -> None:
    public = pandas.DataFrame({"age": [30.0, 40, 50], "ward": ["A", "A", "B"]})
    answer = open_curator(tmp_path, stand_in=public).rehearse(am.Count(where="ward == 'A'", epsilon=50))
    assert answer.value == 2
    assert str(answer).startswith("INVENTED ROWS: a rehearsal on the owner's public stand-in")
    assert answer.to_dict()["rehearsed_on"] == "stand-in"


def test_a_stand_in_without_a_declared_column_is_refused(tmp_path: Path) -> None:
    curator = open_curator(tmp_path, stand_in=pandas.DataFrame({"age": [30.0]}))
    with pytest.raises(InputError, match=r"stand_in: does not fit the declaration: .*columns\.ward"):
        curator.rehearse(am.Count(epsilon=1))
    assert curator.ask(am.Count(epsilon="0.1")).charged


READ = {
    "cost": am.Interval(0, 10, read=am.Reading(decimal=",", signs=["€"])),
    "ward": am.Categories(["A", "B"], other="Other", read=am.Reading(same={"A": ["a1"]}, nulls=["-"])),
    "consent": am.Flag(read=am.Reading(means_true=["ja"], means_false=["nein"])),
    "admitted": am.Timestamps("2020-01-01", "2021-01-01", read=am.Reading(dates=["%d.%m.%Y"])),
    "at": am.Timestamps("2020-01-01", "2021-01-01", read=am.Reading(unix="seconds")),
}


@pytest.mark.parametrize(
    ("where", "share"),
    [
        ("cost >= 5", 1 / 2),
        ("ward == 'A'", 1 / 3),
        ("ward == 'Other'", 1 / 3),
        ("consent", 1 / 2),
        ("admitted >= '2020-07-02'", 1 / 2),
        ("at >= '2020-07-02'", 1 / 2),
    ],
)
def test_invented_values_are_read_and_as_many_as_the_owner_declares(
    tmp_path: Path, where: str, share: float
) -> None:
    frame = pandas.DataFrame(
        {"cost": ["1 €"], "ward": ["a1"], "consent": ["ja"], "admitted": ["1.2.2020"], "at": ["1593561600"]}
    )
    dataset = am.Dataset(frame, name="patients", columns=READ, rows=4_000)
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    count = curator.rehearse(am.Count(where=where, epsilon=1), seed=1).value
    # 4,000 rows, one value in 50 null; six standard deviations of a binomial are below 190.
    assert abs(count - 4_000 * 0.98 * share) < 200
