# SPDX-License-Identifier: Apache-2.0
"""``anonymaly owner``: who may ask a server's table, and for how much."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

import typer

from anonymaly.cli import owner_confirm, owner_keys
from anonymaly.cli.opening import administered
from anonymaly.cli.output import AsJson, out, say, say_json
from anonymaly.cli.owner_keys import Url, warn
from anonymaly.cli.owner_words import account_in_words, as_typed, grant_in_words, grants_table
from anonymaly.core.epsilon import LARGEST_TOTAL, read_amount, to_nano
from anonymaly.errors import InputError

Analyst = Annotated[str, typer.Argument(metavar="ANALYST", help="The person, as their key has it.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept for good.")]
Epsilon = Annotated[str, typer.Option("--epsilon", help="What all their questions together may cost.")]
Every = Annotated[
    Literal["day", "week", "month", "year"] | None,
    typer.Option("--every", help="How often what --each-period allows may be spent."),
]
EachPeriod = Annotated[
    str | None,
    typer.Option("--each-period", metavar="EPSILON", help="What the questions of a period may cost."),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="DAY", help="When the first period begins (UTC); today if not given."),
]
EachQuestion = Annotated[
    str | None, typer.Option("--each-question", metavar="EPSILON", help="What one question may cost.")
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="DAY", help="When it ends: the beginning of a day, or a moment (UTC)."),
]
Questions = Annotated[
    list[str] | None,
    typer.Option(
        "--question", metavar="NAME", help="A question that may be asked; repeat for more. All if none."
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME[=N]",
        help="A rule that may be cited, for N questions or any number; `any` for every rule. Repeat for "
        "more. Without it, only questions that need none.",
    ),
]
Overcommit = Annotated[
    bool,
    typer.Option("--overcommit", help="Grant it although the table may run out before the analyst's limit."),
]
To = Annotated[str, typer.Option("--to", metavar="EPSILON", help="The new budget.")]

app = typer.Typer(
    name="owner",
    help="Give people access to a server's tables: keys, grants, budgets, pauses.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command("keys")(owner_keys.keys)
app.command("key")(owner_keys.key)
app.command("revoke-key")(owner_keys.revoke_key)
app.command("confirm")(owner_confirm.confirm)


@app.command("grants")
def grants(url: Url, as_json: AsJson = False) -> None:
    """List who may ask the table what, and what they spent."""
    with administered(url) as owner:
        found = owner.grants()
    if as_json:
        say_json({"grants": found})
    elif found:
        out.print(grants_table(found))
    else:
        say("Nobody has a grant: anonymaly owner grant URL ANALYST --epsilon 1 --reason …")


@app.command("grant")
def grant(
    url: Url,
    analyst: Analyst,
    epsilon: Epsilon,
    reason: Reason,
    every: Every = None,
    each_period: EachPeriod = None,
    begins: From = None,
    each_question: EachQuestion = None,
    until: Until = None,
    question: Questions = None,
    rule: Rules = None,
    overcommit: Overcommit = False,
    as_json: AsJson = False,
) -> None:
    """Let an analyst ask; it takes the place of their earlier grant."""
    period = _period(every, each_period, begins)
    with administered(url) as owner, as_typed():
        if not owner.grants():
            warn("The first grant: from now on whoever has none is refused, owners too. This stays so.")
        made = owner.grant(
            analyst,
            total=epsilon,
            reason=reason,
            period=period,
            question_limit=each_question,
            until=until,
            questions=question,
            rules=None if not rule else dict(_rule(item) for item in rule),
            overcommit=overcommit,
        )
        table = owner.table
        known = owner.keys()
        if not any(item["person"] == analyst and item["revoked_at"] is None for item in known):
            warn(f"Nobody called {analyst} has a key: anonymaly owner key {url} {shlex.quote(analyst)}")
    _say_grant(made, table, as_json)


@app.command("revoke")
def revoke(url: Url, analyst: Analyst, reason: Reason, as_json: AsJson = False) -> None:
    """End an analyst's grant; what was charged stands."""
    with administered(url) as owner, as_typed():
        made = owner.revoke(analyst, reason=reason)
        table = owner.table
    _say_grant(made, table, as_json)


@app.command("budget")
def budget(url: Url, to: To, reason: Reason, as_json: AsJson = False) -> None:
    """Raise what all answers from the table together may cost."""
    with administered(url) as owner, as_typed():
        wanted, before = to_nano(to, field="to", largest=LARGEST_TOTAL), owner.account()
        if before is None or wanted > read_amount(before["limit"]):
            was = "" if before is None else f" from ε = {before['limit']}"
            warn(f"Raises the budget of {owner.table}{was} to {to}: a budget is never lowered again.")
        account = owner.raise_budget(to, reason=reason)
    _say_account(account, as_json)


@app.command("pause")
def pause(url: Url, reason: Reason, as_json: AsJson = False) -> None:
    """Have nothing charged until the table is resumed."""
    with administered(url) as owner:
        account = owner.pause(reason=reason)
    _say_account(account, as_json)


@app.command("resume")
def resume(url: Url, reason: Reason, as_json: AsJson = False) -> None:
    """Have questions charged again."""
    with administered(url) as owner:
        account = owner.resume(reason=reason)
    _say_account(account, as_json)


def _say_grant(made: dict[str, Any], table: str, as_json: bool) -> None:
    if as_json:
        say_json(made)
    else:
        say(grant_in_words(made, table))


def _say_account(account: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(account)
    else:
        say(account_in_words(account))


def _period(every: str | None, each: str | None, begins: str | None) -> dict[str, Any] | None:
    if every is None and each is None and begins is None:
        return None
    if every is None or each is None:
        raise InputError(
            "needs both --every and --each-period",
            field="every" if every is None else "each-period",
            next_step="Give, for instance, --every month --each-period 0.5.",
        )
    return {"epsilon": each, "every": every} | ({} if begins is None else {"from": begins})


def _rule(text: str) -> tuple[str, int | bool | None]:
    """Read a rule and how many questions may be asked under it."""
    name, equals, number = text.partition("=")
    if not equals:
        return name, True if name == "any" else None
    if not number.isdecimal():
        raise InputError(
            f"must be a whole number of questions after {name}=",
            field="rule",
            next_step=f"Give, for instance, --rule {name}=3, or --rule {name} for any number.",
        )
    return name, int(number)
