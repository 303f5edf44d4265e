# SPDX-License-Identifier: Apache-2.0
"""One reading that a verdict names is fetched from its sensor: with consent, and never without."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymaly.errors import InputError, LedgerError
from anonymaly.ledger import Ledger
from anonymaly.stream import CountingSensor, LocalTransport, Owner, Party, PoolOwner, Sensor
from anonymaly.stream.counting.messages import PoolVerdict, WindowState
from anonymaly.stream.protocol.fetching_owner import FetchingOwner
from anonymaly.stream.protocol.giving_sensor import (
    HOLDER,
    MOST_ON_THEIR_WAY,
    MOST_WAITING,
    GivingSensor,
    decide,
)
from anonymaly.stream.protocol.messages import Message, MessageReceipt, Verdict, read_message
from anonymaly.stream.protocol.requests import AnswerState, ReadingAnswer, ReadingRequest
from tests.stream.counting.pool import NAMES, POOL
from tests.stream.protocol.parties import HOUSE, ROOM

WHY = "is the window open?"
FAULT = 74.25
NAME = NAMES[0]
START = 1767225600.0  # of the pool's first window
DAY = [20.0] * (ROOM.window - 1) + [FAULT]
LAST = ROOM.window - 1


@dataclass
class Pair:
    """A sensor with some readings and an owner who has the verdict about them, of one protocol."""

    folder: Path
    open_sensor: Callable[..., GivingSensor]
    owner: FetchingOwner
    place: int
    unflagged: int
    wire: list[Message] = field(default_factory=list)
    sensor: Any = None

    def open(self, **options: Any) -> None:
        if self.sensor is not None:
            self.sensor.close()
        self.sensor = self.open_sensor(**{"keep": 4} | options)

    def carry(self, outgoing: Any) -> None:
        LocalTransport([self.sensor, self.owner], self.wire.append).carry(outgoing)

    def ask(self) -> str:
        self.carry(self.owner.fetch(NAME, 0, self.place, reason=WHY))
        (waiting,) = self.sensor.requests()
        return str(waiting.name)

    def from_sensor(self) -> list[Message]:
        return [message for message in self.wire if message.sender == f"sensor/{NAME}"]


def correction(folder: Path) -> Pair:
    def open_sensor(reading: float = FAULT, **options: Any) -> Sensor:
        sensor = Sensor(NAME, ROOM, journal=folder / "s", ledger=folder / "l", budget=10**6, **options)
        if not sensor.accepted:
            sensor.send([*DAY[:-1], reading], [f"09:{minute:02}" for minute in range(len(DAY))])
        return sensor

    owner = Owner([NAME], folder / "o")
    flagged, nobody = np.arange(ROOM.window) == LAST, np.zeros(ROOM.window, np.bool_)
    owner.handle(Verdict(NAME, 0, flagged, nobody, nobody, nobody))
    return Pair(folder, open_sensor, owner, LAST, 0)


def counting(folder: Path) -> Pair:
    def open_sensor(reading: float = FAULT, **options: Any) -> CountingSensor:
        sensor = CountingSensor(
            NAME, POOL, journal=folder / "s", ledger=folder / "l", budget=10**5, **options
        )
        if not sensor.accepted:
            sensor.send([reading], [START])
        return sensor

    owner = PoolOwner(POOL, NAMES, folder / "o")
    members = np.ones(len(NAMES), np.bool_)
    faults = np.arange(len(NAMES)) == 0
    verdict = PoolVerdict(POOL.pool, 0, WindowState.JUDGED, members, faults, ~members)
    with owner.journal.transaction():
        owner.journal.judge(POOL.pool, 0, verdict.to_bytes())
    return Pair(folder, open_sensor, owner, 0, 1)


@pytest.fixture(params=[correction, counting])
def new_pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    made: Pair = request.param(tmp_path)
    yield made
    made.sensor.close()
    made.owner.close()


@pytest.fixture
def pair(new_pair: Pair) -> Pair:
    new_pair.open()
    return new_pair


def answers(pair: Pair) -> list[ReadingAnswer]:
    return [message for message in pair.wire if isinstance(message, ReadingAnswer)]


def entries(pair: Pair) -> list[dict[str, Any]]:
    return [dict(entry.data) for entry in pair.sensor._ledger.consents(NAME)]


def test_with_consent_the_owner_has_the_reading_and_its_time(pair: Pair) -> None:
    name = pair.ask()
    assert pair.owner.fetches()[0].state == "waiting"
    pair.carry(pair.sensor.consent(name, reason="it was"))
    (fetch,) = pair.owner.fetches()
    assert (fetch.state, fetch.values, fetch.reason) == ("given", (FAULT,), WHY)
    assert fetch.time == ("09:09" if pair.place else "2026-01-01T00:00:00+00:00")
    assert {message.recipient for message in pair.wire} == {"owner", f"sensor/{NAME}"}, "and no server's"
    assert not pair.owner.waiting


@pytest.mark.parametrize("reading", [FAULT, -15.5])
def test_without_consent_nothing_leaves_that_depends_on_the_reading(new_pair: Pair, reading: float) -> None:
    new_pair.open(reading=reading)
    new_pair.ask()
    assert new_pair.sensor.answer() == []
    new_pair.open()
    later = [item.message for item in new_pair.sensor.resume() if item.recipient == "owner"]
    left = [message.to_bytes() for message in [*new_pair.from_sensor(), *later]]
    assert left == [MessageReceipt(NAME, 0, ReadingRequest).to_bytes()], "whatever the reading is"


def test_the_answer_to_a_request_does_not_show_by_its_length_what_it_is(pair: Pair) -> None:
    pair.carry(pair.sensor.refuse(pair.ask(), reason="no"))
    pair.carry(pair.sensor.consent(pair.ask(), reason="now"))
    refused, given = answers(pair)
    assert (refused.state, given.state) == (AnswerState.REFUSED, AnswerState.GIVEN)
    assert len(refused.to_bytes()) == len(given.to_bytes())
    assert struct.pack("<d", FAULT) not in refused.to_bytes()
    assert [fetch.state for fetch in pair.owner.fetches()] == ["refused", "given"]
    assert "74" not in repr(given)


def test_a_reading_that_no_verdict_names_is_not_asked_for(pair: Pair) -> None:
    for window, place in ((0, pair.unflagged), (1, pair.place), (0, -1), (0, 10**6)):
        with pytest.raises(InputError, match="no verdict names"):
            pair.owner.fetch(NAME, window, place, reason=WHY)
    with pytest.raises(InputError, match="cannot be asked"):
        pair.owner.fetch("nobody", 0, pair.place, reason=WHY)
    for reason in ("", "two\nlines", "x" * 501):
        with pytest.raises(InputError, match="one line"):
            pair.owner.fetch(NAME, 0, pair.place, reason=reason)
    assert not pair.owner.waiting
    assert not pair.owner.fetches()


def test_a_consent_is_an_entry_that_says_there_is_no_bound_and_charges_nothing(pair: Pair) -> None:
    spent = pair.sensor.spent
    assert "clear" not in str(pair.sensor.statement()) + pair.sensor.promise().describe()
    name = pair.ask()
    pair.carry(pair.sensor.consent(name, reason="the window was open"))
    (entry,) = entries(pair)
    assert entry["subject"]["given_in_clear"] == {
        "request": name, "to": "owner", "bound": "none: what is given is known to whom it is given",
    }  # fmt: skip
    assert (entry["by"], entry["reason"]) == (HOLDER, "the window was open")
    assert pair.sensor.spent == spent
    assert pair.sensor.given == 1
    assert "In clear, by consent: 1 reading may be handed over. No ε bounds it" in str(
        pair.sensor.statement()
    )
    assert pair.sensor.statement().to_dict()["given_in_clear"][0]["request"] == name
    assert "up to 1 of the sensor's readings. No ε bounds" in pair.sensor.promise().describe()
    assert pair.sensor.promise().to_dict()["given_in_clear"] == 1


def test_the_promise_says_what_a_request_shows_where_readings_are_kept(new_pair: Pair) -> None:
    shows = "a verdict named one of its readings"
    new_pair.open(keep=0)
    assert shows not in new_pair.sensor.promise().describe()
    new_pair.open(keep=4)
    assert shows in new_pair.sensor.promise().describe()


def test_a_refusal_is_an_entry_too_and_counts_as_nothing_given(pair: Pair) -> None:
    pair.carry(pair.sensor.refuse(pair.ask(), reason="no"))
    assert [list(entry["subject"]) for entry in entries(pair)] == [["not_given"]]
    assert pair.sensor.given == 0
    assert "clear" not in str(pair.sensor.statement())


def test_a_kill_between_entry_and_sending_loses_nothing_and_sends_one_version(pair: Pair) -> None:
    name = pair.ask()
    with Ledger.open(pair.folder / "l") as book:
        decide(book, NAME, name, gives=True, by=HOLDER, reason="then the power went")
    pair.open()
    first = [item.message.to_bytes() for item in pair.sensor.resume() if item.recipient == "owner"]
    pair.open()
    again = [item.message.to_bytes() for item in pair.sensor.resume() if item.recipient == "owner"]
    assert len(first) == 1
    assert first == again
    pair.carry(item for item in pair.sensor.resume() if item.recipient == "owner")
    assert pair.owner.fetches()[0].values == (FAULT,)
    assert len(entries(pair)) == 1


def test_nothing_leaves_when_the_entry_cannot_be_written(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> int:
        raise LedgerError("is full", field="ledger", next_step="Make room.")

    name = pair.ask()
    monkeypatch.setattr(pair.sensor._ledger, "consent", fail)
    with pytest.raises(LedgerError):
        pair.sensor.consent(name, reason="yes")
    assert pair.sensor.answer() == []
    assert not answers(pair)
    assert [item.name for item in pair.sensor.requests()] == [name]


def test_replays_change_nothing(pair: Pair) -> None:
    name = pair.ask()
    pair.carry(pair.sensor.consent(name, reason="yes"))
    seen = pair.owner.fetches()
    for message in list(pair.wire):
        LocalTransport([pair.sensor, pair.owner]).parties[message.recipient].handle(message)
    assert pair.owner.fetches() == seen
    assert len(entries(pair)) == 1
    assert pair.sensor.requests() == []
    assert pair.sensor.answer() == []
    with pytest.raises(InputError, match="does not wait"):
        pair.sensor.consent(name, reason="again")
    with pytest.raises(InputError, match="was asked for before"):
        pair.owner.fetch(NAME, 0, pair.place, reason=WHY)


def test_the_first_of_two_decisions_stands(pair: Pair) -> None:
    name = pair.ask()
    for gives in (False, True):
        with Ledger.open(pair.folder / "l") as book:
            decide(book, NAME, name, gives=gives, by=HOLDER, reason="two people at two machines")
    pair.carry(pair.sensor.answer())
    assert pair.owner.fetches()[0].state == "refused"


def test_a_decision_is_about_one_request_and_no_other(pair: Pair) -> None:
    pair.ask()
    other = ReadingRequest(NAME, 0, pair.place, 1, "may I have it?")
    with Ledger.open(pair.folder / "l") as book:
        decide(book, NAME, other.name, gives=True, by=HOLDER, reason="meant another")
    assert pair.sensor.answer() == []
    # Another request under the same number is none.
    with pytest.raises(InputError, match="another request"):
        pair.sensor.handle(ReadingRequest(NAME, 0, pair.place, 0, "may I have it?"))


def test_consent_that_is_declared_still_enters_each_reading(pair: Pair) -> None:
    pair.open(consent="always")
    pair.carry(pair.owner.fetch(NAME, 0, pair.place, reason=WHY))
    assert pair.owner.fetches()[0].values == (FAULT,)
    (entry,) = entries(pair)
    assert entry["by"] == "the sensor's configuration"
    assert pair.sensor.given == 1
    with pytest.raises(InputError, match="goes with keep"):
        pair.open(consent="always", keep=0)


def test_a_sensor_that_keeps_nothing_takes_no_request_and_has_no_reading_on_its_disk(pair: Pair) -> None:
    packed = struct.pack("<d", FAULT)
    assert any(packed in file.read_bytes() for file in pair.folder.glob("s*")), "it is kept at first"
    pair.open(keep=0)
    with pytest.raises(InputError, match="keeps none"):
        pair.sensor.handle(ReadingRequest(NAME, 0, pair.place, 0, WHY))
    pair.sensor.close()
    assert not any(packed in file.read_bytes() for file in pair.folder.glob("s*"))


def test_readings_are_erased_as_they_age_and_a_consent_comes_too_late_then(tmp_path: Path) -> None:
    pair = counting(tmp_path)
    pair.open(keep=1)
    name = pair.ask()
    assert pair.sensor.requests()[0].kept
    pair.sensor.send([20.0], [START + 60])
    assert not pair.sensor.requests()[0].kept
    # Whether it is kept, too, the owner learns by a decision only.
    assert pair.sensor.answer() == []
    pair.carry(pair.sensor.consent(name, reason="yes"))
    assert pair.owner.fetches()[0].state == "not kept"
    for window in range(2, 70):
        pair.sensor.send([20.0], [START + 60 * window])
    packed = struct.pack("<d", FAULT)
    assert not any(packed in file.read_bytes() for file in pair.folder.glob("s*"))
    pair.sensor.close()
    pair.owner.close()


def test_a_reading_of_an_earlier_declaration_does_not_show_by_its_length(tmp_path: Path) -> None:
    pair = correction(tmp_path)
    pair.open()
    name = pair.ask()
    pair.sensor.amend(HOUSE, reason="a meter more", learned_from_readings=False)
    pair.carry(pair.sensor.consent(name, reason="yes"))
    assert pair.owner.fetches()[0].state == "not kept"
    assert len(answers(pair)[0].values) == len(HOUSE.columns)
    pair.sensor.close()
    pair.owner.close()


def test_only_as_many_requests_wait_as_a_person_may_decide(pair: Pair) -> None:
    for number in range(MOST_WAITING):
        pair.sensor.handle(ReadingRequest(NAME, 0, pair.place, number, WHY))
    with pytest.raises(InputError, match="wait for a decision"):
        pair.sensor.handle(ReadingRequest(NAME, 0, pair.place, MOST_WAITING, WHY))


def test_an_owner_that_is_away_holds_up_no_readings(pair: Pair) -> None:
    pair.open(consent="always")
    before = pair.sensor.waiting
    number = MOST_ON_THEIR_WAY + 2
    for part in range(number):
        pair.sensor.handle(ReadingRequest(NAME, 0, pair.place, part, WHY))
    assert pair.sensor.waiting == before
    assert pair.sensor.given == len(entries(pair)) == MOST_ON_THEIR_WAY
    for part in range(number):
        pair.sensor.handle(MessageReceipt(NAME, 0, ReadingAnswer, part))
    assert pair.sensor.given == number
    assert pair.sensor.requests() == []


def test_what_waits_for_a_sensor_that_cannot_be_asked_any_more_is_withdrawn(tmp_path: Path) -> None:
    pair = correction(tmp_path)
    pair.owner.fetch(NAME, 0, LAST, reason=WHY)
    pair.owner.close()
    owner = Owner([NAME], tmp_path / "o", fetchable=[])
    assert [item.state for item in owner.fetches()] == ["withdrawn"]
    assert not owner.waiting
    owner.close()


def test_an_answer_to_no_question_is_refused(pair: Pair) -> None:
    with pytest.raises(InputError, match="was not asked"):
        pair.owner.handle(ReadingAnswer(NAME, 0, 0, AnswerState.GIVEN, (1.0,), "now"))


@pytest.mark.parametrize(
    "damaged",
    [
        ReadingRequest(NAME, 0, 2**20, 0, WHY),
        ReadingRequest(NAME, 0, 0, 2**16, WHY),
        ReadingRequest(NAME, 0, 0, 0, "\x1b[2J"),
        ReadingAnswer(NAME, 0, 0, AnswerState.REFUSED, (1.0,)),
        ReadingAnswer(NAME, 0, 0, AnswerState.GIVEN, (float("nan"),)),
        ReadingAnswer(NAME, 0, 0, AnswerState.GIVEN, ()),
        ReadingAnswer(NAME, 0, 2**16, AnswerState.GIVEN, (1.0,)),
    ],
)
def test_messages_that_no_party_writes_are_refused(damaged: Message) -> None:
    with pytest.raises(InputError):
        read_message(damaged.to_bytes())


def test_messages_have_one_form_and_one_length() -> None:
    request, answer = (
        ReadingRequest(NAME, 3, 2, 1, "grüß"),
        ReadingAnswer(NAME, 3, 1, AnswerState.GIVEN, (float("inf"), -2.5), "09:15"),
    )
    assert read_message(request.to_bytes()) == request
    assert read_message(answer.to_bytes()) == answer
    assert len(request.to_bytes()) == len(ReadingRequest(NAME, 0, 0, 0, "x" * 500).to_bytes())
    for message in (request, answer):
        data = bytearray(message.to_bytes())
        data[-1] = 1  # behind the end of the text
        with pytest.raises(InputError):
            read_message(bytes(data))


def test_a_journal_of_an_earlier_format_gets_what_it_lacks(tmp_path: Path) -> None:
    owner: Party = Owner([NAME], tmp_path / "o")
    with owner.journal.transaction():
        for table in ("kept", "requests", "fetches"):
            owner.journal.execute(f"DROP TABLE {table}")
        owner.journal.note("format", "2")
    owner.close()
    with Owner([NAME], tmp_path / "o") as opened:
        assert opened.fetches() == []
        assert opened.journal.read_note("format") == "3"
