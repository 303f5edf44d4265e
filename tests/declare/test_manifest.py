# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.epsilon import LARGEST, to_text
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Interval, Timestamps
from anonymaly.declare.manifest import LARGEST_FILE, Manifest
from anonymaly.declare.rules import Policy
from anonymaly.errors import InputError, ManifestError

FULL = """
name: patients
version: 2026-01
source: patients.csv
key: id
person: id
max_rows: 3
public: false
columns:
  age: {type: interval, low: 0, high: 120}
  ward: {type: categories, values: [A, B]}
  consent: {type: flag}
  seen: {type: timestamps, start: 2020-01-01, end: 2030-01-01 12:00:00}
  note: {type: opaque}
rules:
  adults: {type: policy, text: age >= 18 and consent}
budget: 2.0
adjacency: replace
ledger: accounts/patients.ledger
anchor: /mnt/anchor
store: answers
"""
SHORT = "name: p\nsource: p.csv\ncolumns: {age: {type: interval, low: 0, high: 120}}\n"


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "p.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(folder: Path, content: str | bytes) -> ManifestError:
    with pytest.raises(ManifestError) as refused:
        Manifest.load(write(folder, content))
    assert refused.value.next_step
    return refused.value


def dataset_of(folder: Path, content: str) -> Dataset:
    (folder / "p.csv").write_text("id,age,ward,consent,seen,note\n1,30,A,true,2021-01-01,x\n")
    return Manifest.load(write(folder, content.replace("patients.csv", "p.csv"))).dataset(folder)


def test_a_full_file_declares_the_dataset_and_its_account(tmp_path: Path) -> None:
    manifest = Manifest.load(write(tmp_path, FULL))
    assert (manifest.budget, manifest.adjacency, manifest.version) == ("2", "replace", "2026-01")
    declaration = dataset_of(tmp_path, FULL).declaration
    assert declaration.name == "patients"
    assert declaration.columns["age"] == Interval(0, 120)
    assert declaration.columns["seen"] == Timestamps("2020-01-01", "2030-01-01 12:00")
    assert declaration.rules == {"adults": Policy("age >= 18 and consent")}
    assert (declaration.key, declaration.person, declaration.rows, declaration.public) == (
        "id",
        "id",
        3,
        False,
    )


@pytest.mark.parametrize("content", [FULL, SHORT], ids=["full", "short"])
def test_a_manifest_written_as_yaml_or_json_reads_as_the_same_value(content: str, tmp_path: Path) -> None:
    manifest = Manifest.load(write(tmp_path, content))
    for text in (yaml.safe_dump(manifest.to_dict()), json.dumps(manifest.to_dict()), manifest.to_json()):
        twin = Manifest.load(write(tmp_path, text))
        assert twin == manifest
        assert twin.to_json() == manifest.to_json()


_texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda t: t != "?"
)


@settings(deadline=None)
@given(
    names=st.lists(_texts.filter(lambda name: "`" not in name), min_size=1, max_size=3, unique_by=str.lower),
    values=st.lists(
        _texts | st.sampled_from(["yes", "no", "null", "1", "1e3", "2020-01-01"]), min_size=1, unique=True
    ),
    nano=st.integers(1, LARGEST),
)
def test_any_declaration_survives_its_yaml(names: list[str], values: list[str], nano: int) -> None:
    data = {
        "name": "p",
        "source": "p.csv",
        "columns": {name: Categories(values).to_dict() for name in names},
        "budget": to_text(nano),
    }
    manifest = Manifest.read(data)
    assert Manifest.read(yaml.safe_load(yaml.safe_dump(manifest.to_dict(), allow_unicode=True))) == manifest
    assert manifest.budget == to_text(nano)
    assert [item["values"] for item in manifest.columns.values()] == [values] * len(names)


def test_a_manifest_cannot_be_changed(tmp_path: Path) -> None:
    manifest = Manifest.load(write(tmp_path, SHORT))
    with pytest.raises(InputError, match="frozen"):
        manifest.budget = "1000"


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        ("name: p\n  source: x\n", 2, 9, "mapping values are not allowed"),
        ("name: [p\n", 2, 1, "expected ',' or ']'"),
        ("name: p\n\tsource: x\n", 2, 1, "cannot start any token"),
        ("name: 'p\n", 2, 1, "end of stream"),
        ("name: p\nname: q\n", 2, 1, "'name' is there twice"),
        ("name: p\ncolumns:\n  age: {}\n  'age': {}\n", 4, 3, "'age' is there twice"),
        ("columns: {1: {}, 0x1: {}}\n", 1, 10, "is there twice"),
        ("name: &x p\nsource: *x\n", 2, 9, "aliases are not supported"),
        ("columns:\n  <<: {age: {}}\n", 2, 3, "<< is not supported"),
        ("name: !!python/object:os.system p\n", 1, 7, "could not determine a constructor"),
        ("name: !custom p\n", 1, 7, "could not determine a constructor"),
        ("version: 2026-02-30\n", 1, 10, "put it in quotes"),
        ("version: !!int x\n", 1, 10, "put it in quotes"),
        ("version: !!bool x\n", 1, 10, "put it in quotes"),
        ("version: !!timestamp x\n", 1, 10, "put it in quotes"),
        ("version: " + "9" * 5000 + "\n", 1, 10, "put it in quotes"),
        ("? [a, b]\n: c\n", 1, 3, "unhashable"),
        ("name: p\n---\nname: q\n", 2, 1, "another document"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_yaml_is_refused_at_its_line_and_column(
    content: str, line: int, column: int, reason: str, tmp_path: Path
) -> None:
    error = refusal(tmp_path, content)
    assert f"line {line}, column {column} is not YAML" in str(error)
    assert reason in str(error)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"name: \xff\xfe", "cannot read .*UnicodeDecodeError"),
        ("name: p".encode("utf-16"), "cannot read|is not YAML"),
        (b"name: \x00", "is not YAML"),
        (b"", "declares nothing"),
        (b"# only a comment\n", "declares nothing"),
        (b"- a\n- b\n", "declares nothing"),
        (b"patients", "declares nothing"),
        (b"#" * (LARGEST_FILE + 1), "more than 1,000,000 bytes"),
        # Refused where the level begins, not after what follows was read.
        (b"a: " + b"[" * 100_000, "line 1, column 54 .*nested more than 50 levels"),
        (b"a: " + b"[" * 3_000 + b"]" * 3_000, "line 1, column 54 .*nested more than 50 levels"),
        (b"a: " + b"{b: " * 5000 + b"}" * 5000, "line 1, column .*nested more than 50 levels"),
        (b"- " * 100_000, "line 1, column 101 .*nested more than 50 levels"),
        (b"? " * 100_000, "line 1, column 101 .*nested more than 50 levels"),
        (b"".join(b" " * level + b"a:\n" for level in range(1_000)), "line 50, .*nested more than 50 levels"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_file_that_holds_no_declaration_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, content)
    with pytest.raises(ManifestError, match=reason):
        Manifest.load(tmp_path / "p.yaml")


@pytest.mark.parametrize("path", ["missing.yaml", ".", "missing/p.yaml", "\0.yaml"])
def test_a_file_that_is_not_there_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"(cannot read)|(there is no file)") as refused:
        Manifest.load(tmp_path / path)
    assert "anonymaly init" in str(refused.value)


def test_a_table_in_place_of_its_yaml_file_is_refused_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("age\n30\n")
    with pytest.raises(ManifestError, match="is a table, not the YAML file that declares it"):
        Manifest.load(tmp_path / "p.csv")


def test_a_sign_that_yaml_cannot_read_is_to_be_put_in_quotes(tmp_path: Path) -> None:
    error = refusal(tmp_path, "name: p\ncolumns:\n  pay: {type: categories, values: [<=50K, >50K]}\n")
    assert "line 3" in error.problem
    assert "in quotes" in str(error)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ManifestError, match="more than"):
        Manifest.load("/dev/zero")


def test_data_nested_too_deeply_are_refused_when_read_directly() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ManifestError, match="nested too deeply"):
        Manifest.read({"name": "p", "columns": {"age": deep}})
    while deep:  # taken apart by hand: dropping it whole would recurse
        deep = deep.pop()


@pytest.mark.slow
def test_many_names_are_checked_for_repeats_in_one_pass(tmp_path: Path) -> None:
    names = "".join(f"c{place}: 1\n" for place in range(80_000))
    assert "'c7' is there twice" in str(refusal(tmp_path, names + "c7: 1\n"))


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("low: 0", 'low: "?"', "columns.age.low"),
        ("[A, B]", '["?"]', "columns.ward.values"),
        ("budget: 2.0", 'budget: "?"', "budget"),
        ("source: patients.csv", "source: '?'", "source"),
        ("age >= 18 and consent", "'?'", "rules.adults.text"),
    ],
)
def test_a_question_mark_left_by_init_is_pointed_at(old: str, new: str, field: str, tmp_path: Path) -> None:
    assert old in FULL
    error = refusal(tmp_path, FULL.replace(old, new))
    assert error.field == field
    assert "still to be declared" in str(error)
    assert "never look it up in the rows" in str(error)


def test_every_question_mark_is_listed_at_once_and_those_of_a_column_together(tmp_path: Path) -> None:
    open_ends = [f"  c{place}: {{type: interval, low: '?', high: '?'}}" for place in range(6)]
    error = refusal(
        tmp_path,
        "\n".join(
            ["name: p", "source: p.csv", "columns:", *open_ends, "  ward: {type: categories, values: ['?']}"]
            + ["budget: '?'"]
        ),
    )
    assert "still to be declared, in 8 places" in error.problem
    lines = [line.strip() for line in error.problem.splitlines()[1:]]
    assert lines == [
        *(f"columns.c{place}: low, high" for place in range(6)),
        "columns.ward: values",
        "budget",
    ]


def test_a_question_mark_that_means_null_in_the_table_is_no_open_field(tmp_path: Path) -> None:
    content = FULL + "reading: {nulls: ['?', NA]}\n"
    assert Manifest.load(write(tmp_path, content)).declaration().readings


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ("name: 2026", "name"),
        ("name: null", "name"),
        ("source: [a, b]", "source"),
        ("table: 5", "table"),
        ("key: yes", "key"),
        ("max_rows: 1.5", "max_rows"),
        ("max_rows: '3'", "max_rows"),
        ("max_rows: true", "max_rows"),
        ("public: 'no'", "public"),
        ("public: 1", "public"),
        ("public: maybe", "public"),
        ("columns: {}", "columns"),
        ("columns: [age]", "columns"),
        ("columns: null", "columns"),
        ("columns: {age: interval}", "columns.age"),
        ("columns: {yes: {type: flag}}", "columns"),
        ("rules: {1: {type: same_contexts}}", "rules"),
        ("rules: null", "rules"),
        ("rules: all", "rules"),
        ("rules: {adults: age > 5}", "rules"),
        ("budget: lots", "budget"),
        ("budget: 0", "budget"),
        ("budget: -1", "budget"),
        ("budget: .nan", "budget"),
        ("budget: .inf", "budget"),
        ("budget: 1e-10", "budget"),
        ("budget: true", "budget"),
        ("budget: 5000", "budget"),
        ("budget: [1]", "budget"),
        ("adjacency: both", "adjacency"),
        ("ledger: 5", "ledger"),
        ("version: 1.10", "version"),
        ("version: yes", "version"),
        ("version: [1]", "version"),
        ("version: null", "version"),
        ("colour: red", "colour"),
        ("Budget: 1", "Budget"),
        ("5: five", "5"),
    ],
)
def test_a_field_of_the_wrong_type_or_name_is_refused_by_name(
    change: str, field: str, tmp_path: Path
) -> None:
    name = change.partition(":")[0]
    kept = [line for line in SHORT.splitlines() if not line.startswith(f"{name}:")]
    error = refusal(tmp_path, "\n".join([*kept, change]))
    assert str(error.field).startswith(field)


@pytest.mark.parametrize("name", ["name", "source", "columns"])
def test_a_field_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    kept = [line for line in SHORT.splitlines() if not line.startswith(f"{name}:")]
    error = refusal(tmp_path, "\n".join(kept))
    assert (error.field, error.problem) == (name, "is required")


@pytest.mark.parametrize(
    ("declared", "field", "reason"),
    [
        ("{type: interval, low: 0}", "columns.age.high", "is required"),
        ("{type: interval, low: 120, high: 0}", "columns.age.low", "not below"),
        ("{type: interval, low: .nan, high: 0}", "columns.age.low", "finite"),
        ("{type: interval, low: '0', high: '9'}", "columns.age.low", "must be a number"),
        ("{type: interval, low: yes, high: 9}", "columns.age.low", "must be a number"),
        ("{type: interval, low: 0, high: 9, unit: years}", "columns.age.unit", "is not a field"),
        ("{type: number}", "columns.age", "is not a declaration"),
        ("{low: 0, high: 9}", "columns.age", "is not a declaration"),
        ("{type: categories, values: [yes, no]}", "columns.age.values", "YAML reads yes, no"),
        ("{type: categories, values: [A, ~]}", "columns.age.values", "got NoneType"),
        ("{type: categories, values: [1.5]}", "columns.age.values", "got float"),
        ("{type: categories, values: A}", "columns.age.values", "list"),
        ("{type: categories, values: [1, A]}", "columns.age.values", "mixes"),
        (
            "{type: timestamps, start: 2020-01-01T00:00:00Z, end: 2021-01-01}",
            "columns.age.start",
            "no time zone",
        ),
        ("{type: timestamps, start: 2021-01-01, end: 2020-01-01}", "columns.age.start", "not before"),
    ],
)
def test_a_column_that_is_declared_wrongly_is_named_with_the_reason(
    declared: str, field: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        dataset_of(tmp_path, SHORT.replace("{type: interval, low: 0, high: 120}", declared))
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("name", "read"), [("no", "False"), ("1", "1"), ("2020-01-01", "2020-01-01"), ("~", "None")]
)
def test_a_name_that_yaml_does_not_read_as_text_needs_quotes(name: str, read: str, tmp_path: Path) -> None:
    assert f"columns: has the name {read}," in str(refusal(tmp_path, SHORT.replace("age", name)))
    assert list(Manifest.load(write(tmp_path, SHORT.replace("age", f"'{name}'"))).columns) == [name]


def test_dates_without_quotes_are_text_among_categories_and_in_versions(tmp_path: Path) -> None:
    declared = "{type: categories, values: [2020-01-01, 2021-01-01]}"
    content = SHORT.replace("{type: interval, low: 0, high: 120}", declared) + "version: 2026-01-31\n"
    dataset = dataset_of(tmp_path, content)
    assert dataset.declaration.columns["age"] == Categories(["2020-01-01", "2021-01-01"])
    assert dataset.declaration.version == "2026-01-31"


@pytest.mark.parametrize(("written", "budget"), [("2.0", "2"), ("1", "1"), ("0.1", "0.1"), ('"0.30"', "0.3")])
def test_a_budget_is_kept_as_its_shortest_exact_text(written: str, budget: str, tmp_path: Path) -> None:
    assert Manifest.load(write(tmp_path, f"{SHORT}budget: {written}\n")).budget == budget


def test_any_rule_and_no_rule_are_told_apart(tmp_path: Path) -> None:
    assert dataset_of(tmp_path, SHORT + "rules: any\n").declaration.any_rule
    assert not dataset_of(tmp_path, SHORT).declaration.any_rule


def test_paths_are_relative_to_the_file_and_addresses_are_not(tmp_path: Path) -> None:
    manifest = Manifest.load(write(tmp_path, FULL))
    assert manifest.ledger_location(tmp_path) == str(tmp_path / "accounts" / "patients.ledger")
    assert manifest.place(tmp_path, manifest.anchor) == "/mnt/anchor"
    assert manifest.place(tmp_path, manifest.store) == str(tmp_path / "answers")
    assert manifest.place(tmp_path, None) is None
    short = Manifest.load(write(tmp_path, SHORT + "ledger: postgresql://host/db\n"))
    assert short.ledger_location(tmp_path) == "postgresql://host/db"
    assert Manifest.load(write(tmp_path, SHORT)).ledger_location(tmp_path) == str(tmp_path / "p.ledger")


@pytest.mark.parametrize("source", ["data/p.csv", "./data/p.csv", "data/*.csv", "data/[p].csv"])
def test_the_source_is_found_beside_the_file_wherever_that_lies(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "odd [1] *"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "p.csv").write_text("age\n30\n")
    monkeypatch.chdir(tmp_path)
    path = write(folder, SHORT.replace("p.csv", f"'{source}'"))
    for seen_from in (folder, Path(folder.name)):
        dataset = Manifest.load(path).dataset(seen_from)
        assert dataset.table.age.sum().to_pyarrow().as_py() == 30


def test_an_absolute_source_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("age\n30\n")
    manifest = Manifest.load(write(tmp_path, SHORT.replace("p.csv", str(tmp_path / "p.csv"))))
    assert manifest.dataset(Path("elsewhere")).check()[0].problem is None


def test_an_address_with_a_password_is_not_shown_when_it_cannot_be_reached(tmp_path: Path) -> None:
    content = SHORT.replace("p.csv", "postgresql://ada:geheim@127.0.0.1:1/db") + "table: t\n"
    dataset = Manifest.load(write(tmp_path, content)).dataset(tmp_path)
    with pytest.raises(InputError) as refused:
        dataset.check()
    assert "geheim" not in str(refused.value) + repr(dataset)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert Manifest.load(write(tmp_path, b"\xef\xbb\xbf" + SHORT.encode())).name == "p"


def test_a_file_declares_its_account_without_its_source(tmp_path: Path) -> None:
    declared = Manifest.load(write(tmp_path, FULL)).declaration()
    (tmp_path / "patients.csv").write_text("id,age,ward,consent,seen,note\n")
    dataset = Manifest.load(tmp_path / "p.yaml").dataset(tmp_path)
    assert declared == dataset.with_adjacency("replace")
    assert declared.digest() != dataset.declaration.digest()
    with pytest.raises(InputError, match=r"rules\.adults: there is no declared column 'consent'"):
        Manifest.load(write(tmp_path, FULL.replace("consent: {", "agrees: {"))).declaration()


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("postgresql://ada:geheim@db.example/clinic", "postgresql://ada:***@db.example/clinic"),
        ("postgresql+psycopg://ada:ge%40heim@db/c?sslmode=require", "ada:***@db/c?sslmode=require"),
        ("postgresql://ada@db/c?password=geheim&port=1", "ada@db/c?password=***&port=1"),
        ("host=db dbname=c password='ge heim' user=ada", "host=db dbname=c password=*** user=ada"),
        ("postgresql://ada:${CLINIC}@db/c", "postgresql://ada:***@db/c"),
        # To libpq, # and ? may be in a password; / and @ may not, and are written all the same.
        ("postgresql://ada:ge#heim@db/c", "postgresql://ada:***@db/c"),
        ("postgresql://ada:ge?heim@db/c", "postgresql://ada:***@db/c"),
        ("postgresql://ada:ge/heim@db/c", "postgresql://ada:***@db/c"),
        ("postgresql://ada:ge@heim@db/c", "postgresql://ada:***@db/c"),
        ("postgresql:/ada:geheim@db/c", "postgresql:/ada:***@db/c"),
        ("dbname=c password=ge&heim", "dbname=c password=***"),
        ("sc://db:15002/;token=geheim", "sc://db:15002/;token=***"),
    ],
)
def test_a_password_is_not_in_the_representation_of_a_manifest(source: str, shown: str) -> None:
    columns = {"age": {"type": "interval", "low": 0, "high": 1}}
    manifest = Manifest.from_dict({"name": "x", "source": source, "ledger": source, "columns": columns})
    assert shown in repr(manifest)
    for text in (repr(manifest), str(manifest)):
        assert "heim" not in text
    assert manifest.source == source


def test_a_variable_that_is_missing_is_named_and_a_ledger_may_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"age": {"type": "interval", "low": 0, "high": 1}}
    given = {"name": "x", "source": "${FOLDER}/x.csv", "ledger": "${FOLDER}/x.ledger", "columns": columns}
    manifest = Manifest.from_dict(given)
    monkeypatch.delenv("FOLDER", raising=False)
    for field, read in (("source", manifest.dataset), ("ledger", manifest.ledger_location)):
        with pytest.raises(ManifestError, match=f"{field}: the environment has no FOLDER. Set FOLDER"):
            read(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x.csv").write_text("age\n1\n")
    monkeypatch.setenv("FOLDER", "here")
    assert manifest.dataset(tmp_path).check()[0].problem is None
    assert manifest.ledger_location(tmp_path) == str(tmp_path / "here" / "x.ledger")
