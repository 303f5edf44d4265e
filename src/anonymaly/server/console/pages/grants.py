# SPDX-License-Identifier: Apache-2.0
"""Grants: who may ask what of a table, what is kept for whom; giving and revoking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.promised import Held, kept_for
from anonymaly.ledger.records import Grant
from anonymaly.ledger.terms import Terms, words_of
from anonymaly.server import owning, shown
from anonymaly.server.console.doing import Checked, attempt_for, moved, try_twice
from anonymaly.server.console.owner_forms import ALLOTTED, grant_data, read_body
from anonymaly.server.console.rendering import segment
from anonymaly.server.console.table_head import head_of, seen_by
from anonymaly.server.console.visit import ConsolePage, Outcome, Shown, Visit
from anonymaly.server.problems import Problem
from anonymaly.server.proposals import list_proposals
from anonymaly.server.routes.grants import GrantBody, terms_of
from anonymaly.server.services import View

FIRST = "From now on whoever has none is refused, owners too. This stays so."
EVERY = ("day", "week", "month", "year")
DONE = {
    "granted": "The grant is given.",
    "revoked": "The grant is revoked. What was charged stands.",
    "running": "It is under way, and not done yet. Open this page again in a minute.",
}


def grants_page(visit: Visit) -> Shown:
    """Show who may ask what, and what the table keeps for whom."""
    seen = seen_by(visit)
    found = visit.services.ledgers.grants(seen.table)
    data = {
        "table": head_of(seen),
        "grants": [grant_line(item) for item in found],
        "promised": promised_by(seen, found),
        "waiting": list_proposals(visit.services.state, table=seen.table.name, waiting=True),
        "done": DONE.get(visit.query.get("done")),
    }
    return Shown("grants.html", data)


def grant_page(visit: Visit) -> Shown:
    """Ask what is to be granted; what an analyst has already is filled in."""
    seen = seen_by(visit)
    analyst = visit.query.get("analyst")
    before = visit.services.ledgers.grant(seen.table, analyst) if analyst else None
    return Shown("grant.html", _asked(visit, seen, _said_before(analyst, before), None, None))


async def grant_form(visit: Visit) -> Outcome:
    """Give a grant, once a second page has said what it is in words."""
    table, analyst = visit.places["table"], visit.form.get("analyst")
    seen = await run_in_threadpool(seen_by, visit)

    def check() -> Checked:
        body = read_body(GrantBody, grant_data(visit.form))
        terms = terms_of(body)
        agreed = Terms.read(terms)
        _refuse_no_name(analyst)
        words = [] if agreed is None else agreed.words()
        return Checked(
            f"{analyst} may ask {table}",
            [*words, "You can revoke it at any time. What was charged until then stands."],
            body.reason,
            "Give it",
            lambda: owning.grant(visit.services, visit.caller, table, analyst, terms, body.reason),
            None
            if visit.services.ledgers.grants(seen.table)
            else (f"This is the first grant of {table}", FIRST),
        )

    tried = await try_twice(visit, check)
    if tried.done is not None:
        return moved(f"/tables/{segment(table)}/grants", tried.done, "granted")
    data = await run_in_threadpool(_asked, visit, seen, _said_now(visit), tried.problem, tried.checked)
    return Shown("grant.html", data, tried.status)


def revoke_page(visit: Visit) -> Shown:
    """Ask why a grant is to be revoked."""
    return _revoking(visit, None)


async def revoke_form(visit: Visit) -> Outcome:
    """Revoke a grant."""
    table, analyst = visit.places["table"], visit.places["analyst"]
    await run_in_threadpool(seen_by, visit)
    said, problem = await attempt_for(
        visit, lambda reason: owning.revoke(visit.services, visit.caller, table, analyst, reason)
    )
    if said is not None:
        return moved(f"/tables/{segment(table)}/grants", said, "revoked")
    return await run_in_threadpool(_revoking, visit, problem)


def grant_line(item: Grant) -> dict[str, Any]:
    """Return a grant as a page shows it."""
    told = shown.grant(item)
    return {**told, "words": words_of(told["terms"]) if "terms" in told["terms"] else []}


def promised_by(seen: View, found: list[Grant]) -> dict[str, Any] | None:
    """Return what is kept for whom, and what is left for nobody in particular."""
    if seen.account is None:
        return None
    held = []
    for item in found:
        terms = Terms.read(item.terms)
        if item.standing and terms is not None and not terms.overcommit:
            held.append(Held(item.analyst, terms, item.spent))
    kept_in_all = kept_for(held)
    return {
        "limit": to_text(seen.account.limit),
        "spent": to_text(seen.account.spent),
        "kept": to_text(kept_in_all),
        "free": to_text(max(seen.account.remaining - kept_in_all, 0)),
        "held": [{"analyst": item.analyst, "kept": to_text(item.kept)} for item in held],
        "not_held": [
            item.analyst
            for item in found
            if item.standing and item.analyst not in {one.analyst for one in held}
        ],
    }


def _asked(
    visit: Visit,
    seen: View,
    said: Mapping[str, Any],
    problem: dict[str, Any] | None,
    checked: dict[str, Any] | None,
) -> dict[str, Any]:
    found = visit.services.ledgers.grants(seen.table)
    return {
        "table": head_of(seen),
        "questions": list(seen.table.questions),
        "rules": list(seen.table.declaration.rules),
        "every": EVERY,
        "said": said,
        "promised": promised_by(seen, found),
        "problem": problem,
        "checked": checked,
    }


def _said_before(analyst: str, before: Grant | None) -> dict[str, Any]:
    terms = {} if before is None else shown.terms(before.terms)
    period = terms.get("period") or {}
    rules = dict(terms.get("rules") or {})
    return {
        "analyst": analyst,
        "total": terms.get("total", ""),
        "question_limit": terms.get("question_limit", ""),
        "each_period": period.get("epsilon", ""),
        "every": period.get("every", ""),
        "begins": period.get("from", ""),
        "until": terms.get("until", ""),
        "questions": terms.get("questions") or [],
        "any_rule": rules.pop("any", None) is True,
        "rules": {name: "" if most is None else str(most) for name, most in rules.items()},
        "overcommit": bool(terms.get("overcommit")),
        "reason": "",
    }


def _said_now(visit: Visit) -> dict[str, Any]:
    form = visit.form
    texts = ("analyst", "total", "question_limit", "each_period", "every", "begins", "until", "reason")
    return {
        **{name: form.get(name) for name in texts},
        "questions": form.all("questions"),
        "rules": {name: form.get(ALLOTTED + name) for name in form.all("rules")},
        "any_rule": form.has("any_rule"),
        "overcommit": form.has("overcommit"),
    }


def _revoking(visit: Visit, problem: dict[str, Any] | None) -> Shown:
    seen = seen_by(visit)
    analyst = visit.places["analyst"]
    found = visit.services.ledgers.grant(seen.table, analyst)
    data = {
        "table": head_of(seen),
        "analyst": analyst,
        "grant": None if found is None else grant_line(found),
        "problem": problem,
        "reason": visit.form.get("reason"),
    }
    return Shown("revoke.html", data, problem["status"] if problem else 200)


def _refuse_no_name(analyst: str) -> None:
    if not analyst or len(analyst) > 100 or not analyst.isprintable() or "/" in analyst:
        raise Problem(
            422,
            "must be a name of 1 to 100 characters without a slash" if analyst else "must be filled in",
            field="analyst",
            next_step="Give it as the list of keys has it.",
        )


PAGES = (
    ConsolePage("GET", "/tables/{table}/grants", grants_page),
    ConsolePage("GET", "/tables/{table}/grant", grant_page),
    ConsolePage("POST", "/tables/{table}/grant", grant_form),
    ConsolePage("GET", "/tables/{table}/grants/{analyst}/revoke", revoke_page),
    ConsolePage("POST", "/tables/{table}/grants/{analyst}/revoke", revoke_form),
)
