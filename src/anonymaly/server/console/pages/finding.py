# SPDX-License-Identifier: Apache-2.0
"""`find` as one run: records, the plan with its named shares, one button, and one report at the end.

What is done with the records is `finding`'s, as for Python and the command line. Each question is a job of
its own, added when the one before it is released; whoever closes the page leaves the rest unasked.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anonymaly.core.value import digest as digest_of
from anonymaly.errors import AnonymalyError, AnswerFailed
from anonymaly.server.console.finds import Begun, SealedFinds, WantedFind
from anonymaly.server.console.forms import Sent
from anonymaly.server.console.rendering import segment
from anonymaly.server.console.sessions import ConsoleSession
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.looking import own_of
from anonymaly.server.problems import BUSY, Problem, failed, of_error, unknown
from anonymaly.server.released import Seen, wait
from anonymaly.server.replies import padded
from anonymaly.server.services import View, view

if TYPE_CHECKING:
    from anonymaly.finding.found import OddRecords
    from anonymaly.finding.prepare import Prepared
    from anonymaly.server.console.own_table import OwnTable

EPSILON, TOP, EXPLAIN = "1", "10", "3"  # what the form begins with
MOST_TOP, MOST_EXPLAIN = 100, 20  # of a page
MISSING = ("skip", "value", "refuse")
WAIT_SECONDS = 3.0  # that a page waits for releases before it says how far it is
CHANGED = Problem(
    422,
    "this is another plan than the one that you saw; nothing was charged",
    next_step="Look at the plan below. If you want that, press its button.",
)
AMENDED = Problem(
    409,
    "the table was declared anew since you saw the plan, or the plan's model was erased: nothing more is "
    "asked, and what was charged stands",
    field="declaration",
    next_step="Make a new plan: what is stored is free in it.",
)


def find_page(visit: Visit) -> Shown:
    """Ask for records."""
    return _form(visit, _asked(visit), Sent())


def send_records(visit: Visit) -> Outcome:
    """Show the plan for the records; or begin, if its button was pressed."""
    seen, form = _asked(visit), visit.form
    try:
        wanted, once = _wanted(seen.table.name, form), form.get("once")[:64] or secrets.token_hex(16)
        begins, finds = form.get("do") == "begin", SealedFinds(visit.services.state, _session(visit))
        if begins and finds.recall(number := finds.number(wanted, once)) is not None:
            return Moved(f"/finds/{number}")  # the button was pressed twice
        with visit.services.at_once.of(visit.caller.person):
            prepared, _ = _prepare(visit, wanted)
        _refuse_ungranted(seen, prepared)
        planned = _digest(prepared, wanted)
        if not begins:
            return _form(visit, seen, form, prepared=prepared, digest=planned)
        if form.get("planned") != planned:
            return _form(visit, seen, form, prepared=prepared, digest=planned, problem=CHANGED)
        prepared.refuse_beyond_budget()
        model, left = prepared.plan.steps[0].stored, prepared.plan.remaining_nano
        return Moved(f"/finds/{finds.keep(Begun(wanted, once, planned, model, left))}")
    except Problem as problem:
        return _form(visit, seen, form, problem=problem)
    except AnonymalyError as error:
        return _form(visit, seen, form, problem=of_error(error))


async def found_page(visit: Visit) -> Outcome:
    """Go on with a find, and show how far it is, or its report."""
    begun = await run_in_threadpool(_begun, visit)
    until = time.monotonic() + min(WAIT_SECONDS, visit.services.settings.limits.wait)
    while True:
        stands = await run_in_threadpool(_go_on, visit, begun)
        left = until - time.monotonic()
        if stands.waits_for is None or left <= 0:
            break
        if not (await wait(visit.services.state, stands.waits_for, left)).released:
            break
    return await run_in_threadpool(_shown, visit, begun, stands)


def find_report(visit: Visit) -> Outcome:
    """Return the report as one file, as ``anonymaly find --html`` writes it."""
    begun = _begun(visit)
    stands = _go_on(visit, begun)
    if stands.found is None:
        return Moved(f"/finds/{segment(visit.places['find'])}")
    name = f"{begun.wanted.table}-find.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(padded(stands.found.to_html().encode()), media_type="text/html", headers=headers)


def forget_find(visit: Visit) -> Outcome:
    """Forget the records of a find at once."""
    begun = _begun(visit)
    SealedFinds(visit.services.state, _session(visit)).forget(visit.places["find"])
    return Moved(f"/tables/{segment(begun.wanted.table)}")


class Stands(NamedTuple):
    """How a find stands: one of a report, a problem, or what it waits for."""

    answered: list[str]
    most: int  # questions that the plan has at most
    found: OddRecords | None = None
    problem: Problem | None = None
    waits_for: Seen | None = None


def _go_on(visit: Visit, begun: Begun) -> Stands:
    """Ask what may be asked now: everything is known that was asked before, and costs nothing more."""
    # All of it counts: to score the records takes as long as to plan, and whoever looks may look often.
    try:
        with visit.services.at_once.of(visit.caller.person):
            return _worked_out(visit, begun)
    except Problem as problem:
        if problem.status not in BUSY:
            raise
        return Stands([], 1 + begun.wanted.explain, problem=problem)  # the next look tries again


def _worked_out(visit: Visit, begun: Begun) -> Stands:
    from anonymaly.finding.find import carry_out  # noqa: PLC0415  (a web process starts without it)
    from anonymaly.server.console.own_table import AnswerWaits  # noqa: PLC0415

    prepared, table = _prepare(visit, begun.wanted, begun)
    plan = replace(prepared.plan, remaining_nano=begun.remaining)
    most = sum(step.stored is None for step in plan.steps)
    if _digest(prepared, begun.wanted) != begun.plan:
        return Stands([], most, problem=AMENDED)
    try:
        found = carry_out(replace(prepared, plan=plan))
    except AnswerWaits as waiting:
        return Stands(table.asked, most, problem=waiting.why, waits_for=waiting.seen)
    except AnswerFailed:
        return Stands(table.asked, most, problem=failed())
    except AnonymalyError as error:
        return Stands(table.asked, most, problem=of_error(error))
    return Stands(table.asked, most, found=found)


def _prepare(visit: Visit, wanted: WantedFind, begun: Begun | None = None) -> tuple[Prepared, OwnTable]:
    """Check and plan; a find that was begun uses the model that its plan had, or asks for one."""
    from anonymaly.finding.asking import AskingServer  # noqa: PLC0415
    from anonymaly.finding.prepare import prepare_for  # noqa: PLC0415
    from anonymaly.server.console.odd_records import read_records  # noqa: PLC0415
    from anonymaly.server.console.own_table import OwnTable  # noqa: PLC0415

    once, model = ("", None) if begun is None else (begun.once, begun.model or 0)
    table = OwnTable(visit.services, visit.caller, wanted.table, once, model)
    prepared = prepare_for(
        AskingServer(table),
        read_records(wanted.records, table.declaration),
        epsilon=wanted.epsilon,
        top=wanted.top,
        explain=wanted.explain,
        columns=wanted.columns or None,
        missing=wanted.missing,  # type: ignore[arg-type]  # one of MISSING
    )
    return prepared, table


def _digest(prepared: Prepared, wanted: WantedFind) -> str:
    """Return what a plan is known by: all that it says but what is left, and the records that it is for."""
    plan = prepared.plan.to_dict()
    said = {name: item for name, item in plan.items() if name not in ("remaining", "affordable")}
    return digest_of([said, {**asdict(wanted), "columns": list(wanted.columns)}])


def _refuse_ungranted(seen: View, prepared: Prepared) -> None:
    """Refuse before the model is paid for what a grant would refuse afterwards."""
    own = seen.allowance()
    if own is not None and prepared.explain:
        own.admit("explain", None, prepared.shares.explanation)


def _asked(visit: Visit) -> View:
    return view(visit.services, visit.caller, visit.places["table"])


def _session(visit: Visit) -> ConsoleSession:
    if visit.session is None:
        raise AssertionError("a find without a session")
    return visit.session


def _begun(visit: Visit) -> Begun:
    found = SealedFinds(visit.services.state, _session(visit)).recall(visit.places["find"])
    if found is None:
        raise unknown()
    return found


def _wanted(table: str, form: Sent) -> WantedFind:
    missing = form.get("missing") or MISSING[0]
    if missing not in MISSING:
        raise Problem(422, f"must be one of {', '.join(MISSING)}", field="missing", next_step="Choose one.")
    return WantedFind(
        table,
        form.lines("records"),
        form.get("epsilon") or EPSILON,
        _whole(form, "top", TOP, 1, MOST_TOP),
        _whole(form, "explain", EXPLAIN, 0, MOST_EXPLAIN),
        tuple(form.all("columns")),
        missing,
    )


def _whole(form: Sent, name: str, usual: str, least: int, most: int) -> int:
    text = form.get(name) or usual
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and least <= int(text) <= most):
        raise Problem(
            422,
            f"must be a whole number from {least} to {most}",
            field=name,
            next_step=f"Give, say, {usual}; the command line takes more.",
        )
    return int(text)


def _form(
    visit: Visit,
    seen: View,
    sent: Sent,
    *,
    prepared: Prepared | None = None,
    digest: str = "",
    problem: Problem | None = None,
) -> Shown:
    # Imported when the page is shown, as `finding` is everywhere here.
    from anonymaly.finding.own_records import compared_columns  # noqa: PLC0415

    declared, cannot = seen.table.declaration, None
    try:
        compared = compared_columns(declared)
    except AnonymalyError as error:
        compared, cannot = (), of_error(error).to_dict()
    chosen = sent.all("columns")
    data = {
        "table": seen.table.name,
        "begun": SealedFinds(visit.services.state, _session(visit)).of_table(seen.table.name),
        "ready": seen.table.ready,
        "paused": seen.paused,
        "own": own_of(seen),
        "cannot": cannot,
        "columns": [
            {"name": name, "holds": declared.columns[name].describe(), "chosen": name in chosen}
            for name in compared
        ],
        "said": {
            "records": sent.lines("records"),
            "epsilon": sent.get("epsilon") or EPSILON,
            "top": sent.get("top") or TOP,
            "explain": sent.get("explain") or EXPLAIN,
            "missing": sent.get("missing") or MISSING[0],
        },
        "missing": MISSING,
        "once": sent.get("once") or secrets.token_hex(16),
        "plan": None if prepared is None else _planned(prepared, digest),
        "problem": None if problem is None else problem.to_dict(),
    }
    return Shown("find.html", data, 200 if problem is None else problem.status)


def _planned(prepared: Prepared, digest: str) -> dict[str, Any]:
    """Return a plan as the page shows it; what is left is None without a limit."""
    plan = prepared.plan
    relation = plan.guarantee.relation
    return {
        **plan.to_dict(),
        "title": plan.title,
        "digest": digest,
        "prices": [step.price for step in plan.steps],
        "factor": str(plan.guarantee.factor),
        "protected": relation.protects(),
        "not_protected": relation.does_not_protect(),
        "notes": list(plan.notes),
    }


def _shown(visit: Visit, begun: Begun, stands: Stands) -> Shown:
    found, problem = stands.found, stands.problem
    going = found is None and (problem is None or stands.waits_for is not None or problem.status in BUSY)
    data = {
        "find": visit.places["find"],
        "table": begun.wanted.table,
        "state": "done" if found is not None else "running" if going else "ended",
        "answered": stands.answered,
        "most": stands.most,
        "problem": None if problem is None else problem.to_dict(),
        "report": None if found is None else found.to_dict(),
        "title": None if found is None else found.plan.title,
    }
    parts = "" if found is None else _parts(found)
    return Shown("found.html", data, pictures={"parts": parts})


def _parts(found: OddRecords) -> Markup:
    from anonymaly.finding.report import find_parts  # noqa: PLC0415

    return Markup("\n".join(find_parts(found)))  # noqa: S704  (escaped where it is written)


PAGES = (
    ConsolePage("GET", "/tables/{table}/find", find_page),
    ConsolePage("POST", "/tables/{table}/find", send_records),
    ConsolePage("GET", "/finds/{find}", found_page),
    ConsolePage("GET", "/finds/{find}/report", find_report),
    ConsolePage("POST", "/finds/{find}/forget", forget_find),
)
