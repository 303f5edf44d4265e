# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

from anonymaly import Curator

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _spent(run: Run) -> str:
    told: dict[str, Any] = json.loads(run("ledger", "patients.yaml", "--json").stdout)
    return str(told["statement"]["spent"])


def test_from_init_to_the_ledger(run: Run, folder: Path) -> None:
    (folder / "patients.yaml").unlink()
    assert run("init", "patients.csv").returncode == 0
    text = (folder / "patients.yaml").read_text()
    columns = yaml.safe_load(text)["columns"]
    assert columns["age"] == {"type": "interval", "low": "?", "high": "?"}
    assert columns["ward"] == {"type": "categories", "values": ["?"]}
    unfinished = run("check", "patients.yaml")
    assert unfinished.returncode == 2
    assert "4 fields are still to be declared" in unfinished.stderr
    for place in ("columns.age: low, high", "columns.ward: values", "budget"):
        assert place in unfinished.stderr, "every ? is listed at once"
    text = (
        text.replace('low: "?", high: "?"', "low: 0, high: 120")
        .replace('["?"]', "[A, B]")
        .replace('"?"', "1.0")
    )
    (folder / "patients.yaml").write_text(text)
    checked = run("check", "patients.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "ready" in checked.stdout
    assert not (folder / "patients.ledger").exists(), "a check opened the ledger"
    counted = run("count", "patients.yaml", "--where", "ward == 'A'", "--epsilon", "0.4", "--analyst", "ann")
    assert counted.returncode == 0, counted.stderr
    assert "0.6" in counted.stdout
    assert "0.6 of 1 remain" in run("check", "patients.yaml").stdout
    told = run("ledger", "patients.yaml", "--verify")
    assert told.returncode == 0
    assert "verified" in told.stdout
    assert "ann" in told.stdout


def test_json_is_one_document_and_equals_the_python_answer(run: Run, folder: Path) -> None:
    (folder / "query.json").write_text('{"question": "count", "where": "age > 20", "epsilon": 0.5}')
    preview = json.loads(run("ask", "patients.yaml", "query.json", "--preview", "--json").stdout)
    assert (preview["cost"], preview["affordable"]) == ("0.5", True)
    asked = json.loads(run("ask", "patients.yaml", "query.json", "--json").stdout)
    assert (asked["charged"], asked["remaining"]) == ("0.5", "0.5")
    again = json.loads(
        run("count", "patients.yaml", "--where", "age>20", "--epsilon", "0.5", "--json").stdout
    )
    assert (again["charged"], again["value"]) == ("0", asked["value"])
    piped = run("ask", "patients.yaml", "-", "--json", input=(folder / "query.json").read_text())
    assert json.loads(piped.stdout)["value"] == asked["value"]


BAD = [
    (["count", "patients.yaml", "--epsilon", "nan"], 2, "epsilon"),
    (["count", "patients.yaml", "--epsilon", "inf"], 2, "epsilon"),
    (["count", "patients.yaml", "--epsilon=-1"], 2, "epsilon"),
    (["count", "patients.yaml", "--epsilon", "0"], 2, "epsilon"),
    (["count", "patients.yaml", "--epsilon", "1e300"], 2, "epsilon"),
    (["count", "patients.yaml", "--epsilon", "0.1234567891"], 2, "nine decimals"),
    (["count", "patients.yaml", "--epsilon", "lots"], 2, "epsilon"),
    (["count", "patients.yaml"], 2, "--epsilon"),
    (["count", "patients.yaml", "--epsilon", "2"], 1, "remain"),
    (["count", "patients.yaml", "--where", "height > 2", "--epsilon", "0.1"], 2, "height"),
    (["count", "patients.yaml", "--where", "age > 'x'", "--epsilon", "0.1"], 2, "age"),
    (["count", "patients.yaml", "--where", "1=1; drop table source", "--epsilon", "0.1"], 2, "where"),
    (
        ["count", "patients.yaml", "--where", "(" * 10_000 + "age > 1" + ")" * 10_000, "--epsilon", "0.1"],
        2,
        "where",
    ),
    (["count", "patients.yaml", "--repeat=-1", "--epsilon", "0.1"], 2, "repeat"),
    (["count", "nowhere.yaml", "--epsilon", "0.1"], 2, "nowhere.yaml"),
    (["ask", "patients.yaml", "nothing.json"], 2, "nothing.json"),
    (["ask", "patients.yaml", "-"], 2, "JSON"),
    (["init", "nothing.csv"], 2, "nothing.csv"),
    (["init", "patients.csv"], 2, "exists"),
    (["check", "nowhere.yaml"], 2, "nowhere.yaml"),
    (["ledger", "nowhere.yaml"], 2, "nowhere.yaml"),
    (["ledger", "patients.yaml", "--raise-budget", "0.5"], 1, "only ever raised"),
    (["ledger", "patients.yaml", "--new-epoch"], 2, "anchor"),
    (["frobnicate"], 2, "frobnicate"),
]


@pytest.mark.parametrize(("arguments", "code", "named"), BAD, ids=lambda item: str(item)[:60])
def test_bad_input_is_explained_and_spends_nothing(
    run: Run, arguments: list[str], code: int, named: str
) -> None:
    assert run("count", "patients.yaml", "--epsilon", "0.1").returncode == 0
    done = run(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert _spent(run) == "0.1"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name: [unclosed", "line 1"),
        ("", "declares nothing"),
        ("name: patients\nsource: patients.csv\ncolumns: {}\nbudget: 1", "columns"),
        (
            "name: patients\nsource: gone.csv\ncolumns: {age: {type: interval, low: 0, high: 1}}\nbudget: 1",
            "gone.csv",
        ),
        ("name: patients\nsource: patients.csv\ncolumns: {age: {type: intervall}}\nbudget: 1", "columns.age"),
        ("name: patients\nsource: patients.csv\ncolumns: {size: {type: flag}}\nbudget: 1", "columns.size"),
        ("name: patients\nsource: patients.csv\ncolumns: {age: {type: flag}}\nbudget: -1", "budget"),
        ("name: patients\nsource: patients.csv\nbugdet: 1\ncolumns: {age: {type: flag}}", "bugdet"),
        ("name: patients\nsource: patients.csv\ncolumns: {age: {type: flag}}", "budget"),
    ],
)
def test_a_malformed_manifest_is_explained(run: Run, folder: Path, text: str, named: str) -> None:
    (folder / "patients.yaml").write_text(text)
    done = run("count", "patients.yaml", "--epsilon", "0.1")
    assert done.returncode == 2, done.stdout + done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_changed_manifest_is_refused_with_the_difference(run: Run, folder: Path) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text().replace("high: 120", "high: 130"))
    for command in (["count", "patients.yaml", "--epsilon", "0.1"], ["check", "patients.yaml"]):
        done = run(*command)
        assert done.returncode == 1
        assert "declared 120, now 130" in done.stderr


def test_a_raised_budget_is_recorded_and_then_declared(run: Run, folder: Path) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    assert "of 3" in run("ledger", "patients.yaml", "--raise-budget", "3").stdout
    refused = run("count", "patients.yaml", "--epsilon", "0.1")
    assert refused.returncode == 1
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text().replace("budget: 1.0", "budget: 3"))
    assert run("count", "patients.yaml", "--epsilon", "2.5").returncode == 0


def test_a_damaged_ledger_is_noticed(run: Run, folder: Path) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    ledger = folder / "patients.ledger"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[: len(whole) // 2])
    done = run("count", "patients.yaml", "--epsilon", "0.1", "--repeat", "1")
    assert done.returncode == 2
    assert "LedgerDamaged" in done.stderr
    assert "backup" in done.stderr
    ledger.write_text("not a database")
    assert "LedgerDamaged" in run("ledger", "patients.yaml").stderr


def test_a_ledger_older_than_its_anchor_is_locked_until_a_new_epoch(run: Run, folder: Path) -> None:
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text() + "anchor: elsewhere.anchor\n")
    run("count", "patients.yaml", "--epsilon", "0.1")
    with sqlite3.connect(folder / "patients.ledger") as old, sqlite3.connect(folder / "old.ledger") as copy:
        old.backup(copy)
    run("count", "patients.yaml", "--epsilon", "0.2")
    for name in ("patients.ledger", "patients.ledger-wal", "patients.ledger-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "old.ledger").rename(folder / "patients.ledger")
    locked = run("count", "patients.yaml", "--epsilon", "0.2")
    assert locked.returncode == 2
    assert "anchor" in locked.stderr
    opened = run("ledger", "patients.yaml", "--new-epoch")
    assert opened.returncode == 0, opened.stderr
    assert "0 remaining" in opened.stdout
    assert "A ledger was lost, and answers" in opened.stdout  # not only the 0.1 that the old copy shows
    assert json.loads(run("ledger", "patients.yaml", "--json").stdout)["statement"]["promise"] is None
    assert run("count", "patients.yaml", "--epsilon", "0.2").returncode == 1


def test_an_anchored_ledger_is_checked_and_nothing_is_written(run: Run, folder: Path) -> None:
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text() + "anchor: elsewhere.anchor\n")
    run("count", "patients.yaml", "--epsilon", "0.1")
    before = (folder / "elsewhere.anchor").read_text()
    checked = run("check", "patients.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "0.9 of 1 remain" in checked.stdout
    assert (folder / "elsewhere.anchor").read_text() == before


def test_errors_are_json_when_asked_for(run: Run) -> None:
    done = run("count", "patients.yaml", "--epsilon", "5", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)
    assert error["error"] == "BudgetExceeded"
    assert error["next_step"]


def test_a_command_that_moved_away_says_where_to(run: Run) -> None:
    for arguments in (["reproduce"], ["reproduce", "score", "--data", "public"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert "make reproduce PAPER=" in done.stderr
    assert "reproduce" not in run("--help").stdout


def test_an_empty_table_is_answered_and_charged_like_any_other(run: Run, folder: Path) -> None:
    (folder / "patients.csv").write_text("age,ward\n")
    done = run("count", "patients.yaml", "--epsilon", "0.1")
    assert done.returncode == 0
    (folder / "patients.csv").write_text("age,ward\n,\n,\nno number,Z\n")
    assert run("count", "patients.yaml", "--epsilon", "0.1", "--repeat", "1").returncode == 0
    assert _spent(run) == "0.2"


@pytest.mark.slow
def test_the_demonstration_runs_and_its_json_is_complete(run: Run) -> None:
    told = json.loads(run("demo", "--json").stdout)
    assert told["verification"]["ok"]
    assert told["again"]["charged"] == "0"
    assert "BudgetExceeded" in told["refusal"]
    assert told["share"]["value"]["rows"] > 1000
    assert "access control (Truman filter): 100.0%" in told["attack"]
    assert run("--version").stdout.startswith("anonymaly ")


SAMPLE = ["share-sample", "patients.yaml", "--policy", "adults", "--columns", "age", "--columns", "ward"]
CELLS = ["share-histogram", "patients.yaml", "--by", "ward", "--policy", "adults", "--epsilon", "0.5"]


@pytest.mark.parametrize(
    ("name", "read"),
    [("out.parquet", pandas.read_parquet), ("out.csv", pandas.read_csv), ("out.arrow", pandas.read_feather)],
)
def test_a_sample_is_written_to_a_file(run: Run, folder: Path, name: str, read: Any) -> None:
    done = run(*SAMPLE, "--epsilon", "0.5", "-o", name)
    assert done.returncode == 0, done.stderr
    assert "not sensitive under 'adults'" in done.stdout
    found = read(folder / name)
    assert list(found.columns) == ["age", "ward"]
    assert len(found) <= 2, "a minor cannot be among them"
    told = json.loads(run(*SAMPLE, "--epsilon", "0.5", "--json").stdout)
    assert told["charged"] == "0"
    assert told["value"] == {"rows": len(found), "columns": {"age": "double", "ward": "string"}}


def test_a_histogram_is_printed_and_written(run: Run, folder: Path) -> None:
    done = run(*CELLS, "--by", '{"column": "age", "edges": [0, 18, 120]}', "-o", "cells.csv", "--json")
    told = json.loads(done.stdout)
    written = pandas.read_csv(folder / "cells.csv")
    assert written["estimate"].tolist() == told["value"]["estimates"]
    assert written["age"].tolist()[:2] == ["[0, 18)", "[18, 120]"]
    (folder / "query.json").write_text(
        '{"question": "share-histogram", "by": ["ward"], "policy": "adults", "epsilon": "0.5"}'
    )
    asked = run("ask", "patients.yaml", "query.json", "-o", "again.csv")
    assert asked.returncode == 0, asked.stderr
    assert len(pandas.read_csv(folder / "again.csv")) == 3


SHARED_BADLY = [
    ([*SAMPLE, "--epsilon", "0.5", "-o", "out.xlsx"], 2, "known format"),
    ([*SAMPLE, "--epsilon", "0.5", "-o", "out"], 2, "(none)"),
    ([*SAMPLE, "--epsilon", "0.5", "-o", "nowhere/out.csv"], 2, "no folder nowhere"),
    ([*SAMPLE, "--epsilon", "0.5", "-o", "folder.csv"], 2, "folder.csv is a folder"),
    ([*SAMPLE[:3], "minors", *SAMPLE[4:], "--epsilon", "0.5"], 1, "declared no policy 'minors'"),
    ([*CELLS, "--by", "age"], 2, "Bins"),
    ([*CELLS, "--method", "magic"], 2, "auto"),
]


@pytest.mark.parametrize(("arguments", "code", "named"), SHARED_BADLY, ids=lambda item: str(item)[-40:])
def test_what_cannot_be_shared_is_explained_and_spends_nothing(
    run: Run, folder: Path, arguments: list[str], code: int, named: str
) -> None:
    (folder / "folder.csv").mkdir()
    run("count", "patients.yaml", "--epsilon", "0.1")
    done = run(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert named.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert _spent(run) == "0.1"
    assert not list(folder.glob("out*"))


def test_an_answer_whose_file_cannot_be_written_any_more_is_said_to_be_kept(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "results").mkdir()
    ask = Curator.ask

    def ask_and_lose_the_folder(*given: Any, **options: Any) -> Any:
        answer = ask(*given, **options)
        (folder / "results").rmdir()
        return answer

    monkeypatch.setattr(Curator, "ask", ask_and_lose_the_folder)
    lost = run(*SAMPLE, "--epsilon", "0.5", "-o", "results/out.csv")
    assert lost.returncode == 2
    assert "The answer was charged and is stored: asking for it again is free." in lost.stderr
    monkeypatch.setattr(Curator, "ask", ask)
    assert run(*SAMPLE, "--epsilon", "0.5", "-o", "out.csv").returncode == 0
    assert _spent(run) == "0.5"


def test_several_filters_are_counted_at_once_and_shown_as_a_table(run: Run) -> None:
    filters = ["--where", "age<40", "--where", "age >= 40 and age < 50", "--where", "age >= 50"]
    preview = run("count", "patients.yaml", *filters, "--epsilon", "0.1", "--preview")
    assert "so these 3 counts cost ε once" in preview.stdout
    done = run("count", "patients.yaml", *filters, "--epsilon", "0.1")
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.splitlines()[:4]
    assert head == "records where"
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "age < 40",
        "age >= 40 and age < 50",
        "age >= 50",
    ]
    # The same as JSON is the same question, and one filter is one number.
    query = {
        "question": "count",
        "where": ["age < 40", "age >= 40 and age < 50", "age >= 50"],
        "epsilon": 0.1,
    }
    again = json.loads(run("ask", "patients.yaml", "-", "--json", input=json.dumps(query)).stdout)
    assert (again["charged"], len(again["value"])) == ("0", 3)
    one = json.loads(run("count", "patients.yaml", "--where", "age<40", "--epsilon", "0.1", "--json").stdout)
    assert isinstance(one["value"], int)


def test_a_count_has_no_table_to_write(run: Run, folder: Path) -> None:
    (folder / "query.json").write_text('{"question": "count", "epsilon": "0.1"}')
    done = run("ask", "patients.yaml", "query.json", "-o", "count.csv")
    assert done.returncode == 2
    assert "no table" in done.stderr


def test_what_askers_write_is_shown_as_it_is(run: Run) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1", "--analyst", "[/x]", "--where", "ward in ['A']")
    told = run("ledger", "patients.yaml")
    assert told.returncode == 0
    assert "[/x]" in told.stdout
    assert "ward in ['A']" in told.stdout


def test_a_preview_of_a_repeat_says_what_the_repeat_costs(run: Run) -> None:
    run("count", "patients.yaml", "--epsilon", "0.1")
    preview = json.loads(run("count", "patients.yaml", "--epsilon", "0.1", "--preview", "--json").stdout)
    assert preview["cost"] == "0"
    repeated = run("count", "patients.yaml", "--epsilon", "0.1", "--preview", "--repeat", "1", "--json")
    assert json.loads(repeated.stdout)["cost"] == "0.1"


def test_a_mistyped_column_can_be_mended(run: Run, folder: Path) -> None:
    manifest = folder / "patients.yaml"
    right = manifest.read_text()
    manifest.write_text(right.replace("age: {", "agee: {").replace("age >= 18", "agee >= 18"))
    assert run("count", "patients.yaml", "--epsilon", "0.1").returncode == 2
    assert run("count", "patients.yaml", "--epsilon", "0.1", "--preview").returncode == 0
    manifest.write_text(right)
    assert run("count", "patients.yaml", "--epsilon", "0.1").returncode == 0


def test_a_check_says_that_it_compares_types_only_and_offers_a_look_at_the_values(
    run: Run, folder: Path
) -> None:
    (folder / "patients.csv").write_text("age,ward\nthirty,A\n")
    done = run("check", "patients.yaml")
    assert done.returncode == 0
    *_, ready, last = done.stdout.splitlines()
    assert ready.startswith('"fits" is about names and types only')
    assert last == "first charge: anonymaly inspect columns patients.yaml"
    told = json.loads(run("check", "patients.yaml", "--json").stdout)
    assert (told["compared"], told["next_step"]) == (
        "names and types",
        "anonymaly inspect columns patients.yaml",
    )


def test_a_check_without_a_budget_says_so(run: Run, folder: Path) -> None:
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text().replace("budget: 1.0\n", ""))
    done = run("check", "patients.yaml")
    assert done.returncode == 2
    assert "budget" in done.stderr


@pytest.mark.parametrize(("text", "who"), [("age >= 0", "nobody"), ("age > 120", "everyone")])
def test_a_check_warns_of_a_policy_that_tells_nobody_apart(
    run: Run, folder: Path, text: str, who: str
) -> None:
    assert "warning" not in run("check", "patients.yaml").stdout
    assert json.loads(run("check", "patients.yaml", "--json").stdout)["warnings"] == []
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text().replace("age >= 18", text))
    done = run("check", "patients.yaml")
    assert done.returncode == 0, "the owner may not have finished, and nothing can be asked by it"
    assert f"warning: policy adults: `{text}` calls {who} sensitive" in done.stdout
    assert "ready" in done.stdout
    (warning,) = json.loads(run("check", "patients.yaml", "--json").stdout)["warnings"]
    assert who in warning


PLACES = [
    ("ledger: nowhere/p.ledger", "ledger", "there is no folder nowhere"),
    ("anchor: nowhere/p.anchor", "anchor", "there is no folder nowhere"),
    ("secret: nowhere/p.secret", "secret", "there is no folder nowhere"),
    ("store: patients.csv/answers", "store", "is no folder"),
    ("anchor: place", "anchor", "place is a folder"),
]


@pytest.mark.parametrize(("line", "name", "said"), PLACES, ids=str)
def test_a_check_names_the_place_that_the_first_question_could_not_use(
    run: Run, folder: Path, line: str, name: str, said: str
) -> None:
    (folder / "place").mkdir()
    with (folder / "patients.yaml").open("a") as file:
        file.write(line + "\n")
    done = run("check", "patients.yaml")
    assert done.returncode == 2
    assert "ready" not in done.stdout
    (line,) = [text for text in done.stdout.splitlines() if text.startswith(f"{name}: ") and said in text]
    assert run("count", "patients.yaml", "--epsilon", "0.1").returncode == 2, f"it works, against {line}"
    told = json.loads(run("check", "patients.yaml", "--json").stdout)
    assert (told["ok"], said in told["places"][name]) == (False, True)


def test_a_check_warns_of_line_breaks_in_quotes(run: Run, folder: Path) -> None:
    assert "each line of the file is one record" in run("check", "patients.yaml").stdout
    manifest = folder / "patients.yaml"
    manifest.write_text(manifest.read_text() + "line_breaks: true\n")
    said = run("check", "patients.yaml").stdout
    assert "warning: line_breaks: true lets one open quote in one record change how all lines" in said
    (warning,) = json.loads(run("check", "patients.yaml", "--json").stdout)["warnings"]
    assert "Parquet" in warning


def test_interrupting_says_what_that_means(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("anonymaly.questions.count.mechanism.count_matching", interrupt)
    done = run("count", "patients.yaml", "--epsilon", "0.1")
    assert done.returncode == 130
    assert "finished by asking it again, free of charge" in done.stderr
