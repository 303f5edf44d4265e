# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.binding import Binding
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import (
    AnswerFailed,
    DeclarationChanged,
    InputError,
    LedgerDamaged,
    LedgerError,
    RuleNotDeclared,
    SchemaError,
)
from anonymaly.promise import Relation, SensitiveUnderPolicy
from anonymaly.questions.count.binding import CountBinding

OpenCurator = Callable[..., am.Curator]
Declare = Callable[..., am.Dataset]


def test_the_answer_is_the_count_when_epsilon_drowns_the_noise(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=200)
    assert curator.ask(am.Count(epsilon=50)).value == 6
    assert curator.ask(am.Count(where="age >= 18 and consent", epsilon=50)).value == 2
    assert curator.ask(am.Count(where="ward in ['A', 'B'] or age > 70", epsilon=50)).value == 5


def test_spelling_a_filter_differently_is_the_same_question(open_curator: OpenCurator) -> None:
    curator = open_curator()
    first = curator.ask(am.Count(where="age>=18 and ward in ('B','A')", epsilon=0.1))
    again = curator.ask(am.Count(where=" 18 <= age and ward in ['A', \"B\", 'A'] ", epsilon="0.10"))
    assert (again.charged, again.number) == (0, first.number)


@pytest.mark.parametrize(
    "epsilon", [float("nan"), float("inf"), -1, 0, 1e300, "0.0000000001", "x", None, True]
)
def test_an_epsilon_that_is_no_promise_is_refused_by_name(epsilon: Any) -> None:
    with pytest.raises(InputError, match=r"^epsilon: "):
        am.Count(epsilon=epsilon)


def test_ten_tenths_are_exactly_the_budget_of_one(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=1)
    for repeat in range(10):
        curator.ask(am.Count(epsilon=0.1), repeat=repeat)
    assert curator.remaining == 0
    assert curator.spent == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            {
                "columns": {
                    "age": am.Interval(0, 130),
                    "ward": am.Categories(["A", "B", "C"]),
                    "consent": am.Flag(),
                }
            },
            "high",
        ),
        ({"columns": {"age": am.Interval(0, 120), "consent": am.Flag()}}, "ward"),
        ({"person": "patient", "max_rows": 2}, "max_rows"),
        ({"rules": {"adults": am.Policy("age >= 16 and consent")}}, "adults"),
        ({"rules": {}}, "adults"),
        ({"rules": "any"}, "any"),
        ({"public": True}, "public"),
    ],
)
def test_a_changed_declaration_is_refused_with_the_difference(
    open_curator: OpenCurator,
    open_account: Callable[..., None],
    declare: Declare,
    change: dict[str, Any],
    named: str,
) -> None:
    open_account()
    with pytest.raises(DeclarationChanged, match=named):
        open_curator(declare(**change))
    assert open_curator().spent == 1e-9


def test_another_adjacency_is_refused_and_another_version_is_not(
    open_curator: OpenCurator, declare: Declare
) -> None:
    first = open_curator()
    first.ask(am.Count(epsilon=0.5))
    with pytest.raises(DeclarationChanged, match="adjacency"):
        open_curator(adjacency="replace")
    later = open_curator(declare(version="2"))
    assert later.spent == 0.5
    assert later.ask(am.Count(epsilon=0.5)).charged > 0


def test_adding_a_rule_is_an_entry_at_the_next_question(
    open_curator: OpenCurator, open_account: Callable[..., None], declare: Declare
) -> None:
    open_account()
    rules = {"adults": am.Policy("age >= 18 and consent"), "old": am.Policy("age >= 60")}
    curator = open_curator(declare(rules=rules))
    curator.preview(am.Count(epsilon=0.1))
    assert "rule" not in [entry.kind for entry in curator.accountant.ledger.entries("patients")]
    curator.ask(am.Count(epsilon=0.1))
    assert [entry.kind for entry in curator.accountant.ledger.entries("patients")][3] == "rule"


def test_the_budget_is_needed_once_and_only_raised(
    open_curator: OpenCurator, open_account: Callable[..., None]
) -> None:
    with pytest.raises(InputError, match="budget"):
        open_curator(budget=None)
    open_account(budget=1)
    assert open_curator(budget=None).budget == 1
    with pytest.raises(DeclarationChanged, match="raise_budget"):
        open_curator(budget=2)
    curator = open_curator(budget=None)
    curator.raise_budget(to=2)
    assert open_curator(budget=2).remaining == pytest.approx(2)
    with pytest.raises(am.AnonymalyError, match="only ever raised"):
        curator.raise_budget(to=1)


def test_nothing_is_written_down_before_a_question_fits(
    open_curator: OpenCurator, declare: Declare, tmp_path: Path, frame: pandas.DataFrame
) -> None:
    frame.to_parquet(tmp_path / "patients.parquet")
    source = tmp_path / "patients.parquet"
    mistyped = open_curator(declare(source=source, columns={"agee": am.Interval(0, 120)}, rules={}))
    mistyped.preview(am.Count(epsilon=0.1))
    for query in (am.Count(epsilon=0.1), am.Count(epsilon=3)):
        with pytest.raises(am.AnonymalyError):
            mistyped.ask(query)
    dear = open_curator(declare(source=source))
    with pytest.raises(am.AnonymalyError, match="remain"):
        dear.ask(am.Count(epsilon=3))
    assert dear.spent == 0
    assert (dear.budget, dear.remaining, dear.answers()) == (2, 2, [])
    mended = open_curator(declare(source=source, version="2", columns={"age": am.Interval(0, 130)}, rules={}))
    assert mended.ask(am.Count(epsilon=0.1)).charged


class _Relaxed(am.Count):
    """A count that promises only to those a policy protects."""

    rule: str = "adults"
    text: str = "age >= 18 and consent"

    def bind(self, declaration: Declaration) -> Binding:
        return _RelaxedBinding(**vars(super().bind(declaration)))


class _RelaxedBinding(CountBinding):
    @property
    def relation(self) -> Relation:
        assert isinstance(self.query, _Relaxed)
        policy, adjacency = am.Policy(self.query.text), self.declaration.adjacency
        return SensitiveUnderPolicy(rule=self.query.rule, policy=policy, adjacency=adjacency)


def test_an_undeclared_relaxed_rule_is_refused_before_anything_is_reserved(
    open_curator: OpenCurator, declare: Declare, tmp_path: Path
) -> None:
    curator = open_curator()
    for fields in (
        {"rule": "children"},
        {"text": "age >= 0"},
        {"rule": "adults", "text": "age >= 17 and consent"},
    ):
        with pytest.raises(RuleNotDeclared, match="adults") as refused:
            curator.ask(_Relaxed(epsilon=0.1, **fields))
        asked = {"rule": "adults", "text": "age >= 18 and consent", **fields}
        rule = f"such as rules={{{asked['rule']!r}: am.Policy(text={asked['text']!r})}}"
        assert rule in str(refused.value)
        with pytest.raises(RuleNotDeclared):
            curator.preview(_Relaxed(epsilon=0.1, **fields))
    assert not curator.accountant.ledger.entries("patients")
    assert curator.ask(_Relaxed(epsilon=0.1)).charged == 0.1
    alone = open_curator(declare(rules="any", name="alone"), ledger=tmp_path / "alone.ledger")
    assert alone.ask(_Relaxed(epsilon=0.1, rule="children")).charged == 0.1


def test_what_is_asked_is_what_the_canonical_text_says(open_curator: OpenCurator) -> None:
    query = am.Count(where="age < 10", epsilon=0.1)
    object.__setattr__(query, "cost_override", 1)
    query.__dict__["epsilon"] = "0.25"  # a value changed behind pydantic's back is read anew, as text
    curator = open_curator()
    assert curator.ask(query).charged == 0.25


def test_a_column_that_is_not_there_is_refused_before_the_charge(
    open_curator: OpenCurator, declare: Declare, tmp_path: Path, frame: pandas.DataFrame
) -> None:
    frame.to_parquet(tmp_path / "patients.parquet")
    dataset = declare(source=tmp_path / "patients.parquet", columns={"height": am.Interval(0, 3)}, rules={})
    curator = open_curator(dataset)
    with pytest.raises(SchemaError, match=r"columns\.height"):
        curator.ask(am.Count(epsilon=0.1))
    assert curator.spent == 0


def test_a_question_about_an_undeclared_column_spends_nothing(open_curator: OpenCurator) -> None:
    curator = open_curator()
    with pytest.raises(InputError, match="patient"):
        curator.ask(am.Count(where="patient == 'p1'", epsilon=0.1))
    with pytest.raises(InputError, match="must be a question"):
        curator.ask("how many?")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="repeat"):
        curator.ask(am.Count(epsilon=0.1), repeat=-1)
    with pytest.raises(InputError, match="analyst"):
        curator.ask(am.Count(epsilon=0.1), analyst="")
    assert curator.spent == 0


def test_a_person_with_several_rows_is_counted_up_to_the_declared_number(
    open_curator: OpenCurator, declare: Declare
) -> None:
    curator = open_curator(declare(person="patient", max_rows=2), budget=100)
    assert curator.ask(am.Count(epsilon=90)).value == 5
    preview = curator.preview(am.Count(epsilon=0.1))
    assert preview.expectation.half_width == pytest.approx(60, abs=1)  # twice as wide as for one row
    assert "every person, however many rows they have" in preview.guarantee.relation.protects()
    assert "at most 2 rows of each person are read" in str(preview)


def test_the_same_question_asked_by_two_processes_at_once_has_one_answer(open_curator: OpenCurator) -> None:
    """The second process computes under the same reservation and loses the commit."""
    slow, fast = open_curator(), open_curator()
    query = am.Count(epsilon=0.1)
    original = slow.accountant.store.keep

    def overtaken(*arguments: Any) -> Any:
        kept = original(*arguments)
        overtaken.answer = fast.ask(query)  # type: ignore[attr-defined]
        return kept

    slow.accountant.store.keep = overtaken  # type: ignore[method-assign]
    answer = slow.ask(query)
    assert answer.receipt == overtaken.answer.receipt  # type: ignore[attr-defined]
    assert answer.value == overtaken.answer.value  # type: ignore[attr-defined]
    assert slow.spent == 0.1
    assert len(list(slow.accountant.store.folder.iterdir())) == 1


def test_equal_values_of_two_questions_are_two_files(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=200)
    curator.ask(am.Count(where="age < 0", epsilon=50))
    curator.ask(am.Count(where="age > 119", epsilon=50))
    assert len(list(curator.accountant.store.folder.iterdir())) == 2


def test_interrupted_while_computing_the_question_stays_open_and_goes_on(
    open_curator: OpenCurator, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = open_curator()
    query = am.Count(epsilon=0.1)

    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt  # as Ctrl-C does; a real signal would arrive at a moment of its own

    monkeypatch.setattr("anonymaly.questions.count.mechanism.count_matching", interrupt)
    with pytest.raises(KeyboardInterrupt) as stopped:
        curator.ask(query)
    assert stopped.value.__notes__ == [
        "The question was charged: asking it again answers it, free of charge."
    ]
    assert curator.spent == 0.1
    monkeypatch.undo()
    assert curator.ask(query).charged == 0
    assert curator.spent == 0.1


def test_an_engine_that_fails_is_logged_by_class_and_template_only(
    open_curator: OpenCurator,
    declare: Declare,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    frame: pandas.DataFrame,
) -> None:
    path = tmp_path / "patients.parquet"
    frame.to_parquet(path)
    curator = open_curator(declare(source=path))
    curator.dataset.check()
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(100) + content[104:])  # its rows, and not what says where they are
    with caplog.at_level(logging.DEBUG), pytest.raises(AnswerFailed, match="charge stands"):
        curator.ask(am.Count(where="age > 41", epsilon=0.1))
    assert curator.spent == 0.1
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("anonymaly")]
    assert "stage count" in line
    assert "SELECT" in line
    assert "41" not in line
    assert str(tmp_path) not in line


def test_a_table_that_cannot_be_read_any_more_is_noticed_before_the_charge(
    open_curator: OpenCurator, declare: Declare, tmp_path: Path, frame: pandas.DataFrame
) -> None:
    path = tmp_path / "patients.parquet"
    frame.to_parquet(path)
    curator = open_curator(declare(source=path))
    curator.ask(am.Count(epsilon=0.1))
    content = path.read_bytes()
    path.write_bytes(content[:-200])
    with pytest.raises(SchemaError, match="could not be opened"):
        curator.ask(am.Count(where="age > 41", epsilon=0.1))
    assert curator.spent == 0.1
    path.write_bytes(content)
    curator.ask(am.Count(where="age > 41", epsilon=0.1))
    assert curator.spent == 0.2


def test_on_public_data_the_real_error_comes_through(
    open_curator: OpenCurator, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> Any:
        raise ZeroDivisionError("public detail")

    monkeypatch.setattr("anonymaly.questions.count.mechanism.count_matching", fail)
    curator = open_curator(declare(public=True))
    with pytest.raises(ZeroDivisionError, match="public detail"):
        curator.ask(am.Count(epsilon=0.1))
    with pytest.raises(ZeroDivisionError, match="public detail"):
        am.simulate(am.Count(epsilon=0.1), declare(public=True), seed=0)


def test_a_lost_or_altered_answer_is_noticed(open_curator: OpenCurator) -> None:
    curator = open_curator()
    query = am.Count(epsilon=0.1)
    curator.ask(query)
    (path,) = curator.accountant.store.folder.iterdir()
    path.write_text("999")
    with pytest.raises(LedgerDamaged, match="altered"):
        curator.ask(query)
    path.unlink()
    with pytest.raises(LedgerDamaged, match="missing"):
        curator.answers()


def test_the_statement_adds_up_and_names_who_is_protected(open_curator: OpenCurator) -> None:
    curator = open_curator()
    assert "Nothing was asked" in str(curator.statement())
    curator.ask(am.Count(epsilon=0.25))
    curator.ask(_Relaxed(epsilon=0.5))
    statement = curator.statement().to_dict()
    assert (statement["spent"], statement["remaining"], statement["questions"]) == ("0.75", "1.25", 2)
    assert len(statement["relations"]) == 2
    assert statement["promise"]["epsilon"] == "0.75"
    assert "adults" in str(curator.statement())
    assert "transcript" in str(curator.statement())


def test_answers_are_found_by_number(open_curator: OpenCurator) -> None:
    curator = open_curator()
    first = curator.ask(am.Count(epsilon=0.1))
    assert curator.answer(first.number or 0).value == first.value
    with pytest.raises(InputError, match="no answer 99"):
        curator.answer(99)


def test_a_preview_of_several_questions_sums_them(open_curator: OpenCurator) -> None:
    previews = open_curator(budget=1).preview(
        [am.Count(epsilon=0.75), am.Count(where="consent", epsilon=0.5)]
    )
    assert previews.cost == 1.25
    assert not previews.affordable
    assert "more than remains" in str(previews)
    assert previews.to_dict()["items"][0]["affordable"]


def test_a_preview_of_a_question_that_was_charged_before_says_that_it_is_free(
    open_curator: OpenCurator,
) -> None:
    curator = open_curator(budget=1)
    query = am.Count(epsilon=0.75)
    assert curator.preview([query, query]).cost == 0.75  # the second would get the first one's answer
    number = curator.ask(query).number
    preview = curator.preview(query)
    assert (preview.cost, preview.affordable, preview.charged_before) == (0, True, number)
    assert f"number {number}" in str(preview)


def test_a_failure_after_somebody_elses_answer_hands_over_that_answer(
    open_curator: OpenCurator, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fast = open_curator(), open_curator()
    query = am.Count(epsilon=0.1)

    def overtaken(*arguments: Any) -> Any:
        monkeypatch.undo()
        overtaken.answer = fast.ask(query)  # type: ignore[attr-defined]
        raise ValueError("too late")

    monkeypatch.setattr("anonymaly.questions.count.mechanism.count_matching", overtaken)
    assert slow.ask(query).receipt == overtaken.answer.receipt  # type: ignore[attr-defined]


def test_a_value_that_cannot_be_written_is_the_constant_failure(
    open_curator: OpenCurator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Binding, "answer", lambda self, table, noise: object())
    curator = open_curator()
    with pytest.raises(AnswerFailed):
        curator.ask(am.Count(epsilon=0.1))
    assert curator.spent == 0.1
    assert not list(curator.accountant.store.folder.iterdir())


def test_a_curator_by_its_own_path_reads_answers_as_the_front_doors_does(tmp_path: Path) -> None:
    code = (
        "import pandas; from anonymaly.ask.curator import Curator;"
        "from anonymaly.declare.dataset import Dataset;"
        "from anonymaly.declare.domain import Interval; from anonymaly.questions.count.query import Count;"
        "table = Dataset(pandas.DataFrame({'age': [1]}), name='p', columns={'age': Interval(0, 120)});"
        "curator = Curator(table, budget=1); curator.ask(Count(epsilon=1)); print(len(curator.answers()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"


def test_a_stored_answer_needs_no_table(open_curator: OpenCurator, declare: Declare, tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age,ward,consent\n30,A,true\n")
    curator = open_curator(declare(source=path))
    first = curator.ask(am.Count(epsilon=0.1))
    path.unlink()
    assert curator.ask(am.Count(epsilon=0.1)).receipt == first.receipt
    with pytest.raises(SchemaError):
        curator.ask(am.Count(epsilon=0.2))
    assert curator.spent == 0.1


def test_simulation_is_refused_on_secret_data(declare: Declare) -> None:
    with pytest.raises(am.AnonymalyError, match="public"):
        am.simulate(am.Count(epsilon=0.1), declare(), seed=0)


def test_a_simulation_repeats_and_says_that_it_promises_nothing(declare: Declare) -> None:
    public = declare(public=True)
    first = am.simulate(am.Count(epsilon=0.1), public, seed=3)
    assert first.value == am.simulate(am.Count(epsilon=0.1), public, seed=3).value
    assert len({am.simulate(am.Count(epsilon=0.1), public, seed=seed).value for seed in range(20)}) > 5
    assert first.receipt is None
    assert "no promise" in str(first)


def test_threads_share_a_curator(open_curator: OpenCurator) -> None:
    curator = open_curator(budget=100)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda repeat: curator.ask(am.Count(epsilon=1), repeat=repeat), range(24)))
    assert len({answer.number for answer in answers}) == 24
    assert curator.spent == 24


def test_two_ledgers_in_one_store_leave_each_others_answers_alone(
    open_curator: OpenCurator, tmp_path: Path
) -> None:
    query = am.Count(epsilon=0.1)
    asked = {name: open_curator(ledger=tmp_path / name, store=tmp_path / "both").ask(query) for name in "ab"}
    for name, answer in asked.items():
        again = open_curator(ledger=tmp_path / name, store=tmp_path / "both").ask(query)
        assert (again.charged, again.value) == (0, answer.value)


def test_a_draw_that_a_crash_left_behind_goes_when_the_question_is_answered(
    open_curator: OpenCurator,
) -> None:
    curator = open_curator()
    query = am.Count(epsilon="0.001")
    commit = curator.accountant.ledger.commit
    curator.accountant.ledger.commit = lambda *arguments, **options: (_ for _ in ()).throw(SystemExit)  # type: ignore[method-assign]
    with pytest.raises(SystemExit):
        curator.ask(query)
    curator.accountant.ledger.commit = commit  # type: ignore[method-assign]
    curator.ask(query)
    assert len(list(curator.accountant.store.folder.iterdir())) == 1


def test_a_curator_goes_on_asking_after_its_budget_was_raised(open_curator: OpenCurator) -> None:
    curator, other = open_curator(budget=1), open_curator(budget=1)
    curator.raise_budget(to=3)
    assert curator.ask(am.Count(epsilon=2)).charged
    assert other.ask(am.Count(epsilon=1), repeat=1).charged
    assert curator.remaining == 0


def test_no_new_account_is_opened_beside_answers_whose_ledger_is_gone(
    tmp_path: Path, declare: Declare
) -> None:
    def opened() -> closing[am.Curator]:
        return closing(am.Curator(declare(), budget=1, ledger=tmp_path / "patients.ledger"))

    with opened() as curator:
        answer = curator.ask(am.Count(epsilon=0.1))
    ledger, away = tmp_path / "patients.ledger", tmp_path / "away"
    ledger.rename(away)
    with opened() as curator:
        with pytest.raises(LedgerError, match=r"them is gone.*nothing was charged"):
            curator.ask(am.Count(epsilon=0.1))
        assert curator.spent == 0
    for left in tmp_path.glob("patients.ledger*"):
        if left.is_file():
            left.unlink()
    away.rename(ledger)
    with opened() as curator:
        assert curator.ask(am.Count(epsilon=0.1)).receipt == answer.receipt
    shutil.rmtree(tmp_path / "patients.ledger.answers")
    ledger.unlink()
    with opened() as curator:  # as its owner wants it
        assert curator.ask(am.Count(epsilon=0.1)).charged == 0.1
