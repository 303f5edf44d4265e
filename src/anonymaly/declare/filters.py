# SPDX-License-Identifier: Apache-2.0
"""The parser of filters and policies: from text to a typed tree, with errors that name the place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from anonymaly.core.suggestions import near
from anonymaly.declare.domain import (
    Categories,
    Domain,
    Flag,
    Interval,
    Opaque,
    Timestamps,
    Unbounded,
    no_such_column,
    read_moment,
)
from anonymaly.declare.predicates import (
    COMPARISONS,
    Comparison,
    Conjunction,
    Disjunction,
    IsNull,
    Literal,
    Membership,
    Negation,
    Predicate,
    Truth,
    write_column,
    write_literal,
)
from anonymaly.errors import ExpressionError

LONGEST_TEXT = 10_000
LARGEST_TREE = 500
DEEPEST_TREE = 40
LANGUAGE = (
    "Write comparisons of a column with a value, joined by and, or, not, "
    "as in age >= 18 and ward in ['A', 'B']."
)

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?!\w))
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<quoted>`[^`]+`)
      | (?P<word>[^\W\d]\w*)
      | (?P<symbol><=|>=|==|!=|<>|[<>=()\[\]{},])
    )""",
    re.VERBOSE | re.DOTALL,
)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_SPELLINGS = {"=": "==", "<>": "!="}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS = frozenset({"and", "or", "not", "in", "is", "null", "true", "false"})


@dataclass(frozen=True)
class _Token:
    kind: str  # number, text, name, word (a keyword), symbol, end
    text: str
    place: int


def parse(text: str, columns: Mapping[str, Domain], *, field: str = "where") -> Predicate:
    """Parse a filter and check it against the declared columns.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval, Flag
    >>> tree = parse("18<=age and not consent", {"age": Interval(0, 120), "consent": Flag()})
    >>> str(tree)
    'age >= 18 and not consent'
    >>> tree.evaluate({"age": 40, "consent": False})
    True
    """
    if not isinstance(text, str):
        raise ExpressionError(f"must be text, got {type(text).__name__}", field=field, next_step=LANGUAGE)
    _refuse_long(text, "has", field)
    tree = _Parser(text, columns, field).parse()
    # A question keeps the canonical text and must be able to read it again.
    _refuse_long(str(tree), "has, written out in full,", field)
    return tree


def _end_of_word(text: str, end: int) -> int:
    """Return where a word ends that has begun: the vowels of many scripts are marks, which \\w leaves out."""
    while end < len(text) and (
        text[end] == "_" or text[end].isalnum() or unicodedata.category(text[end]).startswith("M")
    ):
        end += 1
    return end


def _refuse_long(text: str, has: str, field: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(
            f"{has} {len(text):,} characters; at most {LONGEST_TEXT:,} are read",
            field=field,
            next_step="Shorten it; a long list of values is shorter with `in`.",
        )


def _meant(literal: Literal, column: str, domain: Domain) -> str:
    """Return what was probably meant, as the language writes it: a value, a flag, a date in quotes."""
    name = write_column(column)
    if isinstance(domain, Flag):
        return f"Write {name}, or not {name}. "
    if isinstance(domain, Timestamps):
        return f"Dates stand in quotes, as in {name} >= '2026-01-31'. "
    if not isinstance(domain, Categories) or isinstance(literal, bool):
        return ""
    known = {str(value): write_literal(value) for value in domain.values}
    found = [known[name] for name in near(str(literal), known)]
    return f"Did you mean {' or '.join(found)}? " if found else ""


def _unquoted(text: str, columns: Mapping[str, Domain]) -> str:
    """Return how a declared name that only backquotes can hold is written, if a text has it without them."""
    found = [name for name in columns if not name.isidentifier() and name in text]
    missed = [write_column(name) for name in found if write_column(name) not in text]
    return f"Write {' and '.join(missed)}, in backquotes. " if missed else ""


def _flat(kind: type[Conjunction | Disjunction], parts: list[Predicate]) -> tuple[Predicate, ...]:
    """Drop brackets that change nothing: (a and b) and c is a and b and c, one tree and one text."""
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)))


class _Parser:
    """Recursive descent; the depth cap keeps Python's own stack far away."""

    def __init__(self, text: str, columns: Mapping[str, Domain], field: str) -> None:
        self.text, self.columns, self.field = text, columns, field
        self.tokens = self._tokens()
        self.position = 0
        self.depth = 0
        self.size = 0

    def parse(self) -> Predicate:
        if self.current.kind == "end":
            raise self.problem("is empty")
        tree = self.disjunction()
        if self.current.kind != "end":
            raise self.problem(f"did not expect {self.current.text!r}")
        return tree

    def disjunction(self) -> Predicate:
        parts = [self.conjunction()]
        while self.accept("or"):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Disjunction(_flat(Disjunction, parts))

    def conjunction(self) -> Predicate:
        parts = [self.negation()]
        while self.accept("and"):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else Conjunction(_flat(Conjunction, parts))

    def negation(self) -> Predicate:
        self.depth += 1
        self.size += 1
        if self.depth > DEEPEST_TREE:
            raise self.problem(f"is nested more than {DEEPEST_TREE} deep")
        if self.size > LARGEST_TREE:
            raise self.problem(f"has more than {LARGEST_TREE} conditions")
        tree: Predicate
        if self.accept("not"):
            tree = Negation(self.negation())
        elif self.accept("("):
            tree = self.disjunction()
            self.expect(")")
        else:
            tree = self.condition()
        self.depth -= 1
        return tree

    def condition(self) -> Predicate:
        start = self.current
        if start.kind in ("number", "text") or self.at("true") or self.at("false"):
            literal = self.literal()
            operator = self.comparison()
            column = self.column()
            return Comparison(column, _MIRRORED[operator], self.typed(column, operator, literal))
        column = self.column()
        if self.accept("is"):
            negated = self.accept("not")
            self.expect("null")
            return Negation(IsNull(column)) if negated else IsNull(column)
        if self.accept("not"):
            self.expect("in")
            return Negation(self.membership(column))
        if self.accept("in"):
            return self.membership(column)
        if (
            self.current.kind == "symbol"
            and _SPELLINGS.get(self.current.text, self.current.text) in COMPARISONS
        ):
            operator = self.comparison()
            literal = self.literal()
            return Comparison(column, operator, self.typed(column, operator, literal))
        if isinstance(self.columns[column], Flag):
            return Truth(column)
        raise self.problem(f"expected a comparison after {column}, found {self.current.text or 'the end'!r}")

    def membership(self, column: str) -> Predicate:
        opening = self.current.text
        if self.current.kind != "symbol" or opening not in _CLOSING:
            raise self.problem("expected a list in brackets after `in`")
        self.position += 1
        literals = [self.typed(column, "in", self.literal())]
        while self.accept(","):
            literals.append(self.typed(column, "in", self.literal()))
        self.expect(_CLOSING[opening])
        # Sorted and without repeats: the same list in another order is the same question.
        return Membership(column, tuple(sorted(set(literals), key=lambda item: (str(type(item)), item))))

    def comparison(self) -> str:
        text = _SPELLINGS.get(self.current.text, self.current.text)
        if self.current.kind != "symbol" or text not in COMPARISONS:
            raise self.problem(f"expected a comparison such as ==, found {self.current.text or 'the end'!r}")
        self.position += 1
        return text

    def column(self) -> str:
        token = self.current
        if token.kind != "name":
            raise self.problem(f"expected a column, found {token.text or 'the end'!r}")
        if token.text not in self.columns:
            raise no_such_column(
                token.text,
                map(write_column, self.columns),
                field=self.field,
                place=f" (character {token.place + 1})",
                hint=_unquoted(self.text, self.columns),
                error=ExpressionError,
            )
        self.position += 1
        return token.text

    def literal(self) -> Literal:
        token = self.current
        self.position += 1
        if token.kind == "number":
            number = float(token.text)
            # Engines compare 64-bit numbers; a longer one would fail there, after the charge.
            if abs(number) >= 2.0**63:
                raise self.problem("has a number too large to compare with", back=1)
            if token.text.lstrip("+-").isdigit():
                return int(Decimal(token.text))  # not int(), which refuses thousands of zeros
            return int(number) if number.is_integer() else number
        if token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        if token.kind == "name":
            raise self.problem(
                f"expected a value, found the name {token.text!r}: text goes in quotes", back=1
            )
        if token.text in ("true", "false"):
            return token.text == "true"
        if token.text == "null":
            raise self.problem("compares with null; write `is null`", back=1)
        raise self.problem(f"expected a value, found {token.text or 'the end'!r}", back=1)

    def typed(self, column: str, operator: str, literal: Literal) -> Literal:
        """Check one comparison against the column's domain and return the literal in its type."""
        domain = self.columns[column]
        ordered = operator in ("<", "<=", ">", ">=")
        match domain:
            case Interval() | Unbounded() if isinstance(literal, int | float) and type(literal) is not bool:
                # An engine rounds it to compare with a column of floats; Python compares exactly.
                if float(literal) != literal:
                    raise self.problem("has a number of more digits than are compared", back=1)
                return literal
            case Flag() if isinstance(literal, bool) and not ordered:
                return literal
            case Categories() if domain.is_label(literal) and not ordered:
                return literal
            case Timestamps() if isinstance(literal, str):
                try:
                    return read_moment(literal)
                except ValueError as problem:
                    raise self.problem(f"{column} {problem}", back=1) from None
            case Opaque():
                raise self.problem(f"{column} is opaque: only `is null` may be asked of it", back=1)
        shown, name = write_literal(literal), write_column(column)
        raise self.problem(
            f"{name} is {domain.describe()}; it cannot be compared by {operator} with {shown}",
            back=1,
            next_step=f"{_meant(literal, column, domain)}{LANGUAGE}",
        )

    @property
    def current(self) -> _Token:
        return self.tokens[self.position]

    def at(self, text: str) -> bool:
        # By kind too: a column in backquotes may be called `true` or even `(`.
        return self.current.text == text and self.current.kind in ("word", "symbol")

    def accept(self, text: str) -> bool:
        if self.at(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.problem(f"expected {text!r}, found {self.current.text or 'the end'!r}")

    def problem(self, what: str, back: int = 0, next_step: str | None = None) -> ExpressionError:
        next_step = next_step or f"{_unquoted(self.text, self.columns)}{LANGUAGE}"
        token = self.tokens[max(self.position - back, 0)]
        return ExpressionError(f"{what} (character {token.place + 1})", field=self.field, next_step=next_step)

    def _tokens(self) -> list[_Token]:
        tokens: list[_Token] = []
        position = 0
        while match := _TOKEN.match(self.text, position):
            kind = str(match.lastgroup)
            start, end = match.span(kind)
            if kind == "word":
                end = _end_of_word(self.text, end)
            text = self.text[start:end]
            if kind == "quoted":
                kind, text = "name", text[1:-1]
            elif kind == "word":
                kind, text = ("word", text.lower()) if text.lower() in _WORDS else ("name", text)
            tokens.append(_Token(kind, text, start))
            position = end
        rest = self.text[position:].strip()
        tokens.append(_Token("end", "", len(self.text)))
        if rest:
            place = self.text.index(rest, position)
            raise ExpressionError(
                f"cannot read {rest[0]!r} (character {place + 1})",
                field=self.field,
                next_step=f"{_unquoted(self.text, self.columns)}{LANGUAGE}",
            )
        return tokens
