# SPDX-License-Identifier: Apache-2.0
"""Whether a question may be asked at all: by the question and the declaration alone."""

from __future__ import annotations

from anonymaly.ask import catalogue
from anonymaly.ask.binding import Binding
from anonymaly.ask.permit import Permit
from anonymaly.ask.query import Query
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError, Refused, RuleNotDeclared
from anonymaly.ledger.terms import UNNAMED
from anonymaly.promise import Relation


def accept(query: Query, declaration: Declaration) -> Binding:
    """Read a question again, bind it to a declaration, and refuse what the owner did not allow."""
    refuse_no_question(query)
    catalogue.refuse_unnamed(query.question, declaration.questions)
    _refuse_another(type(query))
    # Parsed again from its canonical text: what is charged and recorded is what is computed.
    bound = type(query).read(query.to_dict()).bind(declaration)
    kind = type(bound.query).__name__
    if not bound.query.kept:
        raise Refused(
            f"the answer of this {kind} cannot be stored, and every charged answer must be",
            field="query",
            next_step="Ask for a form that can be stored, or simulate on public data.",
        )
    relation = bound.relation
    if not (declaration.any_rule or relation.permitted(declaration.rules)):
        raise RuleNotDeclared(
            f"{kind} needs a promise that the owner of {declaration.name} did not declare: "
            f"it would protect only {relation.protects()}",
            field="rules",
            next_step=f"Cite a declared rule ({', '.join(declaration.rules) or 'there is none'}), "
            f"or ask the owner to declare one{_such_as(relation)}.",
        )
    if sum(bound.shares.values()) != bound.query.cost or min(bound.shares.values()) <= 0:
        raise AssertionError(f"the shares of {bound.query.question} do not sum to its cost")
    return bound


def refuse_no_question(query: Query) -> None:
    """Refuse what is no question."""
    if not isinstance(query, Query):
        raise InputError(
            f"must be a question, got {type(query).__name__}",
            field="query",
            next_step="Give, for instance, am.Count(epsilon=0.1).",
        )


def permit_of(bound: Binding) -> Permit | None:
    """Return the rule that counts a question; refuse what is beyond every rule."""
    return None if bound.declaration.any_rule else bound.permit()


def rule_of(bound: Binding, permit: Permit | None) -> str | None:
    """Return the name of the rule that a question's promise rests on, as grants know it.

    None if it needs none; a promise that has no name, because the owner allows any, is ``UNNAMED``.
    """
    if permit is not None:
        return permit.rule
    if bound.relation.needs() is None:
        return None
    return getattr(bound.relation, "rule", None) or UNNAMED


def _such_as(relation: Relation) -> str:
    """Write a rule that would permit a promise, as its owner would declare it."""
    needed = relation.needs()
    if needed is None:
        return ""
    name, rule = needed
    defaults = {field: info.default for field, info in type(rule).model_fields.items()}
    fields = [f"{field}={item!r}" for field, item in rule.to_dict().items() if item != defaults[field]]
    return f", such as rules={{{name!r}: am.{type(rule).__name__}({', '.join(fields)})}}"


def _refuse_another(kind: type[Query]) -> None:
    """Refuse a question under the name of another one."""
    # What cannot be found by its name now could not be read back from the store later.
    if not issubclass(kind, catalogue.load(kind.question)):
        raise Refused(
            f"{kind.__module__}.{kind.__name__} calls itself {kind.question!r}, which is another question",
            field="question",
            next_step="Give it a name of its own.",
        )
