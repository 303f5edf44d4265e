# SPDX-License-Identifier: Apache-2.0
"""Which questions a `SameContexts` allows, and how it counts them.

Validity is told without noise, so no ε limits what it tells: the rule must. An asker who may choose a
threshold, or the edges of a cut, reads somebody's number by halving it, and one who may ask often enough
tries a list of guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymaly.ask.permit import Permit
from anonymaly.core.suggestions import guess
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins
from anonymaly.declare.rules import SameContexts, shown_cut
from anonymaly.detectors import DETECTORS, Detector
from anonymaly.errors import Refused, RuleNotDeclared

if TYPE_CHECKING:
    from anonymaly.questions.explain.query import Explain


def permit_under_rules(
    query: Explain,
    *,
    attributes: Sequence[str],
    detector: Detector,
    declaration: Declaration,
    cited: str | None = None,
) -> Permit | None:
    """Return the rule that allows a question, and what it counts; refuse what is beyond it.

    Parameters
    ----------
    query : Explain
        The question, in its canonical form.
    attributes : sequence of str
        The columns that its groups are made of.
    detector : Detector
        The detector with its parameters.
    declaration : Declaration
        With the rules.
    cited : str, optional
        The name of the rule that is cited; no other counts then. Without it, any that is declared will do.

    Returns
    -------
    Permit or None
        None only if none is cited, and none allows these columns and this detector: the curator then refuses
        the promise.

    Raises
    ------
    Refused
        If the question is beyond the rule that is cited, or beyond each that allows its columns and detector.
        This depends on the question and the rules alone.
    """
    rules = {name: rule for name, rule in declaration.rules.items() if isinstance(rule, SameContexts)}
    if cited is not None:
        if cited not in rules:
            raise RuleNotDeclared(
                f"there is no rule {cited!r} for contexts",
                field="rule",
                next_step=f"{guess(cited, rules)}Declared: {', '.join(rules) or 'none'}.",
            )
        rules = {cited: rules[cited]}
    refusal: Refused | None = None
    for name, rule in rules.items():
        allowed = rule.permits(metric=query.metric, attributes=attributes, detector=detector.name)
        if cited is None and not allowed:
            continue
        beyond = (
            _beyond(query, detector, name, rule)
            if allowed
            else _of_others(query.metric, attributes, detector.name, name, rule)
        )
        if beyond is None:
            return Permit(name, rule.questions, _same(query, attributes, declaration))
        refusal = refusal or beyond
    if refusal is not None:
        raise refusal
    return None


def _of_others(
    metric: str, attributes: Sequence[str], detector: str, name: str, rule: SameContexts
) -> Refused:
    """Return the refusal of a question about other columns, or with another detector, than a rule allows."""
    asked = f"{metric} by {', '.join(attributes)} with {detector}"
    return Refused(
        f"the rule {name!r} does not allow to ask about {asked}; it allows {rule.describe()}",
        field="rule",
        next_step="Ask what it allows, cite another rule, or ask the owner.",
    )


def _beyond(query: Explain, detector: Detector, name: str, rule: SameContexts) -> Refused | None:
    """Return the refusal of the first thing in a question that is beyond a rule."""
    allowed = rule.values_of(detector.name, DETECTORS[detector.name].parameters)
    for parameter, value in detector.parameters.items():
        if not _is_one_of(value, allowed[parameter]):
            shown = " or ".join(map(str, allowed[parameter]))
            return Refused(
                f"the rule {name!r} allows {detector.name} with {parameter} = {shown}, not {value}",
                field="parameters",
                next_step=f"Give {parameter} as it is allowed, or ask the owner to list it, as in "
                f"detectors={{{detector.name!r}: {{{parameter!r}: [{value}]}}}}.",
            )
    if query.start is not None and not rule.start:
        return Refused(
            f"the rule {name!r} allows no start to be given",
            field="start",
            next_step="Leave it out: one is drawn blindly. Or ask the owner to allow it, by start=True.",
        )
    if query.epsilon < rule.least_epsilon:
        return Refused(
            f"{query.epsilon} is less than {rule.least_epsilon}, the least ε that the rule {name!r} allows",
            field="epsilon",
            next_step=f"Give at least {rule.least_epsilon}, or ask the owner to allow less (least_epsilon).",
        )
    cuts = [item for item in query.attributes if isinstance(item, Bins) and item not in rule.bins]
    return _of_another_cut(cuts[0], name, rule) if cuts else None


def _of_another_cut(asked: Bins, name: str, rule: SameContexts) -> Refused:
    """Return the refusal of a cut that the owner did not list."""
    listed = [cut for cut in rule.bins if cut.column == asked.column]
    allowed = " or ".join(map(shown_cut, listed)) or f"no cuts of {asked.column}"
    return Refused(
        f"the rule {name!r} allows {allowed}, and {len(asked.edges)} other edges are given",
        field="attributes",
        next_step=f"{'Cut it so' if listed else 'Leave it out'}, or ask the owner to list the cut with its "
        f"edges, as in bins=[am.Bins({asked.column!r}, …)].",
    )


def _is_one_of(value: Any, allowed: Sequence[Any]) -> bool:
    # True is not 1 here: it is another parameter.
    return any(isinstance(value, bool) == isinstance(item, bool) and value == item for item in allowed)


def _same(query: Explain, attributes: Sequence[str], declaration: Declaration) -> Mapping[str, Any]:
    """Return what makes two questions one to the rule: all but ε, of the same columns and version."""
    asked = {name: item for name, item in query.to_dict().items() if name != "epsilon"}
    declared = {name: domain.to_dict() for name, domain in declaration.columns.items()}
    columns: Any = {name: declared[name] for name in sorted([query.metric, *attributes])}
    if declaration.person is not None:
        # Which rows of a person are read follows from all columns in their order: with others, other contexts
        # may be valid.
        columns = [[name, domain] for name, domain in declared.items()]
    return {"asked": asked, "columns": columns, "version": declaration.version}
