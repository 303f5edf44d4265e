# SPDX-License-Identifier: Apache-2.0
"""An account and an analyst's part of it in one look: what four looks would have found."""

from __future__ import annotations

from pathlib import Path

from anonymaly.ledger import Ledger

NANO = 10**9


def test_one_look_finds_what_several_would(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "patients.ledger") as ledger:
        assert ledger.seen_by("patients", "ann") is None
        account = ledger.open_account("patients", {}, limit=NANO, rules={})
        before = ledger.seen_by(account, "ann")
        assert before is not None
        assert (before.account, before.grant, before.allowance, before.refusal) == (account, None, None, None)

        given = ledger.grant(account, "ann", limit=NANO // 2, by="olga", reason="study 12")
        ann, ben = ledger.seen_by(account, "ann"), ledger.seen_by(account, "ben")
        assert ann is not None
        assert (ann.grant, ann.allowance) == (given, ledger.allowance(account, "ann"))
        assert ben is not None
        assert (ben.grant, ben.allowance) == (None, None)
        assert "'ben' has no grant" in str(ben.refusal)

        ledger.revoke(account, "ann", by="olga", reason="it is over")
        ended = ledger.seen_by(account, "ann")
        assert ended is not None
        assert ended.grant is None
        assert "was revoked" in str(ended.refusal)
