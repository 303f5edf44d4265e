# SPDX-License-Identifier: Apache-2.0
"""``explain`` bound to a declaration: for everyone, or under a rule.

The form under a rule is here: attributes, contexts, detector and search by name, and the rate. The form for
everyone is in the folder ``everyone``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.ask.permit import Permit
from anonymaly.core.suggestions import guess, listed
from anonymaly.core.value import frozen_items
from anonymaly.declare.attributes import (
    MOST_CELLS,
    Attribute,
    read_attributes,
    undeclared_number,
    undeclared_value,
)
from anonymaly.declare.dates import Dates
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins, Domain, Interval, find_domain
from anonymaly.declare.rules import SameContexts
from anonymaly.detectors import DETECTORS, Detector
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import ContextQuestion, SameValidContexts
from anonymaly.questions.explain.everyone.binding import EveryoneBinding, bind_for_everyone
from anonymaly.questions.explain.kernels import has_kernel, most_free_bits
from anonymaly.questions.explain.metric_steps import MetricSteps
from anonymaly.questions.explain.searches import SEARCHES, Search, SearchSettings
from anonymaly.questions.explain.space import MOST_ATTRIBUTES, MOST_FREE_BITS, ContextSpace
from anonymaly.questions.explain.under_rule import permit_under_rules

if TYPE_CHECKING:
    from anonymaly.questions.explain.query import Explain

Item = TypeVar("Item")

DEFAULT_DETECTOR = "lof"
FOR_EVERYONE = ("among", "groups", "why", "steps")  # fields that the form under a rule does not have


@dataclass(frozen=True, kw_only=True)
class ExplainBinding(Binding):
    """The question with every name looked up."""

    query: Explain
    attributes: tuple[Attribute, ...]
    metric_steps: MetricSteps
    record_steps: int  # the record's metric
    space: ContextSpace
    detector: Detector
    target: tuple[int, ...] | None  # a bit mask for each attribute
    search: Search
    settings: SearchSettings
    rate: Fraction

    @property
    def used(self) -> Used:
        """The metric and the attributes; a rule permits the question, and changes nothing about it."""
        names = [self.query.metric, *(attribute.column for attribute in self.attributes)]
        rules = [self.query.rule] if self.query.rule and not self.declaration.any_rule else []
        return Used(frozenset(names), frozenset(rules))

    @property
    def warning(self) -> str:
        """That validity is told without noise."""
        return SameContexts.WARNING

    def permit(self) -> Permit | None:
        """Return the rule that allows the question, which binds whoever asks."""
        return permit_under_rules(
            self.query,
            attributes=[attribute.column for attribute in self.attributes],
            detector=self.detector,
            declaration=self.declaration,
            cited=None if self.declaration.any_rule else self.query.rule or None,
        )

    @property
    def shares(self) -> Mapping[str, int]:
        """The one stage takes all of the charge."""
        return {"context": self.query.cost}

    @cached_property
    def relation(self) -> SameValidContexts:
        """The tables with the same valid contexts."""
        query = self.query
        parameters: dict[str, Any] = dict(query.parameters)
        question = ContextQuestion(
            metric=query.metric,
            attributes=[item for item in query.attributes if not isinstance(item, Dates)],
            detector=self.detector.name,
            parameters=parameters,
            record=self.digest_of("promise", dict(query.record)),
        )
        return SameValidContexts(question, self.declaration.adjacency, self.declaration.unit_rows)

    def expect(self) -> Expectation:
        """Return how much smaller than the best group the released one may be."""
        noise = f"permute-and-flip, ε {float(self.rate):.3g} for each unit of utility and draw"
        if self.search.name != "exact":
            return Expectation(noise, "depends on the groups that the search meets")
        # At most 2^F candidates: Pr[u* − u ≥ s] ≤ 2^F·e^(−ε1·s).
        short = math.ceil((self.space.free_bits * math.log(2) + math.log(20)) / float(self.rate))
        what = "records" if self.query.utility == "population" else "shared records"
        return Expectation(
            noise,
            f"at most {short:,} {what} short of the best group in 95 of 100 draws",
            short,
            measure=Measure(
                short, "records", f"95 of 100 draws give a group at most so many {what} short of the best"
            ),
        )

    @property
    def why_no_measure(self) -> str:
        """Say that a search that looks at some groups promises nothing about the best of all."""
        return (
            f"how good a group {self.search.name} finds depends on the groups that it meets; exact, which "
            "looks at all of them, has a number"
        )


def bind(query: Explain, declaration: Declaration) -> ExplainBinding | EveryoneBinding:
    """Bind the question for everyone, or, if it cites a rule, in the form that the rule permits."""
    return (
        bind_for_everyone(query, declaration) if query.rule is None else bind_under_rule(query, declaration)
    )


def bind_under_rule(query: Explain, declaration: Declaration) -> ExplainBinding:
    """Check that the rule is declared and permits the question, then the question itself."""
    if query.rule and not declaration.any_rule:
        _refuse_undeclared(query.rule, declaration)
    return bind_contexts(query, declaration)


def _refuse_undeclared(name: str, declaration: Declaration) -> None:
    rules = [known for known, rule in declaration.rules.items() if isinstance(rule, SameContexts)]
    if name not in rules:
        raise RuleNotDeclared(
            f"the owner of {declaration.name} declared no same_contexts rule {name!r}",
            field="rule",
            next_step=f"{guess(name, rules)}Cite a declared one ({', '.join(rules) or 'there is none'}), or "
            "leave it out: without a rule everyone is protected.",
        )


def bind_contexts(query: Explain, declaration: Declaration) -> ExplainBinding:
    """Check the question against the declaration; write the detector's parameters out."""
    _refuse_what_is_for_everyone(query)
    metric = _metric(query.metric, declaration.columns)
    attributes_asked = [item for item in query.attributes if not isinstance(item, Dates)]
    if query.metric in [item.column if isinstance(item, Bins) else item for item in attributes_asked]:
        raise InputError(
            f"names the metric {query.metric}",
            field="attributes",
            next_step="A record stands out *in* the metric.",
        )
    attributes = read_attributes(attributes_asked, declaration.columns)
    record: dict[str, Any] = dict(query.record)
    own = _own_values(record, attributes, query.metric, metric)
    space = _space(attributes, own)
    search = _named(SEARCHES, query.search, "search")
    detector = _detector(query.detector or DEFAULT_DETECTOR, dict(query.parameters))
    limit = most_free_bits(detector)
    if search.name == "exact" and space.free_bits > limit:
        raise InputError(
            f"would look at 2^{space.free_bits} contexts; exact goes up to 2^{limit} with {detector.name}",
            field="search",
            next_step="Use fewer attributes or values, or search='uniform', which draws groups blindly: as "
            "many samples as you like cost no more ε.",
        )
    settings = SearchSettings(
        start=None if query.start is None else space.index(_masks(query.start, attributes, own, "start")),
        starts=query.starts,
        samples=query.samples or search.default_samples(compiled=has_kernel(detector)),
        tries=query.tries,
    )
    search.check(settings)
    steps = MetricSteps.of(metric)
    parameters = frozen_items(dataclasses.asdict(detector))  # type: ignore[call-overload]
    return ExplainBinding(
        # Written out, so that the question stays the same when a default changes.
        query=query.model_copy(
            update={"detector": detector.name, "parameters": parameters, "samples": settings.samples}
        ),
        declaration=declaration,
        attributes=attributes,
        metric_steps=steps,
        record_steps=steps.steps(record[query.metric]),
        space=space,
        detector=detector,
        target=_masks(query.target, attributes, own, "target") if query.utility == "overlap" else None,
        search=search,
        settings=settings,
        rate=search.rate(query.cost, settings, adjacency=declaration.adjacency, rows=declaration.rows),
    )


def _refuse_what_is_for_everyone(query: Explain) -> None:
    fields = type(query).model_fields
    given = [name for name in FOR_EVERYONE if getattr(query, name) != fields[name].default]
    if any(isinstance(item, Dates) for item in query.attributes):
        given = ["attributes", *given]
    if given:
        raise InputError(
            "cuts dates by the calendar, which no rule permits"
            if given[0] == "attributes"
            else "is for everyone",
            field=given[0],
            next_step="Leave it out, or leave the rule out: without one everyone is protected.",
        )


def _metric(name: str, columns: Mapping[str, Domain]) -> Interval:
    domain = find_domain(name, columns, field="metric")
    if isinstance(domain, Interval):
        return domain
    raise InputError(
        f"{name} is {domain.describe()}, not numeric",
        field="metric",
        next_step="Name a column that is declared as an Interval.",
    )


def _own_values(
    record: Mapping[str, Any], attributes: Sequence[Attribute], metric: str, domain: Interval
) -> tuple[int, ...]:
    """Return the numbers of the record's own values; the messages name fields, never values."""
    needed = [attribute.column for attribute in attributes] + [metric]
    missing = [name for name in needed if name not in record]
    extra = [name for name in record if name not in needed]
    if missing or extra:
        raise InputError(
            f"has no {missing[0]}" if missing else f"has {extra[0]}, which the question does not use",
            field="record",
            next_step=f"Give {', '.join(needed)}.",
        )
    own = [attribute.code(record[attribute.column]) for attribute in attributes]
    for code, attribute in zip(own, attributes, strict=True):
        if code is None:
            raise undeclared_value(attribute, record[attribute.column], field="record")
    if not domain.contains(record[metric]):
        raise undeclared_number(metric, record[metric], domain.describe(), field="record")
    return tuple(code for code in own if code is not None)


def _space(attributes: Sequence[Attribute], own: tuple[int, ...]) -> ContextSpace:
    sizes = tuple(len(attribute.values) for attribute in attributes)
    cells, free = math.prod(sizes), sum(sizes) - len(sizes)
    problem = None
    if len(sizes) > MOST_ATTRIBUTES:
        problem = f"are {len(sizes)}; groups are made of at most {MOST_ATTRIBUTES}"
    elif cells > MOST_CELLS:
        problem = f"make {cells:,} base cells; at most {MOST_CELLS:,} are summarised"
    elif free > MOST_FREE_BITS:
        problem = f"have {free} values besides the record's own; {MOST_FREE_BITS} can be searched"
    if problem is not None:
        raise InputError(problem, field="attributes", next_step="Use fewer attributes, or wider bins.")
    return ContextSpace(sizes, own)


def _masks(given: Any, attributes: Sequence[Attribute], own: Sequence[int], field: str) -> tuple[int, ...]:
    """Read a context that the asker gives, as bit masks; an attribute that is left out takes all values."""
    chosen = dict(given)
    known = {attribute.column: attribute for attribute in attributes}
    for name in chosen:
        if name not in known:
            raise InputError(
                f"{name!r} is not one of the attributes",
                field=field,
                next_step=f"Attributes: {', '.join(known)}.",
            )
    masks = []
    for attribute, code in zip(attributes, own, strict=True):
        values = chosen.get(attribute.column, attribute.values)
        values = values if isinstance(values, list | tuple) else (values,)
        unknown = [value for value in values if value not in attribute.values]
        if unknown or not values:
            raise InputError(
                f"{attribute.column} has no value {unknown[0]!r}"
                if unknown
                else f"{attribute.column} has no values",
                field=field,
                next_step=_values(attribute, unknown),
            )
        mask = sum(1 << number for number, value in enumerate(attribute.values) if value in values)
        if not mask >> code & 1:
            raise InputError(
                f"leaves out the record's own value of {attribute.column}",
                field=field,
                next_step="A record can only stand out in a context that it is in.",
            )
        masks.append(mask)
    return tuple(masks)


def _values(attribute: Attribute, unknown: Sequence[Any]) -> str:
    meant = str(unknown[0]) if unknown else ""
    return f"{guess(meant, attribute.values)}Values: {listed(attribute.values, meant)}."


def _named(table: Mapping[str, Item], name: str, field: str) -> Item:
    if name not in table:
        raise InputError(
            f"there is no {name!r}", field=field, next_step=f"{guess(name, table)}One of {', '.join(table)}."
        )
    return table[name]


def _detector(name: str, parameters: Mapping[str, Any]) -> Detector:
    kind = type(_named(DETECTORS, name, "detector"))
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as problem:
        fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        reason = str(problem) if isinstance(problem, ValueError) else f"do not fit {name}"
        raise InputError(
            reason, field="parameters", next_step=f"{name} takes {', '.join(fields) or 'none'}."
        ) from None
