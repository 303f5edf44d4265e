# SPDX-License-Identifier: Apache-2.0
"""A restored old copy is a perfect chain that ends early; only the anchor tells."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, LedgerBehindAnchor, LedgerError, Refused
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.anchor import Anchor, Anchored
from anonymaly.ledger.records import Head
from tests.children import IdleChild

NANO = 10**9


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder / "data.anchor"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.ledger"


def ask(ledger: Ledger, key: str, cost: int = NANO // 10) -> Any:
    return ledger.reserve("patients", analyst="owner", key=key, cost=cost, record={})


def anchored_head(anchor: Path) -> Head:
    found = Anchor(anchor).read()
    assert found is not None
    return found.head


def begin(location: Path | str, anchor: Path) -> Ledger:
    ledger = Ledger.open(location, anchor=anchor)
    ledger.open_account("patients", {}, limit=NANO, rules={})
    return ledger


def test_the_anchor_holds_the_head_after_every_change(location: str, anchor: Path) -> None:
    with begin(location, anchor) as ledger:
        for change in (
            lambda: ask(ledger, "q1"),
            lambda: ledger.commit(ask(ledger, "q1"), digest="aa", media_type="text/plain", size=1),
            lambda: ledger.fail(ask(ledger, "q2"), stage="counts", error="ValueError"),
            lambda: ledger.raise_limit("patients", 2 * NANO),
        ):
            change()
            assert anchored_head(anchor) == ledger.head()
    with Ledger.open(location, anchor=anchor) as again:
        assert again.verify().ok
        assert again.entries()[0].kind == "anchor"


def test_a_restored_copy_is_locked_and_says_how_to_go_on(path: Path, anchor: Path) -> None:
    with begin(path, anchor) as ledger:
        ask(ledger, "q1")
    shutil.copy(path, f"{path}.old")
    with begin(path, anchor) as ledger:
        ask(ledger, "q2")
    shutil.copy(f"{path}.old", path)
    with pytest.raises(LedgerBehindAnchor, match="older copy") as caught:
        Ledger.open(path, anchor=anchor)
    assert "open_epoch" in str(caught.value)
    with pytest.raises(LedgerBehindAnchor, match="must be opened with its anchor"):
        Ledger.open(path)


def test_a_copy_that_went_another_way_is_locked(path: Path, anchor: Path) -> None:
    with begin(path, anchor) as ledger:
        ask(ledger, "q1")
    shutil.copy(path, f"{path}.old")
    shutil.copy(anchor, f"{anchor}.old")
    with begin(path, anchor) as ledger:
        ask(ledger, "q2")
    kept = anchor.read_text()
    shutil.copy(f"{path}.old", path)
    shutil.copy(f"{anchor}.old", anchor)
    with begin(path, anchor) as ledger:
        for key in ("q3", "q4", "q5"):
            ask(ledger, key)
    anchor.write_text(kept)
    with pytest.raises(LedgerBehindAnchor, match="is not the one that was anchored"):
        Ledger.open(path, anchor=anchor)


def test_another_ledgers_anchor_is_refused(tmp_path: Path, anchor: Path) -> None:
    begin(tmp_path / "one.ledger", anchor).close()
    Ledger.open(tmp_path / "two.ledger").close()
    with pytest.raises(LedgerBehindAnchor, match="another ledger's"):
        Ledger.open(tmp_path / "two.ledger", anchor=anchor)


def test_a_lost_ledger_is_not_made_anew_beside_its_anchor(tmp_path: Path, path: Path, anchor: Path) -> None:
    begin(path, anchor).close()
    path.unlink()
    with pytest.raises(LedgerBehindAnchor, match=r"the ledger is gone.*Bring back the newest copy"):
        Ledger.open(path, anchor=anchor)
    assert not path.exists()


def test_a_deleted_anchor_locks_the_ledger(location: str, anchor: Path) -> None:
    begin(location, anchor).close()
    anchor.unlink()
    with pytest.raises(LedgerBehindAnchor, match="the anchor is missing"):
        Ledger.open(location, anchor=anchor)


def test_an_anchor_deleted_or_ahead_while_the_ledger_is_open_stops_it(location: str, anchor: Path) -> None:
    with begin(location, anchor) as ledger:
        content = json.loads(anchor.read_text())
        anchor.write_text(json.dumps({**content, "seq": content["seq"] + 5}))
        with pytest.raises(LedgerBehindAnchor, match="older copy"):
            ask(ledger, "q1")
        anchor.unlink()
        with pytest.raises(LedgerBehindAnchor, match="missing"):
            ask(ledger, "q1")
        assert ledger.account("patients").spent == 0


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"ledger": "x"}', "\x00\x01", '{"seq": "many"}'])
def test_an_anchor_that_cannot_be_read_locks_the_ledger(path: Path, anchor: Path, content: str) -> None:
    begin(path, anchor).close()
    anchor.write_text(content)
    with pytest.raises(LedgerBehindAnchor, match="cannot be read"):
        Ledger.open(path, anchor=anchor)
    with Ledger.open_epoch(path, anchor=anchor) as ledger:
        assert ledger.account("patients").remaining == 0


def test_an_anchor_whose_disk_fails_for_a_moment_is_no_reason_for_a_new_epoch(
    path: Path, anchor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = Path.read_text

    def failing(which: Path, *arguments: Any, **named: Any) -> str:
        if which == anchor:
            raise OSError(5, "Input/output error")
        return really(which, *arguments, **named)

    with begin(path, anchor) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "read_text", failing)
            with pytest.raises(LedgerError, match=r"anchor: cannot be read.*then ask again") as refused:
                ask(ledger, "q1")
        assert not isinstance(refused.value, LedgerBehindAnchor)
        assert ask(ledger, "q1").charged


def test_a_ledger_used_without_an_anchor_can_get_one_later(location: str, anchor: Path) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        ask(ledger, "q1")
    with Ledger.open(location, anchor=anchor) as ledger:
        assert anchored_head(anchor) == ledger.head()
    with pytest.raises(LedgerError, match="must be opened with its anchor"):
        Ledger.open(location)


def test_a_crash_between_the_first_anchor_and_its_entry_locks_nothing(path: Path, anchor: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        Anchor(anchor).advance(Anchored(ledger.head()))
    with Ledger.open(path, anchor=anchor) as ledger:
        assert ledger.entries()[-1].kind == "anchor"


def test_a_crash_between_a_charge_and_its_anchor_locks_nothing_and_is_made_good(
    location: str, anchor: Path
) -> None:
    with begin(location, anchor) as killed, begin(location, anchor) as ledger:
        before = anchor.read_text()
        ask(killed, "q1")
        anchor.write_text(before)  # as if the writer had been killed before it wrote the anchor
        assert json.loads(before)["seq"] < ledger.head().seq
        # The next asker finds a charge that is not anchored; it is anchored before it is reported.
        assert not ask(ledger, "q1").charged
        assert anchored_head(anchor) == ledger.head()


def test_a_new_epoch_has_nothing_remaining_and_ends_open_reservations(path: Path, anchor: Path) -> None:
    with begin(path, anchor) as ledger:
        ask(ledger, "open")
        done = ledger.commit(ask(ledger, "done"), digest="aa", media_type="text/plain", size=1)
    shutil.copy(path, f"{path}.old")
    with begin(path, anchor) as ledger:
        ledger.commit(ask(ledger, "open"), digest="lost", media_type="text/plain", size=1)
    shutil.copy(f"{path}.old", path)
    with Ledger.open_epoch(path, anchor=anchor) as ledger:
        assert ledger.account("patients").remaining == 0
        assert ledger.head().epoch == 1
        assert anchored_head(anchor) == ledger.head()
        assert ask(ledger, "open").state == "failed"
        assert ask(ledger, "done").digest == "aa"
        assert ledger.verify_receipt(done.receipt())
        assert ledger.entries("patients")[-1].kind == "epoch"
        with pytest.raises(BudgetExceeded, match="0 of 1 remain"):
            ask(ledger, "q9", cost=1)
    with Ledger.open(path, anchor=anchor) as ledger:
        ledger.raise_limit("patients", 2 * NANO)
        assert ask(ledger, "q9").charged
        assert ledger.verify().ok
    # The same old copy once more is behind the new epoch, however many entries it grows.
    shutil.copy(f"{path}.old", path)
    with pytest.raises(LedgerBehindAnchor, match="epoch"):
        Ledger.open(path, anchor=anchor)


def lose(path: Path, anchor: Path, change: Callable[[Ledger], Any]) -> None:
    """Let a part of a ledger be lost: what is changed after a copy was made."""
    shutil.copy(path, f"{path}.old")
    with Ledger.open(path, anchor=anchor) as ledger:
        change(ledger)
    shutil.copy(f"{path}.old", path)


def begun(path: Path, anchor: Path) -> tuple[Account, dict[str, Any]]:
    """Open a new epoch; return the account and what the entry says."""
    with Ledger.open_epoch(path, anchor=anchor) as ledger:
        assert ledger.verify().problems == ()
        return ledger.account("patients"), dict(ledger.entries()[-1].data)


def test_what_a_lost_part_may_have_allowed_counts_as_spent_with_its_raised_limit(
    path: Path, anchor: Path
) -> None:
    with begin(path, anchor) as ledger:
        ask(ledger, "q0", NANO // 2)

    def change(ledger: Ledger) -> None:
        ledger.raise_limit("patients", 50 * NANO)
        for number in range(9):
            ask(ledger, f"lost{number}", 5 * NANO)
        assert ledger.account("patients").spent == 45_500_000_000

    lose(path, anchor, change)
    account, said = begun(path, anchor)
    assert account.spent >= 45_500_000_000
    assert (account.limit, account.remaining) == (50 * NANO, 0)
    assert said == {"epoch": 1, "accounts": {"patients": 50 * NANO}, "bounded": False, "lost": {}}


def test_a_new_epoch_is_bounded_if_no_limit_declaration_or_rule_changed_in_the_lost_part(
    path: Path, anchor: Path
) -> None:
    begin(path, anchor).close()
    lose(path, anchor, lambda ledger: ask(ledger, "lost"))
    account, said = begun(path, anchor)
    assert said["bounded"] is True
    assert account.spent == account.limit == NANO


UNBOUNDED: dict[str, Callable[[Ledger], Any]] = {
    "a rule was added": lambda ledger: ledger.open_account(
        "patients", {}, limit=None, rules={"adults": {"where": "age >= 18"}}
    ),
    "the declaration was amended": lambda ledger: ledger.amend(
        "patients", {"age": [0, 120]}, rules={}, reason="forgotten", learned_from_rows=False
    ),
    "the budget was raised": lambda ledger: ledger.raise_limit("patients", 2 * NANO),
    "a counter was limited": lambda ledger: ledger.limit_counter(
        "patients", "rule", 5, by="owner", reason="a study"
    ),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_new_epoch_is_not_bounded_if_in_the_lost_part(path: Path, anchor: Path, name: str) -> None:
    begin(path, anchor).close()
    lose(path, anchor, UNBOUNDED[name])
    assert begun(path, anchor)[1]["bounded"] is False


@pytest.mark.parametrize("how", ["missing", "unreadable", "another's", "of an earlier version"])
def test_a_new_epoch_is_not_bounded_by_an_anchor_that_is(
    path: Path, anchor: Path, tmp_path: Path, how: str
) -> None:
    begin(path, anchor).close()
    lose(path, anchor, lambda ledger: ask(ledger, "lost"))
    content = json.loads(anchor.read_text())
    if how == "missing":
        anchor.unlink()
    elif how == "unreadable":
        anchor.write_text("{")
    elif how == "another's":
        anchor.write_text(json.dumps({**content, "ledger": "other"}))
    else:
        anchor.write_text(json.dumps({name: content[name] for name in ("ledger", "epoch", "seq", "hash")}))
    account, said = begun(path, anchor)
    assert said["bounded"] is False
    assert account.remaining == 0


def test_a_new_epoch_is_not_bounded_where_two_histories_went_apart(path: Path, anchor: Path) -> None:
    begin(path, anchor).close()
    kept = anchor.read_text()
    lose(path, anchor, lambda ledger: ask(ledger, "lost"))
    lost = anchor.read_text()
    anchor.write_text(kept)  # restored together with the copy, and used for a while
    with Ledger.open(path, anchor=anchor) as ledger:
        ask(ledger, "q1")
        ask(ledger, "q2")
    anchor.write_text(lost)
    assert begun(path, anchor)[1]["bounded"] is False


def test_an_account_that_only_the_lost_part_knew_is_not_given_its_budget_again(
    path: Path, anchor: Path
) -> None:
    begin(path, anchor).close()

    def change(ledger: Ledger) -> None:
        ledger.open_account("bank", {}, limit=2 * NANO, rules={})
        ledger.reserve("bank", analyst="owner", key="q", cost=2 * NANO, record={})

    lose(path, anchor, change)
    assert begun(path, anchor)[1]["lost"] == {"bank": 2 * NANO}
    with Ledger.open(path, anchor=anchor) as ledger:
        with pytest.raises(Refused, match=r"part of the ledger that is lost, with ε=2.*more than 2"):
            ledger.open_account("bank", {}, limit=2 * NANO, rules={})
        bank = ledger.open_account("bank", {}, limit=3 * NANO, rules={})
        assert (bank.spent, bank.remaining) == (2 * NANO, NANO)
        with pytest.raises(Refused, match="may have been used up in the part of the ledger that was lost"):
            ledger.reserve("bank", analyst="owner", key="q", cost=1, record={}, counters={"rule": 5})
        assert ledger.verify().problems == ()


def test_a_new_epoch_uses_up_counters_and_the_limits_of_analysts(path: Path, anchor: Path) -> None:
    why = {"by": "owner", "reason": "a study"}
    with begin(path, anchor) as ledger:
        ledger.grant("patients", "ann", limit=NANO, **why)
        ledger.reserve("patients", analyst="ann", key="q", cost=1, record={}, counters={"rule": 5})
    lose(path, anchor, lambda ledger: ledger.raise_limit("patients", 2 * NANO))
    begun(path, anchor)
    with Ledger.open(path, anchor=anchor) as ledger:
        ledger.raise_limit("patients", 9 * NANO)
        assert ledger.counters("patients")[0].remaining == 0
        with pytest.raises(BudgetExceeded, match="0 of 1 remain for analyst 'ann'"):
            ledger.reserve("patients", analyst="ann", key="q2", cost=1, record={})
        ledger.grant("patients", "ann", limit=2 * NANO, **why)
        for counters, refusal in (({"rule": 5}, "5 are used"), ({"other": 5}, "may have been used up")):
            with pytest.raises(Refused, match=refusal):
                ledger.reserve("patients", analyst="ann", key="q2", cost=1, record={}, counters=counters)
        ledger.limit_counter("patients", "other", 5, used=3, **why)
        # What was counted once may have been counted in the lost part, so nothing is known to be counted.
        asked = {"analyst": "ann", "cost": 1, "record": {}, "counters": {"other": 5}, "once": {"other": "a"}}
        assert ledger.reserve("patients", key="q2", **asked).charged
        assert ledger.reserve("patients", key="q3", **asked).charged
        assert [item.remaining for item in ledger.counters("patients")] == [0, 0]
        assert ledger.verify().problems == ()
    with Ledger.open(path, anchor=anchor) as ledger:
        assert ledger.verify().problems == ()


def test_an_anchor_of_the_version_before_is_read_and_gets_the_limits_with_the_next_entry(
    path: Path, anchor: Path
) -> None:
    with begin(path, anchor) as ledger:
        anchor.write_text(json.dumps(ledger.head().to_dict()))
    with Ledger.open(path, anchor=anchor) as ledger:
        assert "limits" not in json.loads(anchor.read_text())
        ask(ledger, "q1")
        content = json.loads(anchor.read_text())
        assert content["limits"] == {"patients": NANO}
        assert content["changed"]["seq"] == 2
        assert ledger.head().to_dict().items() <= content.items(), "the version before reads the head from it"


@pytest.mark.parametrize("name", [".new", ".lock"])
def test_nobody_can_have_the_anchor_written_over_another_file(anchor: Path, path: Path, name: str) -> None:
    begin(path, anchor).close()
    victim = anchor.with_name("victim")
    victim.write_text("precious")
    Path(f"{anchor}.lock").unlink()
    Path(f"{anchor}{name}").symlink_to(victim)
    try:
        with Ledger.open(path, anchor=anchor) as ledger:
            ask(ledger, "q1")
    except LedgerError as error:
        assert "the anchor cannot be written" in str(error)  # noqa: PT017 - going on without it is as good
    assert victim.read_text() == "precious"


def test_what_a_killed_writer_left_beside_the_anchor_is_swept(anchor: Path, path: Path) -> None:
    begin(path, anchor).close()
    left = anchor.with_name(".data.anchor.new.abc")
    left.write_text("half")
    with Ledger.open(path, anchor=anchor) as ledger:
        ask(ledger, "q1")
    assert sorted(item.name for item in anchor.parent.iterdir()) == ["data.anchor", "data.anchor.lock"]
    assert all(item.stat().st_mode & 0o077 == 0 for item in anchor.parent.iterdir())


def test_a_new_epoch_is_refused_while_ledger_and_anchor_agree(location: str, anchor: Path) -> None:
    begin(location, anchor).close()
    with pytest.raises(LedgerError, match="not behind its anchor"):
        Ledger.open_epoch(location, anchor=anchor)
    with Ledger.open(location, anchor=anchor) as ledger:
        assert ledger.account("patients").remaining == NANO


def test_a_new_epoch_of_a_ledger_that_is_not_there_is_an_error(path: Path, anchor: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open_epoch(path, anchor=anchor)


def test_the_anchor_never_goes_back_under_concurrency(anchor: Path) -> None:
    heads = [Head(ledger="1f", epoch=0, seq=seq, hash=f"{seq:064x}") for seq in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda head: Anchor(anchor).advance(Anchored(head)), reversed(heads)))
    assert anchored_head(anchor) == heads[-1]


@pytest.mark.parametrize("where", [".", "missing/data.anchor"])
def test_an_anchor_that_cannot_be_a_file_is_a_clear_error(tmp_path: Path, path: Path, where: str) -> None:
    with pytest.raises(LedgerError, match="must be a file in an existing directory"):
        Ledger.open(path, anchor=tmp_path / where)
    assert not path.exists()


def test_a_charge_whose_anchor_cannot_be_written_stands_and_is_not_reported_as_made(
    location: str, anchor: Path
) -> None:
    with begin(location, anchor) as ledger:
        lock = anchor.with_name("data.anchor.lock")
        lock.unlink()
        lock.mkdir()
        with pytest.raises(LedgerError, match=r"the anchor cannot be written.*what was charged stands"):
            ask(ledger, "q1")
        lock.rmdir()
        assert ledger.account("patients").spent == NANO // 10
        assert not ask(ledger, "q1").charged
        assert anchored_head(anchor) == ledger.head()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_born_while_the_anchor_is_written_does_not_keep_its_lock(anchor: Path) -> None:
    with Anchor(anchor)._locked():
        child = IdleChild()
    try:
        with open(f"{anchor}.lock", "rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as another process does, which would wait
    finally:
        child.end()
