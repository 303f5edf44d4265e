# SPDX-License-Identifier: Apache-2.0
"""What a ledger must hold, counted from its entries alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

from anonymaly.ledger.fixed import fixed
from anonymaly.ledger.recount_terms import (
    agree,
    keep_terms,
    leave_as_if_new,
    leave_to_others,
    refuse_overcommitment,
    used_up,
)
from anonymaly.ledger.schema import WITH_TERMS
from anonymaly.ledger.sums import AccountSums, ImpossibleError, require

Row = tuple[str, str, str, int, str, int | None]  # account, key, analyst, cost, state, outcome


class Recount:
    """Counts entry after entry, from the first one on or from where they were checked before.

    ``reservations`` and ``again`` hold the rows that the counted entries made or changed; the sums, all
    others.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.format = 1  # the least that the entries ask for; a new ledger begins at the newest
        self.accounts: dict[str, AccountSums] = {}
        self.lost: dict[str, int] = {}  # the limits of accounts that only the anchor of a lost ledger knew
        self.reservations: dict[int, Row] = {}
        self.again: dict[int, tuple[str, str, str]] = {}
        self._keys: set[tuple[str, str]] = set()

    @classmethod
    def of(cls, sums: Any) -> Self:
        """Go on from sums that ``sums`` returned."""
        made = cls()
        made.epoch, made.format, made.lost = sums["epoch"], sums["format"], dict(sums["lost"])
        made.accounts = {name: AccountSums(**item) for name, item in sums["accounts"].items()}
        for name, account in made.accounts.items():
            for seq, (key, analyst, cost) in account.reserved.items():
                made.reservations[int(seq)] = (name, key, analyst, cost, "reserved", None)
                made._keys.add((name, key))
        return made

    def sums(self) -> dict[str, Any]:
        """Return what the entries add up to, as plain data."""
        accounts = {name: asdict(item) for name, item in self.accounts.items()}
        for item in accounts.values():
            if not item["terms"]:
                del item["terms"]  # what was written down before there were any has none
        return {"epoch": self.epoch, "format": self.format, "lost": dict(self.lost), "accounts": accounts}

    def add(self, seq: int, kind: str, account: Any, data: Any) -> None:
        """Count one entry, or raise ImpossibleError."""
        if kind in _OF_THE_LEDGER:
            require(account is None, "is not about one account")
        elif kind != "open" and account is not None:
            require(account in self.accounts, "is about an account that was not opened")
        known = getattr(self, f"_{kind}", None) if kind in _KINDS else None
        if known is None:
            raise ImpossibleError("is of no known kind")
        known(seq, account, data)

    def _open(self, seq: int, account: str, data: Any) -> None:
        require(account not in self.accounts, "opens an account twice")
        spent = data.get("spent", 0)
        require(spent == self.lost.pop(account, 0) < data["limit"], "opens an account with a wrong budget")
        made = AccountSums(data["limit"], spent, seq, fixed(data["declaration"]), lost="spent" in data)
        self.accounts[account] = made

    def _rule(self, seq: int, account: str, data: Any) -> None:
        require(set(data) == {"name", "rule"}, "adds no rule")

    def _limit(self, seq: int, account: str, data: Any) -> None:
        sums = self.accounts[account]
        if "counter" not in data:
            require(data["from"] == sums.limit < data["to"], "does not raise the limit")
            sums.limit = data["to"]
            return
        limit, used = sums.counters.get(data["counter"], [None, 0])
        require(data["from"] == limit and used <= data["used"] <= data["to"], "sets a counter back")
        sums.counters[data["counter"]] = [data["to"], data["used"]]

    def _amendment(self, seq: int, account: str, data: Any) -> None:
        sums = self.accounts[account]
        require(fixed(data["declaration"]) == sums.fixed, "amends what cannot be amended")
        require(isinstance(data["learned_from_rows"], bool) and "rules" in data, "amends nothing")
        sums.declared = seq

    def _reserve(self, seq: int, account: str, data: Any) -> None:
        sums = self.accounts[account]
        key, analyst, cost = data["key"], data["analyst"], data["cost"]
        require(cost > 0, "charges nothing")
        require((account, key) not in self._keys, "charges a question twice")
        require(not sums.paused, "charges an account that is paused")
        require(data.get("declaration", sums.declared) == sums.declared, "is of an earlier declaration")
        require(sums.spent + cost <= sums.limit, "spends more than the limit")
        sums.spent += cost
        keep_terms(sums, analyst, data["record"].get("question"), data)
        self._charge_analyst(sums, analyst, cost, data.get("grant"))
        leave_to_others(sums, analyst)
        for name, (limit, by) in data.get("counters", {}).items():
            self._count(sums, name, limit, by)
        self._keys.add((account, key))
        sums.reserved[str(seq)] = [key, analyst, cost]
        self.reservations[seq] = (account, key, analyst, cost, "reserved", None)

    def _again(self, seq: int, account: str, data: Any) -> None:
        key, analyst, of = data["key"], data["analyst"], data["reservation"]
        # A reservation that ended before the entries from which this counts on is not known here.
        if of in self.reservations:
            known = self.reservations[of]
            require((account, key, data["cost"]) == (known[0], known[1], known[3]), "is of no reservation")
            require(analyst != known[2], "charges a question twice")
        require((account, key, analyst) not in self.again.values(), "charges a question twice")
        sums = self.accounts[account]
        keep_terms(sums, analyst, data.get("question"), data)
        leave_as_if_new(sums, analyst, data["cost"])
        self._charge_analyst(sums, analyst, data["cost"], data["grant"])
        for name, (limit, by) in data.get("counters", {}).items():
            self._count(sums, name, limit, by)
        self.again[seq] = (account, key, analyst)

    def _charge_analyst(self, sums: AccountSums, analyst: str, cost: int, grant: int | None) -> None:
        standing, revoked = sums.grants.get(analyst, [None, None])
        require(standing is not None or not sums.grants, "is charged to an analyst without a grant")
        require(grant == standing, "names another grant")
        require(revoked is None, "is charged to an analyst whose grant was revoked")
        limit, spent = sums.analysts.get(analyst, [None, 0])
        total = (spent or 0) + cost
        require(limit is None or total <= limit, "spends more than the analyst's limit")
        sums.analysts[analyst] = [limit, total]

    def _count(self, sums: AccountSums, name: str, limit: int, by: int) -> None:
        require(name in sums.counters or not sums.lost, "counts what a lost part may have counted")
        standing, used = sums.counters.get(name, [limit, 0])
        require(by > 0 and used + by <= min(limit, standing), f"counts past the limit of '{name}'")
        sums.counters[name] = [standing, used + by]

    def _commit(self, seq: int, account: str, data: Any) -> None:
        self._end(seq, "committed", account, data)

    def _fail(self, seq: int, account: str, data: Any) -> None:
        self._end(seq, "failed", account, data)

    def _end(self, seq: int, state: str, account: str, data: Any) -> None:
        number, sums = data["reservation"], self.accounts[account]
        require(str(number) in sums.reserved, "ends a reservation twice")
        key, analyst, cost = sums.reserved.pop(str(number))
        many, charged = sums.ended.get(state, [0, 0])
        sums.ended[state] = [many + 1, charged + cost]
        self.reservations[number] = (account, key, analyst, cost, state, seq)

    def _grant(self, seq: int, account: str, data: Any) -> None:
        sums, analyst, limit = self.accounts[account], data["analyst"], data["limit"]
        spent = sums.analysts.get(analyst, [None, 0])[1]
        require(limit is None or limit >= spent, "grants less than was spent")
        agree(sums, analyst, limit, spent or 0, data)
        sums.analysts[analyst] = [limit, spent]
        sums.grants[analyst] = [seq, None]
        refuse_overcommitment(sums, analyst, data["by"])

    def _revocation(self, seq: int, account: str, data: Any) -> None:
        sums, analyst = self.accounts[account], data["analyst"]
        granted, revoked = sums.grants.get(analyst, [None, None])
        require(granted is not None and revoked is None, "revokes what was not granted")
        spent = sums.analysts[analyst][1]
        sums.analysts[analyst] = [spent, spent]
        sums.grants[analyst] = [granted, seq]
        sums.terms.pop(analyst, None)

    def _pause(self, seq: int, account: str, data: Any) -> None:
        sums = self.accounts[account]
        require(data["paused"] is not sums.paused, "neither pauses nor resumes")
        sums.paused = data["paused"]

    def _consent(self, seq: int, account: str | None, data: Any) -> None:
        require(isinstance(data["subject"], dict), "consents to nothing")

    def _anchor(self, seq: int, account: None, data: Any) -> None:
        pass

    def _upgrade(self, seq: int, account: None, data: Any) -> None:
        require(self.format <= data["from"] < data["to"] <= WITH_TERMS, "is no upgrade")
        self.format = data["to"]

    def _epoch(self, seq: int, account: None, data: Any) -> None:
        require(data["epoch"] > self.epoch, "does not begin an epoch")
        require(set(data["accounts"]) == set(self.accounts), "begins an epoch of other accounts")
        self.epoch = data["epoch"]
        for name, limit in data["accounts"].items():
            sums = self.accounts[name]
            require(limit >= sums.limit, "lowers a limit")
            sums.limit = sums.spent = limit
            sums.lost = sums.lost or "bounded" in data
            sums.analysts = {analyst: used_up(sums, analyst) for analyst in sums.analysts}
            sums.counters = {counter: [most, most] for counter, (most, _) in sums.counters.items()}
        for name, limit in data.get("lost", {}).items():
            require(name not in self.accounts, "loses an account that is there")
            self.lost[name] = max(limit, self.lost.get(name, 0))


_OF_THE_LEDGER = {"anchor", "epoch", "upgrade"}
_OF_AN_ACCOUNT = {
    *("open", "rule", "limit", "amendment", "reserve", "again", "commit", "fail"),
    *("grant", "revocation", "pause", "consent"),
}
_KINDS = _OF_THE_LEDGER | _OF_AN_ACCOUNT
