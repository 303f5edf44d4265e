# SPDX-License-Identifier: Apache-2.0
"""What comes of an owner's form: the page with its result, or the form again with what is wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool

from anonymaly.errors import AnonymalyError
from anonymaly.server.console.owner_forms import at_field, kept, read_body
from anonymaly.server.console.visit import Moved, Visit
from anonymaly.server.problems import Problem, of_error
from anonymaly.server.routes.owner import ReasonBody

UNKNOWN = 404  # it stays the one page for all that is not there


@dataclass(frozen=True)
class Checked:
    """What a form would do, as a second page says it before it is done."""

    title: str
    words: list[str]
    reason: str
    button: str
    do: Callable[[], Awaitable[dict[str, Any]]]
    warning: tuple[str, ...] | None = None  # what is to be thought of: a headline, and what it means
    beside: Mapping[str, str] = field(default_factory=dict)  # fields that say beside what it was looked at


@dataclass(frozen=True)
class Tried:
    """What came of a form: what was done, or what is wrong with it, or its second page."""

    done: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    checked: dict[str, Any] | None = None

    @property
    def status(self) -> int:
        """The status of the page that shows it."""
        return 200 if self.problem is None else int(self.problem["status"])


async def try_twice(visit: Visit, check: Callable[[], Checked]) -> Tried:
    """Check a form and show its second page; do it if that page sent it."""
    try:
        checked = await run_in_threadpool(check)
    except Problem as wrong:
        return Tried(problem=shown_problem(wrong))
    except AnonymalyError as wrong:
        return Tried(problem=shown_problem(of_error(wrong)))
    if visit.form.has("confirmed"):
        done, problem = await attempt(checked.do())
        return Tried(done, problem)
    if visit.form.has("change"):
        return Tried()
    shown = {name: getattr(checked, name) for name in ("title", "words", "reason", "button", "warning")}
    fields = [item for item in kept(visit.form) if item[0] not in checked.beside]
    return Tried(checked={**shown, "fields": [*fields, *checked.beside.items()]})


async def attempt(job: Awaitable[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what an owner's job ended in, or the problem that it was refused with."""
    try:
        return await job, None
    except Problem as problem:
        return None, shown_problem(problem)
    except AnonymalyError as error:
        return None, shown_problem(of_error(error))


async def attempt_for(
    visit: Visit, do: Callable[[str], Awaitable[dict[str, Any]]]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Attempt what is done for the reason that a form gives; without one, say that it is missing."""
    try:
        reason = read_body(ReasonBody, {"reason": visit.form.get("reason")}).reason
    except Problem as wrong:
        return None, shown_problem(wrong)
    return await attempt(do(reason))


def shown_problem(problem: Problem) -> dict[str, Any]:
    """Return a problem for the form that it is about; what is not there has its own page."""
    if problem.status == UNKNOWN:
        raise problem
    return at_field(problem)


def moved(place: str, said: Mapping[str, Any], word: str) -> Moved:
    """Go to the page that shows what was done: a word that it knows, never words of a request.

    What waits for the host is on the page of proposals.
    """
    proposal = said.get("result", {}).get("proposal")
    if proposal is not None:
        return Moved(f"/proposals?made={proposal['number']}")
    if said["state"] == "running":
        word = "running"
    return Moved(f"{place}?done={word}")
