# SPDX-License-Identifier: Apache-2.0
"""Keys: who has which, new ones, shown once, and revoking them for good."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool

from anonymaly.server import owning
from anonymaly.server.bookkeeping import keys_of
from anonymaly.server.console.doing import attempt, moved, shown_problem
from anonymaly.server.console.owner_forms import key_data, read_body
from anonymaly.server.console.visit import ConsolePage, Outcome, Shown, Visit
from anonymaly.server.keys import ROLES
from anonymaly.server.problems import Problem
from anonymaly.server.routes.keys import KeyBody
from anonymaly.server.routes.route import MOST_ITEMS

USUAL_DAYS = "90"
DONE = {
    "revoked": "The key is revoked, for good.",
    "running": "It is under way, and not done yet. Open this page again in a minute.",
}


def keys_page(visit: Visit) -> Shown:
    """Show all keys, and ask for a new one."""
    said = {
        "person": visit.query.get("person"),
        "role": "analyst",
        "expires_in_days": USUAL_DAYS,
        "label": "",
    }
    return _listed(visit, said, None, None)


async def key_form(visit: Visit) -> Outcome:
    """Make a key, and show it on the page that this returns: it is nowhere else afterwards."""
    made, problem = None, None
    data = key_data(visit.form)
    try:
        body = read_body(KeyBody, data)
        _refuse_slash(body.person)
    except Problem as wrong:
        problem = shown_problem(wrong)
    else:
        said, problem = await attempt(owning.make_key(visit.services, visit.caller, body.model_dump()))
        if said is not None and "id" not in said.get("result", {}):
            return moved("/keys", said, "running")
        if said is not None:
            made = {**said["result"], "person": body.person, "role": body.role}
    return await run_in_threadpool(_listed, visit, data, problem, made)


def revoke_key_page(visit: Visit) -> Shown:
    """Ask whether a key is to be revoked: it is for good."""
    return _revoking(visit, None)


async def revoke_key_form(visit: Visit) -> Outcome:
    """Revoke a key."""
    said, problem = await attempt(owning.revoke_key(visit.services, visit.caller, visit.places["key"]))
    if said is not None:
        return moved("/keys", said, "revoked")
    return await run_in_threadpool(_revoking, visit, problem)


def state_of(key: dict[str, Any]) -> str:
    """Say whether a key is valid."""
    if key["revoked_at"] is not None:
        return "revoked"
    ends = key["expires_at"]
    return "expired" if ends is not None and datetime.fromisoformat(ends) <= datetime.now(UTC) else "valid"


def _every(visit: Visit) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = None
    while True:
        page = keys_of(visit.services.state, after, MOST_ITEMS)
        found += [{**item, "state": state_of(item)} for item in page["items"]]
        after = page["next"]
        if after is None:
            return sorted(
                found, key=lambda item: (item["state"] != "valid", item["person"], item["created_at"])
            )


def _listed(
    visit: Visit, said: dict[str, Any], problem: dict[str, Any] | None, made: dict[str, Any] | None
) -> Shown:
    data = {
        "keys": _every(visit),
        "roles": ROLES,
        "said": said,
        "problem": problem,
        "made": made,
        "own": visit.caller.key.id,
        "done": DONE.get(visit.query.get("done")),
    }
    return Shown("keys.html", data, problem["status"] if problem else 200)


def _revoking(visit: Visit, problem: dict[str, Any] | None) -> Shown:
    key = next((item for item in _every(visit) if item["id"] == visit.places["key"]), None)
    data = {"key": key, "own": visit.caller.key.id, "problem": problem}
    return Shown("revoke_key.html", data, problem["status"] if problem else 200)


def _refuse_slash(person: str) -> None:
    """Refuse a person who could never be granted anything, as `RemoteOwner.make_key` does."""
    if "/" in person or person in (".", ".."):
        raise Problem(422, "must be a name without a slash", field="person", next_step="Give a short name.")


PAGES = (
    ConsolePage("GET", "/keys", keys_page),
    ConsolePage("POST", "/keys", key_form),
    ConsolePage("GET", "/keys/{key}/revoke", revoke_key_page),
    ConsolePage("POST", "/keys/{key}/revoke", revoke_key_form),
)
