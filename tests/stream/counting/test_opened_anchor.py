# SPDX-License-Identifier: Apache-2.0
"""A counter whose journal is set back or lost opens no sum again, if its anchor is not set back with it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from anonymaly.errors import InputError, LedgerError
from anonymaly.stream import Counter, CountingDeclaration, Outgoing
from anonymaly.stream.counting.messages import COUNTERS, Commitment, Opening
from anonymaly.stream.counting.opened_anchor import OpenedAnchor, OpenedSums
from anonymaly.stream.protocol.messages import Message, MessageReceipt
from tests.stream.counting.pool import KEY, NAMES, POOL, owner, transport, usual, window

NOISY = CountingDeclaration.read({**POOL.to_dict(), "epsilon": "0.1"})


def counter(folder: Path, number: int, *, anchored: bool = True, journal: str | None = None) -> Counter:
    return Counter(
        number,
        NOISY,
        NAMES,
        check_key=KEY,
        journal=folder / (journal or f"counter-{number}"),
        anchor=anchor_of(folder, number) if anchored else None,
    )


def anchor_of(folder: Path, number: int = 1) -> Path:
    """Return where a counter's anchor is; it is made if it is not there."""
    path = folder / f"anchor-{number}"
    if not path.exists():
        OpenedAnchor.begin(path, COUNTERS[number - 1], NOISY.pool, KEY, OpenedSums())
    return path


def copy_of(journal: Path) -> bytes:
    return journal.read_bytes()


def put_back(journal: Path, content: bytes | None) -> None:
    """Put a copy of a journal back, or begin it anew."""
    for path in journal.parent.glob(f"{journal.name}*"):
        path.unlink()
    if content is not None:
        journal.write_bytes(content)


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
    with counter(tmp_path, 1):
        pass
    older = None if lost else copy_of(journal)
    recorded = count_windows(tmp_path, 2, anchored=True)
    put_back(journal, older)
    with caplog.at_level(logging.WARNING, "anonymaly.stream"), counter(tmp_path, 1) as again:
        assert openings(tell_again(again, recorded.told)) == []
        assert again.floor == 2
        assert "windows up to 1 are passed over" in caplog.text
        # What had not begun is counted as ever.
        with counter(tmp_path, 2) as second, owner(tmp_path, NOISY) as judging:
            third = Recorded(again)
            transport(third, second, judging).carry(window(2, usual(), NOISY, previous=1))
    assert [message.window for message in openings(third.said)] == [2]
    caplog.clear()
    with counter(tmp_path, 1) as once_more:  # it agrees again
        assert (once_more.floor, caplog.text) == (3, "")


def test_without_an_anchor_it_would_be(tmp_path: Path) -> None:
    recorded = count_windows(tmp_path, 1, anchored=False)
    put_back(tmp_path / "counter-1", None)
    with counter(tmp_path, 1, anchored=False) as again:
        (before,), (after,) = openings(recorded.said), openings(tell_again(again, recorded.told))
    assert (before.window, after.window) == (0, 0)
    assert not np.array_equal(before.values, after.values)  # the same counts, with other noise


def test_of_two_copies_that_opened_a_window_by_themselves_one_sum_leaves(tmp_path: Path) -> None:
    told = count_windows(_folder(tmp_path, "whole"), 1, anchored=True).told
    place = _folder(tmp_path, "forked")
    journal, anchor = place / "counter-1", anchor_of(place)
    with counter(place, 1):
        night = copy_of(journal)
    begun = anchor.read_bytes()
    with counter(place, 1) as party:
        tell_again(party, told)
    kept = copy_of(journal)  # it opened the window, and was killed before its anchor was written
    anchor.write_bytes(begun)
    put_back(journal, night)
    with counter(place, 1) as party:
        (left,) = openings(tell_again(party, told))
    put_back(journal, kept)
    with counter(place, 1) as party:
        assert openings([item.message for item in party.resume()]) == []
        assert openings(tell_again(party, told)) == []
    put_back(journal, night)
    with counter(place, 1) as party:
        assert openings(tell_again(party, told)) == []
    assert left.window == 0


def test_a_counter_that_was_killed_before_it_wrote_its_anchor_goes_on(tmp_path: Path) -> None:
    begun = {path: path.read_bytes() for path in [anchor_of(tmp_path)]}
    recorded = count_windows(tmp_path, 1, anchored=True)
    for path, content in begun.items():
        path.write_bytes(content)
    with counter(tmp_path, 1) as again:
        assert again.floor == 1
        assert again.opened.window == 0
        assert openings(tell_again(again, recorded.told)) == []
    assert json.loads((tmp_path / "anchor-1").read_text())["window"] == 0


def test_no_sum_leaves_while_the_anchor_cannot_be_written(tmp_path: Path) -> None:
    told = count_windows(_folder(tmp_path, "whole"), 1, anchored=True).told
    place = _folder(tmp_path, "full")
    anchor = anchor_of(place)
    with counter(place, 1) as party:
        told = [message for message in told if not isinstance(message, MessageReceipt)]
        anchor.rename(tmp_path / "away")
        while not isinstance(told[0], Commitment):
            party.handle(told.pop(0))
        with pytest.raises(LedgerError, match="is not there"):
            party.handle(told[0])
        with pytest.raises(LedgerError, match="is not there"):
            party.resume()
    with pytest.raises(LedgerError, match="is not there"):
        counter_with(place, anchor)
    (tmp_path / "away").rename(anchor)
    with counter(place, 1) as party:
        sums = openings([item.message for item in party.resume()])
        assert json.loads(anchor.read_text())["window"] == 0
    assert [message.window for message in sums] == [0]


def counter_with(folder: Path, anchor: Path) -> Counter:
    return Counter(1, NOISY, NAMES, check_key=KEY, journal=folder / "counter-1", anchor=anchor)


def test_a_journal_that_is_replaced_while_it_is_used_opens_nothing_again(tmp_path: Path) -> None:
    recorded = count_windows(tmp_path, 2, anchored=True)
    with counter(tmp_path, 1) as party:
        party._journal.note("opened", "-1")
        party._journal.note("opened before", "-1")
        with pytest.raises(LedgerError, match="was set back while it was used"):
            party.resume()
        with pytest.raises(LedgerError, match="was set back while it was used"):
            tell_again(party, recorded.told)


def test_two_programs_cannot_share_an_anchor(tmp_path: Path) -> None:
    with counter(tmp_path, 1), pytest.raises(LedgerError, match="is in use"):
        counter(tmp_path, 1, journal="standby")
    counter(tmp_path, 1, journal="standby").close()


@pytest.mark.parametrize("step", ["lock", "read"])
def test_an_anchor_that_is_refused_says_why_though_its_lock_does_not_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = anchor_of(tmp_path)
    module = "anonymaly.stream.counting.opened_anchor"

    def locked(number: int, *, wait: bool) -> None:
        if step == "lock":
            raise BlockingIOError
        path.write_text("{}")  # by whoever had it until now

    def not_closed(number: int) -> None:
        close(number)
        raise OSError

    close = os.close
    monkeypatch.setattr(f"{module}.lock", locked)
    monkeypatch.setattr(f"{module}.os.close", not_closed)
    with pytest.raises(LedgerError, match="in use" if step == "lock" else "cannot be understood"):
        OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)


def test_a_forked_child_that_lets_go_of_it_leaves_it_to_its_parent(tmp_path: Path) -> None:
    path = anchor_of(tmp_path)
    with contextlib.closing(OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)) as anchor:
        child = os.fork()
        if child == 0:
            try:
                anchor.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with pytest.raises(LedgerError, match="is in use"):
            OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)


def test_what_another_program_wrote_until_it_let_go_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, first = anchor_of(tmp_path), OpenedSums().then(0, b"sum")
    other = OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)
    hold = OpenedAnchor._hold

    def hold_after_the_other(anchor: OpenedAnchor) -> None:
        other.advance(first)
        other.close()
        hold(anchor)

    monkeypatch.setattr(OpenedAnchor, "_hold", hold_after_the_other)
    with contextlib.closing(OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)) as anchor:
        assert anchor.opened == first


def test_what_is_no_place_of_an_anchor_is_refused_with_what_to_do(tmp_path: Path) -> None:
    loop, full = tmp_path / "loop", Path("/proc/anchor")
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="is no place of a file"):
        OpenedAnchor.begin(loop, COUNTERS[0], NOISY.pool, KEY, OpenedSums())
    if full.parent.is_dir():  # where nobody makes files
        with pytest.raises(InputError, match="cannot be made"):
            OpenedAnchor.begin(full, COUNTERS[0], NOISY.pool, KEY, OpenedSums())
    path = anchor_of(tmp_path)
    path.with_name(f"{path.name}.lock").symlink_to(path)
    with pytest.raises(LedgerError, match="cannot be locked"):
        OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    elsewhere = _folder(tmp_path, "elsewhere")
    (tmp_path / "anchor-1").symlink_to(anchor_of(elsewhere))
    count_windows(tmp_path, 1, anchored=True)
    assert (tmp_path / "anchor-1").is_symlink()
    assert json.loads((elsewhere / "anchor-1").read_text())["window"] == 0


def test_an_anchor_that_is_the_journal_or_is_there_already_is_left_alone(tmp_path: Path) -> None:
    with counter(tmp_path, 1):
        pass
    journal = tmp_path / "counter-1"
    before = journal.read_bytes()
    with pytest.raises(InputError, match="must be a new file"):
        OpenedAnchor.begin(journal, COUNTERS[0], NOISY.pool, KEY, OpenedSums())
    with pytest.raises((LedgerError, InputError)):
        counter_with(tmp_path, journal)
    assert journal.read_bytes() == before


TEXT = json.loads(OpenedAnchor.text(COUNTERS[0], NOISY.pool, KEY))


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"window": 3}', "1e999"]
    + [json.dumps(TEXT | {"window": wrong}) for wrong in (None, True, 3.5, "7", -7, 2**62, 10**23)]
    + [json.dumps(TEXT | {"window": 0, "chain": wrong}) for wrong in (None, "", 7)]
    + [json.dumps(TEXT).replace(": -1", ": 1e999")],
)
def test_what_is_no_anchor_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "anchor").write_text(content)
    with pytest.raises(LedgerError, match="cannot be understood"):
        OpenedAnchor(tmp_path / "anchor", COUNTERS[0], NOISY.pool, KEY)


@pytest.mark.parametrize(
    ("of", "pool", "key"),
    [(COUNTERS[1], NOISY.pool, KEY), (COUNTERS[0], "other", KEY), (COUNTERS[0], NOISY.pool, bytes(32))],
)
def test_an_anchor_of_another_counter_pool_or_set_up_is_refused(
    tmp_path: Path, of: str, pool: str, key: bytes
) -> None:
    anchor = anchor_of(tmp_path)
    with pytest.raises(LedgerError, match="is of another counter or pool"):
        OpenedAnchor(anchor, of, pool, key)


def test_an_anchor_is_private_and_notices_another_hand(tmp_path: Path) -> None:
    path = anchor_of(tmp_path)
    first = OpenedSums().then(0, b"sum")
    with contextlib.closing(OpenedAnchor(path, COUNTERS[0], NOISY.pool, KEY)) as anchor:
        anchor.advance(first)
        assert path.stat().st_mode & 0o777 == 0o600
        path.write_bytes(OpenedAnchor.text(COUNTERS[0], NOISY.pool, KEY))
        with pytest.raises(LedgerError, match="was changed by another program"):
            anchor.advance(first.then(1, b"sum"))


def _folder(at: Path, name: str) -> Path:
    (at / name).mkdir()
    return at / name
