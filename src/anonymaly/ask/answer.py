# SPDX-License-Identifier: Apache-2.0
"""What an asker gets: a preview before the charge, an answer after it; both explain themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal

from anonymaly.ask.binding import Expectation
from anonymaly.ask.catalogue import Origin
from anonymaly.ask.effect import Effect
from anonymaly.ask.permit import RuleUse
from anonymaly.ask.query import Query, T
from anonymaly.core.epsilon import to_number, to_text
from anonymaly.ledger.declarations import Declared
from anonymaly.promise import Guarantee
from anonymaly.promise.guarantee import RESTS_ON

if TYPE_CHECKING:
    from anonymaly.pictures.chart import Chart

WIDTH = 16  # of the label column
SHORT = 80  # letters of a value in a line

RehearsedOn = Literal["invented", "stand-in"]
# Both begin with the same words, so that a program or a hurried reader needs to know only these.
BANNERS: Mapping[RehearsedOn, str] = {
    "invented": "INVENTED ROWS: a rehearsal on rows made from the declaration; it says nothing of the table",
    "stand-in": "INVENTED ROWS: a rehearsal on the owner's public stand-in; it says nothing of the table",
}


def _line(label: str, text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([f"  {label:<{WIDTH}}{first}", *(" " * (WIDTH + 2) + line for line in rest)])


@dataclass(frozen=True, repr=False)
class Preview:
    """What a question would cost and promise, and the expected error; made without reading a row."""

    query: Query
    guarantee: Guarantee
    expectation: Expectation
    shares_nano: tuple[tuple[str, int], ...]  # nano-ε, as all that ends so: the ledger's own number
    remaining_nano: int | None
    charged_before: int | None = None  # the number of this question, if it was charged before
    origin: Origin | None = None  # the other package that the question comes from
    effect: Effect | None = None  # on the promise of the questions before it, if that would be narrower
    declarations: tuple[Declared, ...] = ()  # of the account, the one in force last
    warning: str | None = None  # what ε does not say: read it first
    rule: RuleUse | None = None  # the rule that counts such questions

    @property
    def cost_nano(self) -> int:
        """What asking would cost, in nano-ε."""
        return 0 if self.charged_before is not None else self.query.cost

    @property
    def cost(self) -> float:
        """What asking would cost, as ε: nothing, if it was charged before."""
        return to_number(self.cost_nano)

    @property
    def shares(self) -> dict[str, float]:
        """What each part of the question would have of it, as ε."""
        return {name: to_number(share) for name, share in self.shares_nano}

    @property
    def remaining(self) -> float | None:
        """The ε that may still be spent; None where nothing is said of it."""
        return None if self.remaining_nano is None else to_number(self.remaining_nano)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for it now."""
        return self.remaining_nano is None or self.cost_nano <= self.remaining_nano

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as plain data."""
        return {
            **({} if self.warning is None else {"warning": self.warning}),
            "question": self.query.question,
            "asks": self.query.describe(),
            "cost": to_text(self.cost_nano),
            "charged_before": self.charged_before,
            "shares": {name: to_text(share) for name, share in self.shares_nano},
            "remaining": None if self.remaining_nano is None else to_text(self.remaining_nano),
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

    @property
    def title(self) -> str:
        """The question in words."""
        return f"{type(self.query).__name__}: {self.query.describe()}"

    @property
    def price(self) -> str:
        """What it would cost, in words."""
        price = f"ε = {to_text(self.cost_nano)}"
        if self.charged_before is not None:
            price += (
                f": it is number {self.charged_before}, charged before for ε = {to_text(self.query.cost)};"
            )
        if self.remaining_nano is not None:
            price += f" of {to_text(self.remaining_nano)} remaining"
        if not self.affordable:
            price += ": more than remains, it would be refused"
        return price

    def lines(self) -> list[tuple[str, str]]:
        """Return all that it says, each with its name."""
        shares = ", ".join(f"{name} {to_text(share)}" for name, share in self.shares_nano)
        return [
            ("would cost", self.price),
            *([] if self.rule is None else [("rule", str(self.rule))]),
            *([("in shares", shares)] if len(self.shares_nano) > 1 else []),
            ("noise", self.expectation.noise),
            ("expected error", self.expectation.error),
            *_promise(self.guarantee, self.origin),
            *([] if self.effect is None else [("earlier answers", str(self.effect))]),
            *([("declaration", "\n".join(self._declared()))] if self._amended else []),
        ]

    def more(self) -> list[str]:
        """Return what is said below all else."""
        return []

    def __str__(self) -> str:
        return "\n".join(
            [
                *([] if self.warning is None else [self.warning]),
                self.title,
                *(_line(label, text) for label, text in self.lines()),
                *(f"  {text}" for text in self.more()),
            ]
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.title}; would cost {self.price}>"

    def _repr_html_(self) -> str:
        from anonymaly.ask.answer_page import preview_html  # noqa: PLC0415  (only notebooks)

        return preview_html(self)


@dataclass(frozen=True, repr=False)
class Previews:
    """Several questions together: each preview, and what all of them would cost."""

    items: tuple[Preview, ...]

    @property
    def cost_nano(self) -> int:
        """The charge of all of them, in nano-ε; the same question twice is charged once."""
        return sum({preview.query: preview.cost_nano for preview in self.items}.values())

    @property
    def cost(self) -> float:
        """The charge of all of them, as ε."""
        return to_number(self.cost_nano)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for all of them now."""
        remaining = self.items[0].remaining_nano if self.items else None
        return remaining is None or self.cost_nano <= remaining

    def to_dict(self) -> dict[str, Any]:
        """Return the previews as plain data."""
        return {
            "cost": to_text(self.cost_nano),
            "affordable": self.affordable,
            "items": [preview.to_dict() for preview in self.items],
        }

    def __str__(self) -> str:
        total = f"{len(self.items)} questions together would cost ε = {to_text(self.cost_nano)}"
        return "\n".join([*map(str, self.items), total + ("" if self.affordable else ": more than remains")])

    def __repr__(self) -> str:
        return f"<Previews of {len(self.items):,} questions; would cost ε = {to_text(self.cost_nano)}>"

    def _repr_html_(self) -> str:
        from anonymaly.ask.answer_page import previews_html  # noqa: PLC0415  (only notebooks)

        return previews_html(self.items, self.cost_nano, affordable=self.affordable)

    def __iter__(self) -> Iterator[Preview]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Preview:
        return self.items[place]


@dataclass(frozen=True, repr=False)
class Answer(Generic[T]):
    """A released value with its expected error, its price, its promise and its receipt."""

    value: T
    asks: str
    shown: str
    question: str
    guarantee: Guarantee
    expectation: Expectation
    number: int | None  # in the ledger; None for a simulation
    charged_nano: int  # by this call, in nano-ε; 0 if the stored answer was returned again
    remaining_nano: int | None
    receipt: Any = None
    origin: Origin | None = None  # the other package that the question comes from
    under: Declared | None = None  # the declaration that it was asked under, if it was amended since
    rehearsed_on: RehearsedOn | None = None  # rows that are not the table's: the value says nothing of it
    labels: tuple[str, ...] | None = None  # of the records asked about, by whoever asked; kept nowhere

    @classmethod
    def recall(cls, kind: type[Query], value: Any, told: Mapping[str, Any], **rest: Any) -> Answer[Any]:
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

    @property
    def charged(self) -> float:
        """The ε that this call was charged: 0 if the stored answer was returned again."""
        return to_number(self.charged_nano)

    @property
    def remaining(self) -> float | None:
        """The ε that may still be spent; None for a simulation or a rehearsal."""
        return None if self.remaining_nano is None else to_number(self.remaining_nano)

    def labelled(self, query: Query[T]) -> Answer[T]:
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
            "charged": to_text(self.charged_nano),
            "remaining": self._left(),
            "expected": self.expectation.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "receipt": None if self.receipt is None else self.receipt.to_dict(),
            **_origin(self.origin),
            **({} if self.labels is None else {"labels": list(self.labels)}),
            **({} if self.under is None else {"declaration": self.under.to_dict()}),
        }

    @property
    def price(self) -> str:
        """What it cost, in words."""
        if self.rehearsed_on is not None:
            return "nothing: a rehearsal"
        if self.number is None:
            return "nothing: a simulation"
        return f"ε = {to_text(self.guarantee.nano)}"

    def lines(self) -> list[tuple[str, str]]:
        """Return all that it says beside its value, each with its name."""
        if self.rehearsed_on is not None:
            price = "nothing: a rehearsal, the table was not read"
        elif self.number is None:
            price = "nothing: a simulation on public data, no promise is made"
        elif self.charged_nano:
            price = f"ε = {to_text(self.charged_nano)}, answer {self.number}"
        else:
            price = f"nothing: answer {self.number}, released before for ε = {to_text(self.guarantee.nano)}"
        return [
            ("asked", self.asks),
            ("expected error", self.expectation.error),
            ("noise", self.expectation.noise),
            ("charged", price),
            *([("remaining", f"ε = {left}")] if (left := self._left()) is not None else []),
            *_promise(self.guarantee, self.origin),
            *([] if self.under is None else [("declaration", f"that of {self.under}; amended since")]),
        ]

    def _left(self) -> str | None:
        return None if self.remaining_nano is None else to_text(self.remaining_nano)

    def headline(self, longest: int) -> str:
        """Return the value in one line of at most so many letters."""
        first, *rest = self.shown.split("\n")
        text = first if len(first) <= longest else f"{first[: longest - 1]}…"
        return f"{text} …" if rest and not text.endswith("…") else text

    def pictures(self) -> list[Chart]:
        """Return the pictures of the value: each can be saved, and turned into altair's chart."""
        drawn = getattr(self.value, "pictures", None)
        found: list[Chart] = [] if drawn is None else list(drawn())
        return found

    def __str__(self) -> str:
        banner = [] if self.banner is None else [self.banner]
        return "\n".join([*banner, self.shown, *(_line(label, text) for label, text in self.lines())])

    def __repr__(self) -> str:
        numbered = "Answer" if self.number is None else f"Answer {self.number}"
        invented = "" if self.rehearsed_on is None else "INVENTED ROWS, "
        return f"<{numbered}: {invented}{self.headline(SHORT)} ({self.question}, {self.price})>"

    def _repr_html_(self) -> str:
        from anonymaly.ask.answer_page import answer_html  # noqa: PLC0415  (only notebooks)

        return answer_html(self)


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
