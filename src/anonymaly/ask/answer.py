# SPDX-License-Identifier: Apache-2.0
"""What an asker gets: a preview before the charge, an answer after it; both explain themselves."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from anonymaly.ask.binding import Expectation
from anonymaly.ask.catalogue import Origin
from anonymaly.ask.effect import Effect
from anonymaly.ask.permit import RuleUse
from anonymaly.ask.query import Query
from anonymaly.core.epsilon import to_text
from anonymaly.ledger.declarations import Declared
from anonymaly.promise import Guarantee
from anonymaly.promise.guarantee import RESTS_ON

WIDTH = 16  # of the label column

RehearsedOn = Literal["invented", "stand-in"]
# Both begin with the same words, so that a program or a hurried reader needs to know only these.
BANNERS: Mapping[RehearsedOn, str] = {
    "invented": "INVENTED ROWS: a rehearsal on rows made from the declaration; it says nothing of the table",
    "stand-in": "INVENTED ROWS: a rehearsal on the owner's public stand-in; it says nothing of the table",
}


def _line(label: str, text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([f"  {label:<{WIDTH}}{first}", *(" " * (WIDTH + 2) + line for line in rest)])


@dataclass(frozen=True)
class Preview:
    """What a question would cost and promise, and the expected error; made without reading a row."""

    query: Query
    guarantee: Guarantee
    expectation: Expectation
    shares: tuple[tuple[str, int], ...]
    remaining: int | None
    charged_before: int | None = None  # the number of this question, if it was charged before
    origin: Origin | None = None  # the other package that the question comes from
    effect: Effect | None = None  # on the promise of the questions before it, if that would be narrower
    declarations: tuple[Declared, ...] = ()  # of the account, the one in force last
    warning: str | None = None  # what ε does not say: read it first
    rule: RuleUse | None = None  # the rule that counts such questions

    @property
    def cost(self) -> int:
        """What asking would cost in nano-ε: nothing, if it was charged before."""
        return 0 if self.charged_before is not None else self.query.cost

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for it now."""
        return self.remaining is None or self.cost <= self.remaining

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as plain data."""
        return {
            **({} if self.warning is None else {"warning": self.warning}),
            "question": self.query.question,
            "asks": self.query.describe(),
            "cost": to_text(self.cost),
            "charged_before": self.charged_before,
            "shares": {name: to_text(share) for name, share in self.shares},
            "remaining": None if self.remaining is None else to_text(self.remaining),
            "affordable": self.affordable,
            "expected": self.expectation.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "effect": None if self.effect is None else self.effect.to_dict(),
            **_origin(self.origin),
            **({} if self.rule is None else {"rule": self.rule.to_dict()}),
            **({"declarations": [item.to_dict() for item in self.declarations]} if self._amended else {}),
        }

    @property
    def _amended(self) -> bool:
        return len(self.declarations) > 1

    def _declared(self) -> list[str]:
        """Say under which declaration it would be, or was, asked, and which were learned from rows."""
        if not self._amended:
            return []
        seq = self.charged_before
        asked = [item for item in self.declarations if seq is None or item.number < seq][-1]
        tense = "would be asked" if seq is None else "was asked"
        outside = [text for item in self.declarations if (text := item.outside()) is not None]
        return [f"{tense} under that of {asked}", *outside]

    def __str__(self) -> str:
        price = f"ε = {to_text(self.cost)}"
        if self.charged_before is not None:
            price += (
                f": it is number {self.charged_before}, charged before for ε = {to_text(self.query.cost)};"
            )
        if self.remaining is not None:
            price += f" of {to_text(self.remaining)} remaining"
        if not self.affordable:
            price += ": more than remains, it would be refused"
        shares = ", ".join(f"{name} {to_text(share)}" for name, share in self.shares)
        return "\n".join(
            [
                *([] if self.warning is None else [self.warning]),
                f"{type(self.query).__name__}: {self.query.describe()}",
                _line("would cost", price),
                *([] if self.rule is None else [_line("rule", str(self.rule))]),
                *([_line("in shares", shares)] if len(self.shares) > 1 else []),
                _line("noise", self.expectation.noise),
                _line("expected error", self.expectation.error),
                *(_line(label, text) for label, text in _promise(self.guarantee, self.origin)),
                *([] if self.effect is None else [_line("earlier answers", str(self.effect))]),
                *([_line("declaration", "\n".join(self._declared()))] if self._amended else []),
            ]
        )


@dataclass(frozen=True)
class Previews:
    """Several questions together: each preview, and what all of them would cost."""

    items: tuple[Preview, ...]

    @property
    def cost(self) -> int:
        """The charge of all of them in nano-ε."""
        return sum({preview.query: preview.cost for preview in self.items}.values())

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for all of them now."""
        remaining = self.items[0].remaining if self.items else None
        return remaining is None or self.cost <= remaining

    def to_dict(self) -> dict[str, Any]:
        """Return the previews as plain data."""
        return {
            "cost": to_text(self.cost),
            "affordable": self.affordable,
            "items": [preview.to_dict() for preview in self.items],
        }

    def __str__(self) -> str:
        total = f"{len(self.items)} questions together would cost ε = {to_text(self.cost)}"
        return "\n".join([*map(str, self.items), total + ("" if self.affordable else ": more than remains")])


@dataclass(frozen=True)
class Answer:
    """A released value with its expected error, its price, its promise and its receipt."""

    value: Any
    asks: str
    shown: str
    question: str
    guarantee: Guarantee
    expectation: Expectation
    number: int | None  # in the ledger; None for a simulation
    charged: int  # nano-ε charged by this call; 0 if the stored answer was returned again
    remaining: int | None
    receipt: Any = None
    origin: Origin | None = None  # the other package that the question comes from
    under: Declared | None = None  # the declaration that it was asked under, if it was amended since
    rehearsed_on: RehearsedOn | None = None  # rows that are not the table's: the value says nothing of it
    labels: tuple[str, ...] | None = None  # of the records asked about, by whoever asked; kept nowhere

    @classmethod
    def recall(cls, kind: type[Query], value: Any, told: Mapping[str, Any], **rest: Any) -> Answer:
        """Return an answer from its stored value and what was written down, or told, when it was given."""
        guarantee = Guarantee.read(told["guarantee"])
        value = kind.recalled(value, told["query"], guarantee)
        return cls(
            value=value,
            asks=told["asks"],
            shown=kind.show(value, told["asks"]),
            question=told["question"],
            guarantee=guarantee,
            expectation=Expectation.read(told["expected"]),
            **rest,
        )

    def labelled(self, query: Query) -> Answer:
        """Return the same in the words of whoever asked, with what they know of the records."""
        value, labels = query.completed(self.value), query.labels()
        if labels is None and value is self.value:
            return self
        return replace(self, value=value, shown=query.show(value, self.asks, labels), labels=labels)

    @property
    def banner(self) -> str | None:
        """What stands above the value of a rehearsal, wherever it is shown."""
        return None if self.rehearsed_on is None else BANNERS[self.rehearsed_on]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return {
            **({} if self.rehearsed_on is None else {"invented": True, "rehearsed_on": self.rehearsed_on}),
            "number": self.number,
            "question": self.question,
            "asks": self.asks,
            "value": self.value.to_dict() if hasattr(self.value, "to_dict") else self.value,
            "charged": to_text(self.charged),
            "remaining": None if self.remaining is None else to_text(self.remaining),
            "expected": self.expectation.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "receipt": None if self.receipt is None else self.receipt.to_dict(),
            **_origin(self.origin),
            **({} if self.labels is None else {"labels": list(self.labels)}),
            **({} if self.under is None else {"declaration": self.under.to_dict()}),
        }

    def _lines(self) -> list[tuple[str, str]]:
        if self.rehearsed_on is not None:
            price = "nothing: a rehearsal, the table was not read"
        elif self.number is None:
            price = "nothing: a simulation on public data, no promise is made"
        elif self.charged:
            price = f"ε = {to_text(self.charged)}, answer {self.number}"
        else:
            price = f"nothing: answer {self.number}, released before for ε = {to_text(self.guarantee.nano)}"
        return [
            ("asked", self.asks),
            ("expected error", self.expectation.error),
            ("noise", self.expectation.noise),
            ("charged", price),
            *([("remaining", f"ε = {to_text(self.remaining)}")] if self.remaining is not None else []),
            *_promise(self.guarantee, self.origin),
            *([] if self.under is None else [("declaration", f"that of {self.under}; amended since")]),
        ]

    def __str__(self) -> str:
        banner = [] if self.banner is None else [self.banner]
        return "\n".join([*banner, self.shown, *(_line(label, text) for label, text in self._lines())])

    def _repr_html_(self) -> str:
        cell = "style='text-align:left'"
        rows = "".join(
            f"<tr><th {cell}>{html.escape(label)}</th><td {cell}>{_html(text)}</td></tr>"
            for label, text in self._lines()
        )
        # A value that has a picture says with it all that it says in words.
        pictured = getattr(self.value, "_repr_html_", None)
        head = (
            f"<strong style='font-size:1.4em'>{_html(self.shown)}</strong>"
            if pictured is None
            else pictured()
        )
        if self.banner is not None:
            head = f"<p style='border:2px solid;padding:4px'><strong>{_html(self.banner)}</strong></p>{head}"
        return f"<div>{head}<table>{rows}</table></div>"


def _html(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _promise(guarantee: Guarantee, origin: Origin | None) -> list[tuple[str, str]]:
    return [
        ("protected", f"{_size(guarantee)}: {guarantee.relation.protects()}"),
        ("not protected", guarantee.relation.does_not_protect()),
        ("rests on", RESTS_ON),
        *([] if origin is None else [("promise", str(origin))]),
    ]


def _size(guarantee: Guarantee) -> str:
    # Who is protected says nothing without how well: at ε = 50 hardly anything is hidden of anybody.
    return f"up to a factor of {guarantee.factor} in the probability of any answer"


def _origin(origin: Origin | None) -> dict[str, Any]:
    return {} if origin is None else {"origin": origin.to_dict()}
