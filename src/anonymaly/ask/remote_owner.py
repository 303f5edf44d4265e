# SPDX-License-Identifier: Apache-2.0
"""What an owner does with a server from afar: keys, grants, a table's budget, and its pauses."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal
from urllib.parse import quote

from anonymaly.ask.connection import ServerConnection
from anonymaly.ask.owner_inputs import amount_text, moment_text, path_part, period_body, said_reason
from anonymaly.ask.server_words import read_problem, understood
from anonymaly.core.epsilon import LARGEST_TOTAL, Number
from anonymaly.core.suggestions import guess
from anonymaly.errors import InputError, Proposed, ServerError

Role = Literal["analyst", "auditor", "owner"]
USUAL_DAYS = 90
WAIT_SECONDS = 5  # that one request waits for a job
PATIENCE_SECONDS = 120.0  # for a job in all
_ARTICLE: Mapping[str, str] = {"owner": "an owner", "auditor": "an auditor", "analyst": "an analyst"}


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key that was just made: its text is nowhere else, so that whoever loses it needs another.

    Attributes
    ----------
    id : str
        The public part, by which it is listed and revoked.
    text : str
        What its person sends; not part of what is printed of this object.
    expires_at : str, optional
        When it ends; None for a key that stays until it is revoked.
    """

    id: str
    text: str = field(repr=False)
    expires_at: str | None


class RemoteOwner:
    """The owner's side of a server and one of its tables; get it as ``connect(url, key=…).owner``.

    All but `make_key` may be repeated: what is in force already is not done again. So a request that is lost
    on the way is sent again, except one for a key.

    Examples
    --------
    ::

        owner = am.connect("https://curator.example/patients", key=…).owner
        key = owner.make_key("ann")
        owner.grant("ann", total=2, question_limit=0.5, reason="study 12")
    """

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    @property
    def table(self) -> str:
        """The table's name."""
        return self._connection.table

    @property
    def who(self) -> Mapping[str, Any]:
        """Whose key it is: ``person``, ``role``, the public part of the ``key``, and all ``tables``."""
        found: Mapping[str, Any] = self._connection.get("/v1/me")
        return found

    def keys(self) -> list[dict[str, Any]]:
        """Return all keys of the server by their public parts, with who has them and until when."""
        self._refuse_others()
        return self._connection.pages("/v1/keys")

    def make_key(
        self,
        person: str,
        role: Role = "analyst",
        *,
        label: str = "",
        expires_in_days: int | None = USUAL_DAYS,
    ) -> IssuedKey:
        """Make a key; its text is in what this returns, and nowhere afterwards.

        Parameters
        ----------
        person : str
            Whose it is; an analyst's grants are for this name.
        role : str
            ``analyst``, ``auditor`` or ``owner``.
        label : str
            What it is for, in a few words.
        expires_in_days : int or None
            From 1 to 3,650; None for a key that stays until it is revoked.
        """
        self._refuse_others()
        path_part(person, "person")  # a person who could never be granted anything needs no key
        wanted = {"person": person, "role": role, "label": label, "expires_in_days": expires_in_days}
        step = f"List the keys: revoke one of {person} that nobody has, and make another."
        made = self._done(self._connection.post_once("/v1/keys", wanted, step))
        with understood(self._connection.host):
            if "text" not in made:
                raise ServerError(
                    f"the key {made['id']} was made, and its text was lost on the way",
                    field="key",
                    next_step="Revoke it, and make another.",
                )
            return IssuedKey(made["id"], made["text"], made["expires_at"])

    def revoke_key(self, id: str) -> None:
        """Revoke a key for good, by its public part."""
        self._refuse_others()
        self._done(self._connection.delete(f"/v1/keys/{path_part(id, 'id')}"))

    def grants(self) -> list[dict[str, Any]]:
        """Return the newest grant of each analyst, revoked ones among them; an auditor may see them, too."""
        self._refuse_others("auditor", table=True)
        return self._connection.pages(self._connection.of_table("grants"))

    def grant(
        self,
        analyst: str,
        *,
        total: Number,
        reason: str,
        period: Mapping[str, Any] | None = None,
        question_limit: Number | None = None,
        until: date | str | None = None,
        questions: Collection[str] | None = None,
        rules: Mapping[str, int | bool | None] | None = None,
        overcommit: bool = False,
    ) -> dict[str, Any]:
        """Let an analyst ask; it takes the place of an earlier grant, and what was spent stays spent.

        Parameters
        ----------
        analyst : str
            The person, as their key has it.
        total : number
            The ε that all questions together may cost, over all periods.
        reason : str
            Why; it is kept for good.
        period : Mapping, optional
            What those of each period may cost: ``{"epsilon": 0.5, "every": "month"}``, or ``day``, ``week``,
            ``year``; ``from`` is the first day of the first one, today (UTC) if it is not given.
        question_limit : number, optional
            What one question may cost.
        until : date, datetime or str, optional
            When it ends; a day stands for its beginning (UTC).
        questions : collection of str, optional
            The questions that may be asked, such as ``["count"]``; all if not given.
        rules : Mapping, optional
            Rule → how many questions may be asked under it, None for any number; ``{"any": True}`` for every
            rule. If not given, only questions that need none.
        overcommit : bool
            Whether it may be more than the table has left: then the table may run out before.
        """
        place = self._connection.of_table("grants")
        wanted: dict[str, Any] = {
            "total": amount_text(total, "total", LARGEST_TOTAL),
            "reason": said_reason(reason),
        }
        if period is not None:
            wanted["period"] = period_body(period)
        if question_limit is not None:
            wanted["question_limit"] = amount_text(question_limit, "question_limit")
        if until is not None:
            wanted["until"] = moment_text(until, "until")
        if rules is not None:
            wanted["rules"] = dict(rules)
        if overcommit:
            wanted["overcommit"] = True
        self._refuse_others(table=True)
        if questions is not None:
            wanted["questions"] = self._known(questions)
        return self._granted(self._connection.put(f"{place}/{path_part(analyst, 'analyst')}", wanted))

    def revoke(self, analyst: str, *, reason: str) -> dict[str, Any]:
        """End an analyst's grant; what was charged stands. Another grant lets them ask again."""
        place = f"{self._connection.of_table('grants')}/{path_part(analyst, 'analyst')}"
        self._refuse_others(table=True)
        return self._granted(self._connection.delete(place, reason=said_reason(reason)))

    def account(self) -> dict[str, Any] | None:
        """Return the table's ``limit``, ``spent``, ``remaining`` and ``paused``; None before its use."""
        self._refuse_others("auditor", table=True)
        told = self._connection.get(self._connection.of_table())
        with understood(self._connection.host):
            found: dict[str, Any] | None = told["account"]
            return found

    def raise_budget(self, to: Number, *, reason: str) -> dict[str, Any]:
        """Raise what all answers together may cost; it is never lowered again."""
        return self._changed(
            "budget", {"to": amount_text(to, "to", LARGEST_TOTAL), "reason": said_reason(reason)}
        )

    def pause(self, *, reason: str) -> dict[str, Any]:
        """Have nothing charged until `resume`; stored answers are held back, too."""
        return self._changed("pause", {"reason": said_reason(reason)})

    def resume(self, *, reason: str) -> dict[str, Any]:
        """Have questions charged again."""
        return self._changed("resume", {"reason": said_reason(reason)})

    def _known(self, questions: Collection[str]) -> list[str]:
        """Return names of questions; one that is mistyped would be granted, and could never be asked."""
        told = self._connection.get(self._connection.of_table())
        with understood(self._connection.host):
            known = list(told["questions"])
        if isinstance(questions, str):
            raise InputError(
                "must be a list of names", field="questions", next_step='Give, for instance, ["count"].'
            )
        for name in questions:
            if name not in known:
                raise InputError(
                    f"there is no question {name!r}",
                    field="questions",
                    next_step=f"{guess(str(name), known)}Questions: {', '.join(known)}.",
                )
        return list(questions)

    def _changed(self, what: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        self._refuse_others(table=True)
        told = self._done(self._connection.post(self._connection.of_table(what), wanted))
        with understood(self._connection.host):
            found: dict[str, Any] = told["account"]
            return found

    def _granted(self, job: Mapping[str, Any]) -> dict[str, Any]:
        told = self._done(job)
        with understood(self._connection.host):
            found: dict[str, Any] = told["grant"]
            return found

    def _refuse_others(self, *also: Role, table: bool = False) -> None:
        """Say who would be refused by the one 404 that a server has for all that a key may not see."""
        who = self.who
        with understood(self._connection.host):
            person, role, tables = (who[name] for name in ("person", "role", "tables"))
            if role not in ("owner", *also):
                raise InputError(
                    f"is the key of {_ARTICLE[role]}, {person}, and this is for an owner",
                    field="key",
                    next_step="Use a key that was made with the role owner.",
                )
            known = ", ".join(tables) or "none yet"
        if table and self._connection.table not in tables:
            raise InputError(
                f"{self._connection.host} has no table {self._connection.table!r}",
                field="url",
                next_step=f"Its tables: {known}.",
            )

    def _done(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Wait until a job has ended, and return its result."""
        until = time.monotonic() + PATIENCE_SECONDS
        with understood(self._connection.host):
            while job["state"] == "running":
                if time.monotonic() > until:
                    raise ServerError(
                        f"{self._connection.host} has not done it after {PATIENCE_SECONDS:.0f} seconds",
                        field="url",
                        next_step="Its workers may be down; it is done when one is back. Look before you "
                        "repeat it.",
                    )
                job = self._connection.get(f"/v1/jobs/{quote(job['job'], safe='')}", wait=WAIT_SECONDS)
            if job["state"] == "done":
                found: dict[str, Any] = job["result"]
                if "proposal" not in found:
                    return found
                number = int(found["proposal"]["number"])
                raise Proposed(
                    f"it waits as proposal {number}: nothing has changed until it is confirmed on the host",
                    next_step=f"Run there: anonymaly owner confirm FOLDER {number}",
                )
            if job["state"] == "refused":
                raise read_problem(job["problem"])
        raise ServerError(
            f"something went wrong at {self._connection.host}",
            field="url",
            next_step="The server's log says what; look at what is in force before you repeat it.",
        )
