# SPDX-License-Identifier: Apache-2.0
"""A table's budget: what is left over time, raising it, pausing and resuming."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.burn_down import steps_of
from anonymaly.server import owning
from anonymaly.server.bookkeeping import entries_of
from anonymaly.server.console.burn_down import burn_down
from anonymaly.server.console.doing import Checked, attempt_for, moved, try_twice
from anonymaly.server.console.owner_forms import read_body
from anonymaly.server.console.rendering import segment
from anonymaly.server.console.table_head import head_of, seen_by
from anonymaly.server.console.visit import ConsolePage, Outcome, Shown, Visit
from anonymaly.server.proposals import list_proposals
from anonymaly.server.routes.owner import BudgetBody, budget_of

LISTED = 25
NEVER_LOWERED = (
    "A budget is never lowered again",
    "All answers together may then tell more about each person than was said before.",
)
DONE = {
    "raised": "The budget is raised.",
    "paused": "The table is paused: nothing is charged until it is resumed.",
    "resumed": "The table is resumed: questions are charged again.",
    "running": "It is under way, and not done yet. Open this page again in a minute.",
}


def budget_page(visit: Visit) -> Shown:
    """Show what is left over time."""
    return _shown(visit, None)


def raise_page(visit: Visit) -> Shown:
    """Ask for the new budget."""
    seen = seen_by(visit)
    nothing = {"to": "", "reason": ""}
    return Shown("raise.html", {"table": head_of(seen), "problem": None, "said": nothing, "checked": None})


async def raise_form(visit: Visit) -> Outcome:
    """Raise the budget, which a second page asks about first: it is never lowered again."""
    table = visit.places["table"]
    seen = await run_in_threadpool(seen_by, visit)
    data = {name: visit.form.get(name) for name in ("to", "reason")}

    def check() -> Checked:
        body = read_body(BudgetBody, data)
        to = budget_of(body)
        return Checked(
            f"The budget of {table} would rise to ε = {to_text(to)}",
            [] if seen.account is None else [f"It is ε = {to_text(seen.account.limit)} now."],
            body.reason,
            f"Raise it to ε = {to_text(to)}",
            lambda: owning.raise_budget(visit.services, visit.caller, table, to, body.reason),
            NEVER_LOWERED,
        )

    tried = await try_twice(visit, check)
    if tried.done is not None:
        return moved(f"/tables/{segment(table)}/budget", tried.done, "raised")
    again = {"table": head_of(seen), "problem": tried.problem, "said": data, "checked": tried.checked}
    return Shown("raise.html", again, tried.status)


async def pause_form(visit: Visit) -> Outcome:
    """Pause the table."""
    return await _change(visit, "pause")


async def resume_form(visit: Visit) -> Outcome:
    """Resume the table."""
    return await _change(visit, "resume")


async def _change(visit: Visit, what: str) -> Outcome:
    table = visit.places["table"]
    await run_in_threadpool(seen_by, visit)
    change = owning.pause if what == "pause" else owning.resume
    said, problem = await attempt_for(
        visit, lambda reason: change(visit.services, visit.caller, table, reason)
    )
    if said is not None:
        return moved(f"/tables/{segment(table)}/budget", said, f"{what}d")
    return await run_in_threadpool(_shown, visit, problem)


def _shown(visit: Visit, problem: dict[str, Any] | None) -> Shown:
    seen = seen_by(visit)
    table = seen.table.name
    steps = steps_of(entries_of(visit.services, visit.caller, table), table)
    now = datetime.now(UTC).isoformat()
    data = {
        "table": head_of(seen),
        "steps": [step.to_dict() for step in reversed(steps[-LISTED:])],
        "changes": len(steps),
        "now": now,
        "waiting": list_proposals(visit.services.state, table=table, waiting=True),
        "done": DONE.get(visit.query.get("done")),
        "problem": problem,
        "reason": visit.form.get("reason"),
    }
    status = problem["status"] if problem else 200
    return Shown("budget.html", data, status, {"picture": burn_down(steps, now)})


PAGES = (
    ConsolePage("GET", "/tables/{table}/budget", budget_page),
    ConsolePage("GET", "/tables/{table}/budget/raise", raise_page),
    ConsolePage("POST", "/tables/{table}/budget/raise", raise_form),
    ConsolePage("POST", "/tables/{table}/pause", pause_form),
    ConsolePage("POST", "/tables/{table}/resume", resume_form),
)
