# SPDX-License-Identifier: Apache-2.0
"""`connect`: a curator on another machine, with the face of `Curator`."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, overload
from urllib.parse import quote

from anonymaly.ask import last_receipt
from anonymaly.ask.acceptance import refuse_no_question
from anonymaly.ask.answer import Answer, Preview, Previews
from anonymaly.ask.answer_list import Answers
from anonymaly.ask.connection import ServerConnection
from anonymaly.ask.odds import BudgetInWords
from anonymaly.ask.plan import Plan
from anonymaly.ask.query import Query, T
from anonymaly.ask.remote_owner import RemoteOwner
from anonymaly.ask.server_words import read_problem, understood
from anonymaly.ask.told import (
    Downloaded,
    RemoteStatement,
    read_answer,
    read_limit,
    read_preview,
    read_receipt,
)
from anonymaly.core.epsilon import read_amount, to_text
from anonymaly.core.progress import tell
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import AnswerFailed, InputError, LedgerDamaged
from anonymaly.ledger.records import ChargeReceipt
from anonymaly.noise.entropy import fresh_key

PAUSE_SECONDS = 0.2  # between two looks at a job that runs
WAIT_SECONDS = 5  # that one request waits for an answer; then progress is told, and the next one waits


def connect(url: str, *, key: str | None = None) -> RemoteCurator:
    """Open a table of a server, as an analyst: the same face as a `Curator`.

    Parameters
    ----------
    url : str
        The table's address, such as ``https://curator.example/patients``.
    key : str, optional
        The key that the owner gave; by default from the environment (``ANONYMALY_KEY``) or the keyring.

    Returns
    -------
    RemoteCurator
        What is asked of it is charged to the analyst's own limit, on the owner's machine.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.connect("http://curator.example/patients", key="anm_1")
    Traceback (most recent call last):
    anonymaly.errors.InputError: url: would send the key to curator.example where anybody on the way can read
    it. Use https.
    """
    return RemoteCurator(ServerConnection(url, key))


class RemoteCurator:
    """Asks one table of a server; get one with `connect`.

    A request that is lost on the way is sent again, and charged once. The last receipt is kept, by server and
    table, in the user's folder for such things: nothing is asked of a ledger that does not know it any more.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._last = last_receipt.place(connection.host, connection.table)
        try:
            connection.compare_versions()
            told = self._table()
            with understood(connection.host, InputError):
                self.declaration = Declaration.read(**told["declaration"]).with_adjacency(told["adjacency"])
        except BaseException:
            connection.close()
            raise

    @overload
    def preview(self, query: Query, *, repeat: int = 0) -> Preview: ...
    @overload
    def preview(self, query: Sequence[Query], *, repeat: int = 0) -> Previews: ...
    def preview(self, query: Query | Sequence[Query], *, repeat: int = 0) -> Preview | Previews:
        """Return the cost, promise and expected error of questions; spends nothing.

        It always has the full cost: what was asked before is found when it is asked.
        """
        if isinstance(query, Sequence) and not isinstance(query, str):
            return Previews(tuple(self._preview(item, repeat) for item in query))
        return self._preview(query, repeat)

    def plan(self, query: Query, *, for_error: float | str | None = None) -> Plan:
        """Return the least ε that gives a wanted error; spends nothing."""
        told = self._connection.post(self._of("plan"), {"query": _plain(query), "for_error": for_error})
        with understood(self._connection.host, InputError):
            return Plan.read(query, told)

    def rehearse(self, query: Query[T], *, rows: int | None = None, seed: int | None = None) -> Answer[T]:
        """Answer a question from invented rows, on the server: free."""
        told = self._ended("rehearse", {"query": _plain(query), "rows": rows, "seed": seed})
        with understood(self._connection.host):
            kept = told["bytes"]
            if kept is None:
                raise InputError(
                    "the rehearsal's value is too large to be sent",
                    field="rows",
                    next_step="Rehearse with fewer rows.",
                )
            file = Downloaded()
            file.path.write_bytes(base64.b64decode(kept))
            return read_answer(told, file, query).labelled(query)

    def ask(self, query: Query[T], *, repeat: int = 0) -> Answer[T]:
        """Charge your limit, and return the answer when the server may show it.

        The same question again is free; ``repeat=1`` pays for a fresh draw.
        """
        asked = {"query": _plain(query), "repeat": repeat}
        self.refuse_old_ledger()
        told = self._ended("ask", asked)
        answer = self._read(told, query)
        receipt: ChargeReceipt | None = answer.receipt
        if receipt is not None:
            if receipt.cost != query.cost:
                raise LedgerDamaged(
                    f"asked for ε={to_text(query.cost)}, and the receipt says {to_text(receipt.cost)}",
                    field="receipt",
                    next_step="Tell the owner.",
                )
            if not self.verify(receipt):
                raise self._gone("the answer's own receipt")
            last_receipt.remember(self._last, receipt.to_dict())
        return answer.labelled(query)

    @property
    def budget(self) -> float | None:
        """The most ε that your answers together may cost; None without a limit of your own."""
        return _number(self.allowed["limit"])

    @property
    def spent(self) -> float:
        """The ε that is charged to you so far."""
        return float(self.allowed["spent"])

    @property
    def remaining(self) -> float | None:
        """The ε that you may still spend; None without a limit of your own."""
        return _number(self.allowed["remaining"])

    @property
    def allowed(self) -> Mapping[str, Any]:
        """Your own ``limit``, ``spent`` and ``remaining`` as decimal text; an owner's are the account's."""
        told = self._table()
        with understood(self._connection.host):
            found = told["own"] or told["account"]
            return {name: found[name] for name in ("limit", "spent", "remaining")}

    def in_words(self) -> BudgetInWords:
        """Say what your limit means for one person."""
        own, declared = self.allowed, self.declaration
        limit = read_limit(own["limit"])
        if limit is None:
            raise InputError(
                "there is no limit of your own to put into words",
                field="budget",
                next_step="Name a question to plan.",
            )
        spent = read_amount(own["spent"])
        return BudgetInWords(limit, spent, declared.adjacency, declared.person is not None)

    def answers(self) -> Answers:
        """Return every answer that was released to you, oldest first, without those that were erased."""
        return Answers(self._recall(item) for item in self.listed() if not item.get("erased"))

    def answer(self, number: int) -> Answer:
        """Return an answer by its number."""
        for item in self.listed():
            if item["number"] == number:
                return self._recall(item)
        raise InputError(
            f"there is no answer {number}",
            field="number",
            next_step="`answers()` lists those that were released to you.",
        )

    def listed(self) -> list[dict[str, Any]]:
        """Return a line for each answer of yours, oldest first: its number, its question, and no value."""
        found: dict[tuple[Any, Any], dict[str, Any]] = {}
        for item in self._connection.pages(self._of("answers")):
            with understood(self._connection.host):
                if item["person"] == self.who["person"]:
                    # Asked again, it is another job with the same answer.
                    found.setdefault((item["number"], item["asks"]), item)
        return list(found.values())

    def statement(self) -> RemoteStatement:
        """Return what was charged to you, and what is promised."""
        return RemoteStatement(self._connection.get(self._of("statement")))

    def receipts(self) -> list[ChargeReceipt]:
        """Return the receipts of all your answers."""
        found = [self._connection.get(f"{self._of_job(item)}/receipt") for item in self.listed()]
        with understood(self._connection.host):
            return [held for told in found if (held := read_receipt(told)) is not None]

    def verify(self, receipt: ChargeReceipt | Mapping[str, Any]) -> bool:
        """Say whether a receipt is for a charge, and an answer, that stand in the server's ledger."""
        plain = receipt.to_dict() if isinstance(receipt, ChargeReceipt) else dict(receipt)
        return self._connection.post("/v1/verify", {"receipt": plain}).get("ok") is True

    def verify_ledger(self) -> dict[str, Any]:
        """Check every hash and sum of the ledger, on the server; for owners and auditors."""
        found: dict[str, Any] = self._connection.get(self._of("ledger", "verification"))
        return found

    @cached_property
    def who(self) -> Mapping[str, Any]:
        """Whose key it is: ``person`` and ``role``."""
        found: Mapping[str, Any] = self._connection.get("/v1/me")
        return found

    @cached_property
    def owner(self) -> RemoteOwner:
        """What only an owner's key may do: keys, grants, the table's budget, and its pauses."""
        return RemoteOwner(self._connection)

    @property
    def last_receipt(self) -> dict[str, Any] | None:
        """The last receipt that was kept on this machine."""
        return last_receipt.recall(self._last)

    def refuse_old_ledger(self) -> None:
        """Refuse a server whose ledger does not know the last charge that was seen here."""
        known = self.last_receipt
        if known is not None and not self.verify(known):
            raise self._gone("the last receipt that you got")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> RemoteCurator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteCurator({self._connection.host}/{self._connection.table})"

    def _of(self, *rest: str) -> str:
        return self._connection.of_table(*rest)

    def _of_job(self, told: Mapping[str, Any]) -> str:
        # Made here, not taken from what the server says: a link could lead the key to another host.
        with understood(self._connection.host):
            return f"/v1/answers/{quote(told['job'], safe='')}"

    def _table(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._connection.get(self._of())
        return found

    def _preview(self, query: Query, repeat: int) -> Preview:
        told = self._connection.post(self._of("preview"), {"query": _plain(query), "repeat": repeat})
        with understood(self._connection.host, InputError):
            return read_preview(told, query)

    def _ended(self, what: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a question, wait for what comes of it, and return the answer as it is told."""
        # One key for all tries: whichever arrives, the server knows the others as the same.
        headers = {"Idempotency-Key": fresh_key().hex(), "Prefer": f"wait={WAIT_SECONDS}"}
        began = time.monotonic()
        job = self._connection.post(self._of(what), content, headers)
        with understood(self._connection.host):
            while job["state"] == "running":
                passed = time.monotonic() - began
                tell("seconds", int(passed), int(passed + job["release_after"]) + 1)
                sent = time.monotonic()
                job = self._connection.get(f"/v1/jobs/{quote(job['job'], safe='')}", wait=WAIT_SECONDS)
                if job["state"] == "running":  # a server may let nobody wait; then we look again in a moment
                    time.sleep(max(0.0, sent + PAUSE_SECONDS - time.monotonic()))
            if job["state"] == "done":
                told: Mapping[str, Any] = job["answer"]
                return told
            problem = job["problem"]
            if job["state"] == "failed":
                raise AnswerFailed(problem["problem"], next_step=problem["next_step"])
            raise read_problem(problem)

    def _recall(self, item: Mapping[str, Any]) -> Answer:
        return replace(self._read(self._connection.get(self._of_job(item)), None), charged_nano=0)

    def _read(self, told: Mapping[str, Any], query: Query | None) -> Answer:
        """Download an answer, and refuse one that is not what its receipt is for."""
        file = Downloaded()
        with file.path.open("w+b") as target:
            self._connection.download(f"{self._of_job(told)}/content", target)
        with understood(self._connection.host):
            receipt = read_receipt(told)
            if receipt is None and self.who["role"] == "analyst":
                raise self._not_the_one("no receipt came with the answer")
            digest = told["receipt"]["digest"] if receipt is None else receipt.digest
            if file.digest() != digest:
                raise self._not_the_one("the answer that arrived is not the one that its receipt is for")
            if receipt is not None and receipt.account != self.declaration.name:
                raise self._not_the_one(f"the receipt is of another account: {receipt.account!r}")
        with understood(self._connection.host, OSError):  # as of bytes that are no table
            return read_answer(told, file, query)

    def _not_the_one(self, problem: str) -> LedgerDamaged:
        step = "Ask again, which is free, and tell the owner if it happens again."
        return LedgerDamaged(problem, field="receipt", next_step=step)

    def _gone(self, what: str) -> LedgerDamaged:
        return LedgerDamaged(
            f"the ledger of {self._connection.host}/{self._connection.table} does not know {what}",
            field="ledger",
            next_step="An old copy may have been put back. Tell the owner; nothing more was asked. If the "
            f"account was begun anew, remove {self._last}.",
        )


def _plain(query: Query) -> dict[str, Any]:
    refuse_no_question(query)
    # How an answer is put into words is nobody else's business.
    return {name: item for name, item in query.to_dict().items() if name not in query.wording_fields}


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
