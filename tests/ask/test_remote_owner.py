# SPDX-License-Identifier: Apache-2.0
"""What an owner does from afar, against `anonymaly serve`, and against servers that lose what they say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import anonymaly as am
from anonymaly.ask import remote_owner
from anonymaly.ask.remote_owner import RemoteOwner
from anonymaly.errors import InputError, Refused, ServerError
from tests.server.lying import Told, between
from tests.server.running import Running, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANONYMALY_KEY", raising=False)


@pytest.fixture
def owner(server: Running) -> Iterator[RemoteOwner]:
    with am.connect(server.url, key=server.owner) as curator:
        yield curator.owner


def listed(owner: RemoteOwner) -> dict[str, dict[str, Any]]:
    found = owner.keys()
    return {item["id"]: item for item in found}


def test_a_key_and_a_grant_let_an_analyst_ask(server: Running, owner: RemoteOwner) -> None:
    key = owner.make_key("ann", label="laptop", expires_in_days=30)
    assert key.text.startswith("anm_")
    assert key.text not in repr(key)
    line = listed(owner)[key.id]
    assert (line["person"], line["role"], line["label"]) == ("ann", "analyst", "laptop")
    assert line["expires_at"] == key.expires_at
    assert key.text not in str(owner.keys())
    with pytest.raises(InputError, match="nothing here that this key may see"):
        am.connect(server.url, key=key.text)
    given = owner.grant("ann", total=2, question_limit="0.5", questions=["count"], reason="study 12")
    assert (given["analyst"], given["limit"], given["standing"]) == ("ann", "2", True)
    assert given["terms"]["question_limit"] == "0.5"
    with am.connect(server.url, key=key.text) as analyst:
        assert analyst.remaining == 2.0
        analyst.ask(am.Count(epsilon=0.5))
        with pytest.raises(Refused, match=r"0\.5 on one question"):
            analyst.ask(am.Count(epsilon=0.6))
        with pytest.raises(Refused, match="may not ask 'score'"):
            analyst.ask(am.Score(columns=["age", "ward"], method="mixed", epsilon=0.5))
    (found,) = [item for item in owner.grants() if item["analyst"] == "ann"]
    assert (found["spent"], found["remaining"], found["reason"]) == ("0.5", "1.5", "study 12")


def test_a_revoked_grant_and_a_revoked_key_end_what_they_began(server: Running, owner: RemoteOwner) -> None:
    key = owner.make_key("bea")
    owner.grant("bea", total=1, reason="a study")
    with am.connect(server.url, key=key.text) as analyst:
        assert owner.revoke("bea", reason="the study has ended")["standing"] is False
        assert owner.revoke("bea", reason="again")["standing"] is False
        with pytest.raises(InputError, match="nothing here that this key may see"):
            analyst.ask(am.Count(epsilon=0.1))
        assert owner.grant("bea", total=1, reason="it goes on")["standing"] is True
        analyst.ask(am.Count(epsilon=0.1))
        owner.revoke_key(key.id)
        owner.revoke_key(key.id)
        with pytest.raises(InputError, match="does not accept it"):
            analyst.ask(am.Count(epsilon=0.2))
    line = listed(owner)[key.id]
    assert line["revoked_at"] is not None


def test_periods_ends_and_rules_arrive_as_the_ledger_has_them(owner: RemoteOwner) -> None:
    given = owner.grant(
        "cem",
        total="3",
        period={"epsilon": 0.5, "every": "month"},
        until=date(2999, 1, 31),
        rules={"adults": 3},
        reason="each month",
    )
    terms = given["terms"]
    today = datetime.now(UTC).date().isoformat()
    assert given["limit"] == "0.5"
    assert terms["period"] == {"epsilon": "0.5", "every": "month", "from": today, "begun": today}
    assert terms["until"] == "2999-01-31T00:00:00+00:00"
    assert terms["rules"] == {"adults": 3}
    given = owner.grant(
        "cem", total=3, period={"epsilon": 1, "every": "year", "from": "2026-01-31"}, reason="each year"
    )
    assert given["terms"]["period"]["from"] == "2026-01-31"


def test_a_budget_is_raised_and_a_table_is_paused_and_resumed(server: Running, owner: RemoteOwner) -> None:
    assert owner.raise_budget(1001, reason="a second year")["limit"] == "1001"
    assert owner.raise_budget("1001", reason="the same")["limit"] == "1001"
    with pytest.raises(Refused, match="only ever raised"):
        owner.raise_budget(5, reason="less")
    key = owner.make_key("dan")
    owner.grant("dan", total=1, reason="a study")
    assert owner.pause(reason="holidays")["paused"] is True
    with am.connect(server.url, key=key.text) as analyst:
        with pytest.raises(Refused, match="paused"):
            analyst.ask(am.Count(epsilon=0.1))
        assert owner.resume(reason="back")["paused"] is False
        assert analyst.ask(am.Count(epsilon=0.1)).charged == 0.1
    account = owner.account()
    assert account is not None
    assert (account["limit"], account["paused"]) == ("1001", False)


def test_more_than_the_table_has_is_granted_only_if_that_is_said(owner: RemoteOwner) -> None:
    with pytest.raises(Refused, match=r"terms.total: what is granted is ε=.* overcommit"):
        owner.grant("eva", total=5000, reason="much")
    given = owner.grant("eva", total=5000, overcommit=True, reason="much")
    assert given["terms"]["overcommit"] is True


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"total": -1}, "total: must be positive, got -1"),
        ({"total": "much"}, "total: must be a number"),
        ({"total": "0.0000000001"}, "total: has more than nine decimals"),
        ({"total": 1, "question_limit": 0}, "question_limit: must be positive"),
        ({"total": 1, "period": {"epsilon": 0, "every": "day"}}, r"period\.epsilon: must be positive"),
        ({"total": 1, "period": {"epsilon": 1}}, "period: must have epsilon and every"),
        ({"total": 1, "period": {"epsilon": 1, "every": "hour"}}, "every"),
        (
            {"total": 1, "period": {"epsilon": 1, "every": "day", "from": "soon"}},
            r"period\.from: must be a day",
        ),
        ({"total": 1, "until": "soon"}, "until: must be a day or a moment"),
        ({"total": 1, "until": "2001-01-01"}, "until: .* has passed"),
        ({"total": 1, "rules": {"nobody": 3}}, "there is no rule 'nobody'.*Declared: adults"),
        ({"total": 1, "rules": {"adults": -3}}, "rules.adults: .*0"),
        ({"total": 1, "questions": "count"}, "questions: must be a list of names"),
        ({"total": 1, "questions": ["cuont"]}, "questions: there is no question 'cuont'.*mean count"),
        ({"total": 1, "reason": " "}, "reason: must be said"),
    ],
)
def test_amounts_and_terms_that_cannot_be_are_refused(
    given: dict[str, Any], words: str, owner: RemoteOwner
) -> None:
    with pytest.raises(InputError, match=words):
        owner.grant("fay", **{"reason": "a study", **given})
    assert "fay" not in {item["analyst"] for item in owner.grants()}


def test_unknown_analysts_keys_and_tables_are_named(server: Running, owner: RemoteOwner) -> None:
    with pytest.raises(Refused, match="analyst 'nobody' has no grant"):
        owner.revoke("nobody", reason="a mistake")
    with pytest.raises(InputError, match="analyst: must be a name without a slash"):
        owner.grant("a/b", total=1, reason="a mistake")
    with pytest.raises(InputError, match="person: must be a name without a slash"):
        owner.make_key("a/b")
    with pytest.raises(InputError, match="id: there is no such key"):
        owner.revoke_key("0123456789abcdef")
    with pytest.raises(InputError, match="role"):
        owner.make_key("gus", "boss")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expires_in_days"):
        owner.make_key("gus", expires_in_days=0)
    elsewhere = RemoteOwner(remote_owner.ServerConnection(f"{server.base}/others", server.owner))
    with pytest.raises(InputError, match=r"url: .* has no table 'others'\. Its tables: patients"):
        elsewhere.pause(reason="a mistake")


def test_the_last_owners_key_stays(owner: RemoteOwner) -> None:
    with pytest.raises(Refused, match="the last key of an owner"):
        owner.revoke_key(owner.who["key"])


def test_another_role_is_told_so(server: Running, owner: RemoteOwner) -> None:
    with am.connect(server.url, key=server.add("hal")) as analyst:
        for forbidden in (
            analyst.owner.keys,
            analyst.owner.grants,
            lambda: analyst.owner.make_key("hal", "owner"),
            lambda: analyst.owner.grant("hal", total=100, reason="more"),
            lambda: analyst.owner.raise_budget(9999, reason="more"),
        ):
            with pytest.raises(
                InputError, match="key: is the key of an analyst, hal, and this is for an owner"
            ):
                forbidden()
    with am.connect(server.url, key=server.key("ida", "auditor")) as auditor:
        assert auditor.owner.grants() == owner.grants()
        with pytest.raises(InputError, match="the key of an auditor, ida"):
            auditor.owner.pause(reason="a look")


def test_what_is_lost_on_the_way_is_done_once(server: Running) -> None:
    lost: list[tuple[str, str]] = []

    def lose(told: Told) -> None:
        if told.method != "GET" and (told.method, told.path) not in lost:
            lost.append((told.method, told.path))
            told.lost = True

    with between(server.base, lose) as liar, am.connect(liar.url, key=server.owner) as curator:
        owner = curator.owner
        first = owner.grant("jon", total=1, reason="a study")
        assert len([1 for method, _, _ in liar.seen if method == "PUT"]) == 2
        assert owner.grant("jon", total=1, reason="a study")["entry"] == first["entry"]
        assert owner.revoke("jon", reason="ended")["standing"] is False
        before = listed(owner).keys()
        with pytest.raises(ServerError, match=r"was lost on the way .* List the keys: revoke one of jon"):
            owner.make_key("jon")
        assert [path for method, path, _ in liar.seen if method == "POST"] == ["/v1/keys"]
        (made,) = listed(owner).keys() - before
        owner.revoke_key(made)


def test_a_grant_by_period_that_is_sent_again_renews_nothing(server: Running, owner: RemoteOwner) -> None:
    monthly = {"epsilon": "0.5", "every": "month", "from": "2026-01-01"}
    first = owner.grant("moe", total=3, period=monthly, reason="a study")
    with am.connect(server.url, key=owner.make_key("moe").text) as analyst:
        analyst.ask(am.Count(epsilon=0.5))
        again = owner.grant("moe", total=3, period=monthly, reason="a study")
        assert (again["entry"], again["limit"]) == (first["entry"], "0.5")
        with pytest.raises(Refused):
            analyst.ask(am.Count(where="age < 30", epsilon=0.5))


def test_a_key_whose_text_does_not_arrive_is_named(server: Running) -> None:
    def swallow(told: Told) -> None:
        if told.method == "POST":
            told.body = told.body.replace(b'"text"', b'"none"')

    with (
        between(server.base, swallow) as liar,
        am.connect(liar.url, key=server.owner) as curator,
        pytest.raises(ServerError, match=r"the key \w+ was made, and its text was lost .* Revoke it"),
    ):
        curator.owner.make_key("kim")


def test_a_job_that_takes_longer_is_waited_for_but_not_for_ever(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(told: Told) -> None:
        if told.method in ("PUT", "POST"):
            told.change("state", to="running")

    def never(told: Told) -> None:
        told.change("state", to="running")

    with between(server.base, late) as liar, am.connect(liar.url, key=server.owner) as curator:
        assert curator.owner.grant("lea", total=1, reason="a study")["limit"] == "1"
        with pytest.raises(ServerError, match="its text was lost"):  # it was shown with the first answer
            curator.owner.make_key("lea")
    monkeypatch.setattr(remote_owner, "PATIENCE_SECONDS", 0.0)
    with (
        between(server.base, never) as liar,
        am.connect(liar.url, key=server.owner) as curator,
        pytest.raises(ServerError, match="has not done it after 0 seconds"),
    ):
        curator.owner.pause(reason="a look")
    with am.connect(server.url, key=server.owner) as curator:
        curator.owner.resume(reason="a look")


def test_a_job_that_failed_is_an_error_without_words_about_charges(server: Running) -> None:
    def fail(told: Told) -> None:
        if told.method == "POST":
            told.change("state", to="failed")

    with (
        between(server.base, fail) as liar,
        am.connect(liar.url, key=server.owner) as curator,
        pytest.raises(ServerError, match="something went wrong"),
    ):
        curator.owner.resume(reason="a look")
