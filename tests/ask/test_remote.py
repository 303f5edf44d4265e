# SPDX-License-Identifier: Apache-2.0
"""A curator on another machine, against `anonymaly serve`, and against servers that fail or lie."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas
import pytest

import anonymaly as am
from anonymaly.ask import connection, remote, server_words
from anonymaly.ask.query import Query
from anonymaly.core.progress import listening
from anonymaly.errors import BudgetExceeded, InputError, LedgerDamaged, Refused, ServerError
from tests.server.lying import Told, between
from tests.server.running import Running, running

EXPLAIN = am.Explain(record={"age": 119, "ward": "A"}, metric="age", attributes=["ward"], epsilon=1)
EVERY: list[Query] = [
    am.Count(where="age < 40", epsilon=0.5),
    am.ShareHistogram(by=["ward"], method="geometric", epsilon=0.5),
    am.ShareSample(policy="adults", columns=["age", "ward"], epsilon=1),
    am.Score(columns=["age", "ward"], method="mixed", epsilon=1),
    EXPLAIN,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANONYMALY_KEY", raising=False)


def test_a_server_is_asked_like_a_curator(server: Running) -> None:
    with am.connect(server.url, key=server.add("ann")) as curator:
        assert (curator.budget, curator.spent, curator.remaining) == (10.0, 0.0, 10.0)
        query = am.Count(where="age < 40", epsilon=0.5)
        preview = curator.preview(query)
        assert (preview.cost, preview.remaining) == (0.5, 10)
        assert "20 questions like it are left" in str(preview)
        assert curator.preview([query, am.Count(epsilon=1)]).cost == 1.5
        plan = curator.plan(query, for_error=20)
        assert (str(plan.epsilon), plan.questions) == ("0.146003416", 68)
        answer = curator.ask(query)
        assert (answer.charged, answer.number, answer.remaining) == (0.5, 1, 9.5)
        again = curator.ask(query)
        assert (again.charged, again.value, again.receipt) == (0, answer.value, answer.receipt)
        fresh = curator.ask(query, repeat=1)
        assert (fresh.charged, fresh.number) == (0.5, 2)
        assert [item.value for item in curator.answers()] == [answer.value, fresh.value]
        assert curator.answer(2).value == fresh.value
        assert curator.receipts() == [answer.receipt, fresh.receipt]
        assert all(map(curator.verify, curator.receipts()))
        assert curator.statement().to_dict()["spent"] == "1"
        assert "1 of 10 spent by 2 questions" in str(curator.statement())
        assert curator.in_words().limit_nano == 10**10
        with pytest.raises(InputError, match="no answer 3"):
            curator.answer(3)
        with pytest.raises(BudgetExceeded, match="9"):
            curator.ask(am.Count(epsilon=9.5))
        with pytest.raises(InputError, match="height"):
            curator.ask(am.Count(where="height < 2", epsilon=0.1))
        assert curator.spent == 1.0


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.question)
def test_values_arrive_as_a_curator_would_have_returned_them(query: Query, server: Running) -> None:
    with am.connect(server.url, key=server.add("bea", "20")) as curator:
        rehearsed = curator.rehearse(query, rows=100, seed=1)
        assert rehearsed.rehearsed_on == "invented"
        assert type(rehearsed.value) is type(curator.ask(query).value)
        answer = curator.ask(query)
        number = answer.number
        assert number is not None
        recalled = curator.answer(number)
        assert recalled.charged == 0
        if query is not EXPLAIN:  # the record's own value is kept nowhere
            assert (recalled.to_dict()["value"], recalled.shown) == (answer.to_dict()["value"], answer.shown)
        (line,) = [item for item in curator.listed() if item["number"] == number]
        assert line["query"]["epsilon"] == str(query.epsilon)
        assert not set(line["query"]) & query.personal_fields
        assert str(answer.guarantee) == str(curator.preview(query).guarantee)


def test_tables_and_models_can_be_used_after_the_connection_is_closed(
    server: Running, tmp_path: Path
) -> None:
    with am.connect(server.url, key=server.add("cem")) as curator:
        table, model = curator.ask(EVERY[2]).value, curator.ask(EVERY[3]).value
    table.write(tmp_path / "released.csv")
    assert list(pandas.read_csv(tmp_path / "released.csv").columns) == ["age", "ward"]
    assert len(model.score([{"age": 30, "ward": "A"}, {"age": 119, "ward": "C"}])) == 2


def test_records_of_ones_own_are_found_odd_and_a_model_is_paid_for_once(server: Running) -> None:
    records = [{"age": 31, "ward": "B"}, {"age": 119, "ward": "A"}]
    with am.connect(server.url, key=server.add("dan")) as curator:
        found = am.find(curator, records, epsilon=5, top=1)
        assert found.records == [records[1]]
        assert (found.cost, found.remaining) == ("3", 7)
        again = am.find(curator, records, epsilon=5, top=1)
        assert (again.cost, again.plan.steps[0].stored, curator.spent) == ("0", 1, 3.0)
        assert again.plan.steps[1].cost == 1  # at most: whether it was asked is found by asking
        with pytest.raises(BudgetExceeded, match="nothing was charged"):
            am.find(curator, records, epsilon=50, top=1)
        with pytest.raises(InputError, match="the key says who asks"):
            am.find(curator, records, epsilon=1, analyst="ann")


def test_an_owner_asks_too_and_an_auditor_reads(server: Running) -> None:
    server.add("eva")
    with am.connect(server.url, key=server.owner) as curator:
        assert curator.budget == 1000.0
        assert curator.who["role"] == "owner"
        assert curator.verify_ledger()["ok"]
        with pytest.raises(Refused, match="grant"):
            curator.ask(am.Count(epsilon=0.1))
    with am.connect(server.url, key=server.key("carl", "auditor")) as curator:
        assert "1000" in str(curator.statement())
        with pytest.raises(InputError, match="nothing here"):
            curator.ask(am.Count(epsilon=0.1))


def test_a_reply_that_is_lost_is_asked_for_again_and_charged_once(server: Running) -> None:
    lost: list[str] = []

    def lose(told: Told) -> None:
        if told.path.endswith(("/ask", "/content")) and told.path not in lost:
            lost.append(told.path)
            told.lost = True

    with between(server.base, lose) as liar, am.connect(liar.url, key=server.add("fay")) as curator:
        answer = curator.ask(am.Count(where="age < 33", epsilon=0.5))
        assert len(lost) == 2
        assert [path for _, path, _ in liar.seen].count("/v1/tables/patients/ask") == 2
        assert (curator.spent, answer.charged) == (0.5, 0.5)
        assert curator.statement().to_dict()["questions"] == 1


@pytest.mark.slow
def test_a_server_that_restarts_meanwhile_answers_and_an_old_ledger_that_is_put_back_is_noticed(
    tmp_path: Path,
) -> None:
    (tmp_path / "served").mkdir()
    with running(tmp_path / "served") as server:
        key = server.add("ann")
        curator = am.connect(server.url, key=key)
        server.stop()
        old = tmp_path / "old"
        shutil.copytree(server.folder, old)
        answers: list[am.Answer] = []
        asking = threading.Thread(target=lambda: answers.append(curator.ask(am.Count(epsilon=0.5))))
        asking.start()
        server.start()
        asking.join()
        assert (answers[0].charged, curator.spent) == (0.5, 0.5)
        server.stop()
        for file in filter(Path.is_file, server.folder.glob("patients.ledger*")):
            file.unlink()
        for file in filter(Path.is_file, old.glob("patients.ledger*")):
            shutil.copy(file, server.folder)
        server.start()
        server.wait_until_ready()
        with pytest.raises(LedgerDamaged, match="does not know the last receipt"):
            curator.ask(am.Count(where="age < 50", epsilon=0.5))
        assert curator.spent == 0.0
        with pytest.raises(LedgerDamaged):  # also in a new process, from what is kept
            am.connect(server.url, key=key).ask(am.Count(epsilon=0.5))


def _bend(told: Told, *names: str, to: object) -> None:
    if told.path.endswith("/ask") or "/jobs/" in told.path:
        told.change("answer", *names, to=to)


def _other_bytes(told: Told) -> None:
    if told.path.endswith("/content"):
        told.body = b"7"


LIES: list[tuple[Callable[[Told], None], str]] = [
    (_other_bytes, "not the one that its receipt is for"),
    (lambda told: _bend(told, "receipt", "charge", to="0" * 64), "does not know the answer's own receipt"),
    (lambda told: _bend(told, "receipt", "cost", to=1), "the receipt says"),
    (lambda told: _bend(told, "receipt", "account", to="others"), "another account"),
    (lambda told: _bend(told, "receipt", to=None), "no receipt"),
]


@pytest.mark.parametrize(("lie", "words"), LIES)
def test_a_server_that_lies_about_an_answer_is_found_out(
    lie: Callable[[Told], None], words: str, server: Running
) -> None:
    key = server.add("gus")
    with between(server.base, lie) as liar, am.connect(liar.url, key=key) as curator:
        with pytest.raises(LedgerDamaged, match=words):
            curator.ask(am.Count(where="age < 44", epsilon=0.1))
        assert curator.last_receipt is None


NO_TABLE = b"PAR1" + bytes(20) + b"PAR1"


def _endless(told: Told) -> None:
    if told.path.endswith("/ask"):
        told.body = b'{"job": "x", "state": "running", "release_after": Infinity}'


def _deep(told: Told) -> None:
    if told.path.endswith("/preview"):
        told.body = b"[" * 100_000


def _no_table(told: Told) -> None:
    if told.path.endswith("/content"):
        told.body = NO_TABLE
    _bend(told, "receipt", "digest", to=hashlib.sha256(NO_TABLE).hexdigest())


@pytest.mark.parametrize(("lie", "act"), [(_endless, "ask"), (_deep, "preview"), (_no_table, "ask")])
def test_what_no_curator_says_is_an_error_of_the_servers(
    lie: Callable[[Told], None], act: str, server: Running
) -> None:
    query = am.ShareSample(policy="adults", columns=["age"], epsilon=0.1)
    with (
        between(server.base, lie) as liar,
        am.connect(liar.url, key=server.add("lou")) as curator,
        pytest.raises(ServerError, match="does not answer as a curator"),
    ):
        getattr(curator, act)(query)


def test_what_a_server_says_changes_no_terminal() -> None:
    told = {"status": 422, "problem": "bad\x1b]0;gone\x07", "field": "a\rb", "next_step": "\u202eno"}
    shown = str(server_words.read_problem(told))
    assert shown.isprintable()
    assert "\\x1b]0;gone\\x07" in shown


def test_a_server_that_lets_nobody_wait_is_not_asked_without_a_pause(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "WAIT_SECONDS", 0)
    looks = iter(range(10))

    def still_running(told: Told) -> None:
        if "/jobs/" in told.path and next(looks, None) is not None:
            job = json.loads(told.body)["job"]
            told.body = json.dumps({"job": job, "state": "running", "release_after": 0}).encode()

    pauses: list[float] = []
    with between(server.base, still_running) as slow, am.connect(slow.url, key=server.add("mia")) as curator:
        monkeypatch.setattr("anonymaly.ask.remote.time.sleep", pauses.append)
        assert curator.ask(am.Count(where="age < 22", epsilon=0.1)).charged == 0.1
    assert len(pauses) >= 10


def test_neither_a_redirect_nor_a_link_leads_the_key_to_another_host(server: Running) -> None:
    key = server.add("hal")
    with between(server.base, lambda told: None) as elsewhere:

        def link(told: Told) -> None:
            _bend(told, "content", to=f"{elsewhere.base}/v1/answers/x/content")

        with between(server.base, link) as liar, am.connect(liar.url, key=key) as curator:
            assert curator.ask(am.Count(epsilon=0.1)).charged == 0.1

        def redirect(told: Told) -> None:
            told.status, told.headers["Location"] = 307, f"{elsewhere.base}{told.path}"

        with between(server.base, redirect) as liar, pytest.raises(ServerError, match="sends on"):
            am.connect(liar.url, key=key)
        assert elsewhere.seen == []


def test_another_version_is_said_and_what_is_no_curator_is_an_error(server: Running) -> None:
    key = server.add("ida")

    def older(told: Told) -> None:
        if told.path == "/v1":
            told.change("version", to="0.0.1")

    with (
        between(server.base, older) as liar,
        pytest.warns(UserWarning, match=r"runs anonymaly 0\.0\.1"),
        am.connect(liar.url, key=key),
    ):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        am.connect(server.url, key=key).close()

    def other(told: Told) -> None:
        told.body = b"<html>hello</html>"

    with between(server.base, other) as liar, pytest.raises(ServerError, match="as a curator"):
        am.connect(liar.url, key=key)

    def less(told: Told) -> None:
        told.change("guarantee", to={})

    with (
        between(server.base, less) as liar,
        am.connect(liar.url, key=key) as curator,
        pytest.raises(ServerError, match="as a curator"),
    ):
        curator.preview(am.Count(epsilon=0.1))


def test_a_wrong_key_and_a_wrong_table_are_errors_at_once(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = server.add("jon")
    with pytest.raises(InputError, match=r"key: .* does not accept it"):
        am.connect(server.url, key=f"{key[:-4]}AAAA")
    with pytest.raises(InputError, match="nothing here that this key may see"):
        am.connect(f"{server.base}/others", key=key)
    with pytest.raises(InputError, match=r"key: is not given.*ANONYMALY_KEY"):
        am.connect(server.url)
    ring = types.ModuleType("keyring")
    kept = {("anonymaly", f"127.0.0.1:{server.port}"): key}
    ring.get_password = lambda *of: kept.get(of)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    am.connect(server.url).close()
    monkeypatch.setenv("ANONYMALY_KEY", "anm_wrong")
    with pytest.raises(InputError, match="does not accept it"):
        am.connect(server.url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://curator.example/patients", "anybody on the way"),
        ("https://ann:anm_1@curator.example/patients", "must not hold a key"),
        ("https://curator.example", "address of a table"),
        ("https://curator.example:99999/patients", "address of a table"),
        ("https://curator.example/patients?key=1", "address of a table"),
        ("ftp://curator.example/patients", "address of a table"),
    ],
)
def test_addresses_that_cannot_be_used_are_refused_before_anything_is_sent(url: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        am.connect(url, key="anm_1")


def test_a_key_with_other_letters_is_refused_before_it_is_sent(server: Running) -> None:
    with pytest.raises(InputError, match="letters that no key has"):
        am.connect(server.url, key="anm_…")


def test_where_nothing_listens_it_is_said_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE_AT_FIRST", 0.3)
    with pytest.raises(ServerError, match=r"does not answer \(nothing listens there\)"):
        am.connect("http://127.0.0.1:9/patients", key="anm_1")


def test_progress_is_told_while_an_answer_is_waited_for(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "WAIT_SECONDS", 0)
    told: list[str] = []
    with (
        am.connect(server.url, key=server.add("kim")) as curator,
        listening(lambda unit, done, total: told.append(unit)),
    ):
        curator.ask(am.Count(where="age < 21", epsilon=0.1))
    assert set(told) == {"seconds"}


def test_asking_a_server_imports_no_engine_and_no_compiler(server: Running) -> None:
    code = f"""
import sys
import anonymaly as am
with am.connect({server.url!r}, key={server.add("lea")!r}) as curator:
    curator.ask(am.Count(epsilon=0.1))
print(sorted({{"ibis", "duckdb", "numba"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
