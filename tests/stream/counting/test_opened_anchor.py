# SPDX-License-Identifier: Apache-2.0
"""A counter whose journal is set back or lost opens no sum again, if its anchor is not set back with it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import LedgerError
from anonymaly.stream import Counter, CountingDeclaration, Outgoing
from anonymaly.stream.counting.messages import COUNTERS, Commitment, Opening
from anonymaly.stream.counting.opened_anchor import NONE, OpenedAnchor
from anonymaly.stream.protocol.messages import Message, MessageReceipt
from tests.stream.counting.pool import KEY, NAMES, POOL, owner, transport, usual, window

NOISY = CountingDeclaration.read({**POOL.to_dict(), "epsilon": "0.1"})


def counter(folder: Path, number: int, *, anchored: bool) -> Counter:
    anchor = folder / f"anchor-{number}" if anchored else None
    return Counter(number, NOISY, NAMES, check_key=KEY, journal=folder / f"counter-{number}", anchor=anchor)


class Recorded:
    """A counter in the middle of its partner and the sensors: keeps what it was told and what it said."""

    def __init__(self, inner: Counter) -> None:
        self.address = inner.address
        self.inner = inner
        self.told: list[Message] = []
        self.said: list[Message] = []

    def handle(self, message: Message) -> list[Outgoing]:
        self.told.append(message)
        made = self.inner.handle(message)
        self.said += [item.message for item in made]
        return made

    def resume(self) -> list[Outgoing]:
        return []


def openings(messages: list[Message]) -> list[Opening]:
    return [message for message in messages if isinstance(message, Opening)]


def count_windows(folder: Path, windows: int, *, anchored: bool) -> Recorded:
    """Count windows by two counters, and return what the first was told and said."""
    parties = [counter(folder, number, anchored=anchored) for number in (1, 2)]
    with parties[0] as first, parties[1] as second, owner(folder, NOISY) as judging:
        recorded = Recorded(first)
        carried = transport(recorded, second, judging)
        for number in range(windows):
            carried.carry(window(number, usual(), NOISY))
    assert [message.window for message in openings(recorded.said)] == list(range(windows))
    return recorded


def tell_again(party: Counter, told: list[Message]) -> list[Message]:
    """Let whoever carries messages repeat all of them, as often as they have an effect."""
    said: list[Message] = []
    for _ in range(4):
        for message in told:
            if not isinstance(message, MessageReceipt):
                said += [item.message for item in party.handle(message)]
    return said


@pytest.mark.parametrize("lost", [False, True])
def test_no_sum_is_opened_again_by_a_counter_with_an_older_journal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, lost: bool
) -> None:
    journal = tmp_path / "counter-1"
    if not lost:  # an older copy: made before anything was opened
        with counter(tmp_path, 1, anchored=True):
            pass
    older = b"" if lost else journal.read_bytes()
    recorded = count_windows(tmp_path, 2, anchored=True)
    for path in tmp_path.glob("counter-1*"):
        path.unlink()
    if older:
        journal.write_bytes(older)
    with caplog.at_level(logging.WARNING, "anonymaly.stream"), counter(tmp_path, 1, anchored=True) as again:
        assert openings(tell_again(again, recorded.told)) == []
        assert again.floor == 2
        assert "skip --until 2" in caplog.text
        # What had not begun is counted as ever.
        with counter(tmp_path, 2, anchored=True) as second, owner(tmp_path, NOISY) as judging:
            third = Recorded(again)
            transport(third, second, judging).carry(window(2, usual(), NOISY, previous=1))
    assert [message.window for message in openings(third.said)] == [2]


def test_without_an_anchor_it_would_be(tmp_path: Path) -> None:
    recorded = count_windows(tmp_path, 1, anchored=False)
    for path in tmp_path.glob("counter-1*"):
        path.unlink()
    with counter(tmp_path, 1, anchored=False) as again:
        (before,), (after,) = openings(recorded.said), openings(tell_again(again, recorded.told))
    assert (before.window, after.window) == (0, 0)
    assert not np.array_equal(before.values, after.values)  # the same counts, with other noise


def test_a_counter_that_was_killed_before_it_wrote_its_anchor_writes_it_when_it_starts(
    tmp_path: Path,
) -> None:
    count_windows(tmp_path, 2, anchored=True)
    (tmp_path / "anchor-1").unlink()
    with counter(tmp_path, 1, anchored=True) as again:
        assert again.floor == 2
    assert json.loads((tmp_path / "anchor-1").read_text())["opened"] == 1


def test_no_sum_leaves_while_the_anchor_cannot_be_written(tmp_path: Path) -> None:
    told = count_windows(tmp_path, 1, anchored=True).told
    away = tmp_path / "away"
    away.mkdir()

    def opened() -> Counter:
        return Counter(1, NOISY, NAMES, check_key=KEY, journal=tmp_path / "other", anchor=away / "anchor")

    with opened() as party:
        away.rmdir()
        while told and not isinstance(told[0], Commitment):
            party.handle(told.pop(0))
        with pytest.raises(LedgerError, match="cannot be written"):
            party.handle(told[0])
        with pytest.raises(LedgerError, match="cannot be written"):
            party.resume()
    away.mkdir()
    with opened() as party:
        sums = openings([item.message for item in party.resume()])
        assert json.loads((away / "anchor").read_text())["opened"] == 0
    assert [message.window for message in sums] == [0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "cannot be understood"),
        ("[]", "cannot be understood"),
        ('{"opened": 3}', "is of another counter or pool"),
        ('{"opened": null}', "cannot be understood"),
    ],
)
def test_an_anchor_that_is_not_this_counters_is_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "anchor").write_text(content)
    with pytest.raises(LedgerError, match=words):
        OpenedAnchor(tmp_path / "anchor", COUNTERS[0], NOISY.pool, KEY)


@pytest.mark.parametrize(
    ("of", "pool", "key"),
    [(COUNTERS[1], NOISY.pool, KEY), (COUNTERS[0], "other", KEY), (COUNTERS[0], NOISY.pool, bytes(32))],
)
def test_an_anchor_of_another_counter_pool_or_set_up_is_refused(
    tmp_path: Path, of: str, pool: str, key: bytes
) -> None:
    OpenedAnchor(tmp_path / "anchor", COUNTERS[0], NOISY.pool, KEY).advance(3)
    with pytest.raises(LedgerError, match="is of another counter or pool"):
        OpenedAnchor(tmp_path / "anchor", of, pool, key)


def test_an_anchor_only_moves_forward(tmp_path: Path) -> None:
    anchor = OpenedAnchor(tmp_path / "anchor", COUNTERS[0], NOISY.pool, KEY)
    assert anchor.opened == NONE
    anchor.advance(3)
    anchor.advance(1)
    assert OpenedAnchor(tmp_path / "anchor", COUNTERS[0], NOISY.pool, KEY).opened == 3
    assert (tmp_path / "anchor").stat().st_mode & 0o777 == 0o600
