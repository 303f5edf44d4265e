# SPDX-License-Identifier: Apache-2.0
"""What an owner has done, each by one job: for HTTP and for pages alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool

from anonymaly.server.amending import Amended, compare, refuse_amended_since
from anonymaly.server.authentication import Caller
from anonymaly.server.jobs import Kind
from anonymaly.server.services import Services, view
from anonymaly.server.submitting import have_done


async def grant(
    services: Services, caller: Caller, table: str, analyst: str, terms: Mapping[str, Any], reason: str
) -> dict[str, Any]:
    """Grant an analyst questions; it takes the place of an earlier grant."""
    # The limit follows from the terms, in the ledger: computed here, from what is spent, it would renew a
    # period whenever the same grant is sent again.
    payload = {"analyst": analyst, "limit": None, "terms": terms, "reason": reason}
    return await _of_table(services, caller, "grant", table, payload)


async def revoke(services: Services, caller: Caller, table: str, analyst: str, reason: str) -> dict[str, Any]:
    """Revoke an analyst's grant; what was charged stands."""
    return await _of_table(services, caller, "revoke", table, {"analyst": analyst, "reason": reason})


async def raise_budget(
    services: Services, caller: Caller, table: str, to: int, reason: str
) -> dict[str, Any]:
    """Raise a table's budget to so many nano-ε."""
    return await _of_table(services, caller, "raise", table, {"to": to, "reason": reason})


async def pause(services: Services, caller: Caller, table: str, reason: str) -> dict[str, Any]:
    """Charge nothing more until the table is resumed."""
    return await _of_table(services, caller, "pause", table, {"reason": reason})


async def resume(services: Services, caller: Caller, table: str, reason: str) -> dict[str, Any]:
    """Let questions be charged again."""
    return await _of_table(services, caller, "resume", table, {"reason": reason})


async def amend(
    services: Services,
    caller: Caller,
    table: str,
    fields: Mapping[str, Any],
    said: Mapping[str, Any],
    replaces: int | None = None,
) -> dict[str, Any]:
    """Propose another declaration to the host, in place of the one that is in force now.

    ``said`` is ``reason`` and ``learned_from_rows``. ``replaces`` is the entry of the declaration that was
    looked at; if another is in force by now, it is refused.
    """
    found = await run_in_threadpool(amendment_of, services, caller, table, fields)
    if replaces is not None:
        refuse_amended_since(found.amendment.replaces, replaces)
    payload = {"declaration": dict(fields), "replaces": found.amendment.replaces, **said}
    return await _of_table(services, caller, "amend", table, payload)


def amendment_of(services: Services, caller: Caller, table: str, fields: Mapping[str, Any]) -> Amended:
    """Say what another declaration would change; nothing is written."""
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        return compare(seen.account, seen.table.declaration, fields)


async def make_key(services: Services, caller: Caller, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Make a key; its text is in what this returns, and nowhere afterwards."""
    return await have_done(services, caller, "key", None, wanted)


async def revoke_key(services: Services, caller: Caller, number: str) -> dict[str, Any]:
    """Revoke a key for good."""
    return await have_done(services, caller, "revoke-key", None, {"id": number})


async def _of_table(
    services: Services, caller: Caller, kind: Kind, table: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    seen = await run_in_threadpool(view, services, caller, table)
    return await have_done(services, caller, kind, seen.table, payload)
