# SPDX-License-Identifier: Apache-2.0
"""The rules an owner declares: which relaxed promises an asker may cite, and under which names.

A relaxed promise protects fewer people than differential privacy does, so the asker must not choose it:
``beta=1000`` would turn "is this record an anomaly?" into an exact membership test, and the policy
``age >= 0`` would publish the table. Questions cite a rule by its name; the curator refuses the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    StrictStr,
    TypeAdapter,
    field_validator,
)

from anonymaly.core.epsilon import Number as EpsilonNumber
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.value import Number, Ordered, Value, added
from anonymaly.declare.allowed_detectors import Detectors, Parameter
from anonymaly.declare.attributes import read_attributes
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, find_domain
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate, Record
from anonymaly.errors import InputError

Metric = Literal["euclidean", "manhattan", "chebyshev"]
Names = Annotated[tuple[StrictStr, ...], Field(min_length=1), Ordered]
LeastEpsilon = Annotated[
    Decimal,
    BeforeValidator(lambda value: Decimal(to_text(to_nano(value, field="least_epsilon")))),
    PlainSerializer(str, return_type=str),
]


def _distinct(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if names is not None and len(set(names)) < len(names):
        raise ValueError("names a column twice")
    return names


class Policy(Value):
    """Who is *not* sensitive: records for which the text is true and every column it names is in its domain.

    Examples
    --------
    >>> from anonymaly.declare.domain import Flag, Interval
    >>> adults = Policy("age >= 18 and consent")
    >>> columns = {"age": Interval(0, 120), "consent": Flag()}
    >>> adults.sensitive({"age": 30, "consent": True}, columns), adults.sensitive({"age": 300}, columns)
    (False, True)
    """

    # The parsed tree is kept beside the fields: not compared, not written, not copied.
    __slots__ = ("_parsed",)

    type: Literal["policy"] = "policy"
    text: StrictStr
    """The condition that is true of whoever is not sensitive, such as age >= 18 and consent."""

    if TYPE_CHECKING:

        def __init__(self, text: str, *, type: str = "policy") -> None: ...

    def predicate(self, columns: Mapping[str, Domain], *, field: str = "policy") -> Predicate:
        """Return the tree that the text means for the declared columns; it is parsed once."""
        tree, named = getattr(self, "_parsed", (None, {}))
        # A tree depends on the columns that it names, and on no others.
        if tree is None or any(columns.get(name) != domain for name, domain in named.items()):
            return self._keep(parse(self.text, columns, field=field), columns)
        kept: Predicate = tree
        return kept

    def resolve(self, columns: Mapping[str, Domain], *, field: str) -> Policy:
        """Check the policy against the declared columns and return it in its canonical text."""
        tree = self.predicate(columns, field=field)
        resolved = Policy(str(tree))
        resolved._keep(tree, columns)
        return resolved

    def _keep(self, tree: Predicate, columns: Mapping[str, Domain]) -> Predicate:
        named = {name: columns[name] for name in tree.columns()}
        object.__setattr__(self, "_parsed", (tree, named))  # the fields are frozen
        return tree

    def sensitive(self, record: Record, columns: Mapping[str, Domain]) -> bool:
        """Judge one unclamped record; null, NaN and out-of-domain values make it sensitive."""
        predicate = self.predicate(columns)
        known = all(columns[name].contains(record.get(name)) for name in predicate.columns())
        return not (known and predicate.evaluate(record) is True)


class AnomalyModel(Value):
    """What an anomaly is: a record with at most ``beta`` records within ``radius``, itself included.

    Whoever is normal or nearly so is protected: a record is k-sensitive when adding up to k records could
    make it normal.
    """

    type: Literal["anomaly_model"] = "anomaly_model"
    columns: Names
    """The columns that records are compared by."""
    radius: Number = Field(ge=0)
    """The largest distance at which a record is near; 0 to compare for equality."""
    # No table has more than 2^53 records, and compiled counting has 64 bits.
    beta: StrictInt = Field(ge=1, le=2**53)
    """The most records that an anomaly has within the radius, itself included."""
    k: StrictInt = Field(default=1, ge=1, le=2**53)
    """How far from normal a record may be and still be protected, in added records."""
    metric: Metric = "euclidean"
    """The distance: euclidean, manhattan or chebyshev."""
    scaled: StrictBool = False
    """Whether each column's distance is divided by the width of its declared bounds."""

    if TYPE_CHECKING:

        def __init__(
            self,
            columns: Sequence[str],
            radius: float,
            beta: int,
            k: int = 1,
            metric: Metric = "euclidean",
            scaled: bool = False,
            *,
            type: str = "anomaly_model",
        ) -> None: ...

    _columns = field_validator("columns")(_distinct)

    def resolve(self, columns: Mapping[str, Domain], *, field: str) -> AnomalyModel:
        """Check the model against the declared columns."""
        for name in self.columns:
            domain = find_domain(name, columns, field=f"{field}.columns")
            # Equality needs no distance, so a model of exact matches may use any value that can be compared.
            if not isinstance(domain, Interval | Categories | Flag if self.radius == 0 else Interval):
                raise InputError(
                    f"{name} is {domain.describe()}; a distance needs a numeric column",
                    field=f"{field}.columns",
                    next_step="Declare it as an Interval, leave it out, or compare for equality by radius 0.",
                )
        return self


class SameContexts(Value):
    """Permission for questions whose promise covers only tables with the same valid contexts.

    An asker under this rule can test guesses about any record; ε does not limit that. So the rule binds the
    asker: each field limits what may be asked. Left out, they are narrow: any declared column and detector,
    with the detector's default parameters alone, no cuts of numbers, and few questions.

    Examples
    --------
    >>> SameContexts(metrics=["pay"], detectors=["grubbs"], questions=5).describe()
    'metrics pay; any attributes, no cuts; detectors grubbs; 5 questions of at least ε = 0.01; no start'
    """

    WARNING: ClassVar[str] = (
        "an asker under this rule can test guesses about any record; ε does not limit that"
    )

    type: Literal["same_contexts"] = "same_contexts"
    metrics: Names | None = None
    """The columns in which a record may stand out; any, by default."""
    attributes: Names | None = None
    """The columns whose declared values contexts may be made of; any, by default."""
    detectors: Detectors | None = None
    """The detectors that may be used, by default any, and the values that their parameters may have; of a
    parameter that is not listed, only the default."""
    # What follows came later. A rule that was declared without it is as narrow as one declared so now.
    least_epsilon: LeastEpsilon = added(Decimal("0.01"))
    """The least ε of each question."""
    questions: StrictInt = added(20, ge=1, le=2**53)
    """How many questions may be asked in all that differ in anything but their ε."""
    start: StrictBool = added(False)
    """Whether the asker may give the context that a search starts from."""
    # Whoever chooses edges finds a third person's number by halving, so the owner does, or there are none.
    bins: Annotated[tuple[Bins, ...], Ordered] = added(())
    """The cuts of numbers, each with its edges, that contexts may be made of besides; none, by default."""

    if TYPE_CHECKING:

        def __init__(
            self,
            metrics: Sequence[str] | None = None,
            attributes: Sequence[str] | None = None,
            detectors: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
            least_epsilon: EpsilonNumber = ...,
            questions: int = 20,
            start: bool = False,
            bins: Sequence[Bins] = (),
            *,
            type: str = "same_contexts",
        ) -> None: ...

    _metrics = field_validator("metrics", "attributes")(_distinct)

    def resolve(self, columns: Mapping[str, Domain], *, field: str) -> SameContexts:
        """Check the limits against the declared columns."""
        for limit, names in (("metrics", self.metrics), ("attributes", self.attributes)):
            for name in names or ():
                find_domain(name, columns, field=f"{field}.{limit}")
        for cut in self.bins:
            read_attributes([cut], columns, field=f"{field}.bins")
        return self

    def permits(self, *, metric: str, attributes: Sequence[str], detector: str) -> bool:
        """Say whether questions about these columns with this detector are allowed at all."""
        known = None if self.attributes is None else {*self.attributes, *(cut.column for cut in self.bins)}
        return (
            (self.metrics is None or metric in self.metrics)
            and (known is None or set(attributes) <= known)
            and (self.detectors is None or detector in dict(self.detectors))
        )

    def values_of(self, detector: str, defaults: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
        """Return the values that each parameter of a detector may have: those listed, or its default alone.

        Examples
        --------
        >>> rule = SameContexts(detectors={"lof": {"k": [10, 20]}})
        >>> rule.values_of("lof", {"k": 20, "threshold": 1.5})
        {'k': (10, 20), 'threshold': (1.5,)}
        """
        listed = dict(dict(self.detectors or ()).get(detector, ()))
        return {name: listed.get(name, (default,)) for name, default in defaults.items()}

    def describe(self) -> str:
        """Say in a few words what may be asked."""
        several = "question" if self.questions == 1 else "questions"
        return "; ".join(
            [
                f"metrics {', '.join(self.metrics)}" if self.metrics else "any metric",
                (f"attributes {', '.join(self.attributes)}" if self.attributes else "any attributes")
                + (f", {' or '.join(map(shown_cut, self.bins))}" if self.bins else ", no cuts"),
                f"detectors {', '.join(map(_shown, self.detectors))}" if self.detectors else "any detector",
                f"{self.questions:,} {several} of at least ε = {self.least_epsilon}",
                "a start may be given" if self.start else "no start",
            ]
        )


def shown_cut(cut: Bins) -> str:
    """Write a cut in a few words.

    Examples
    --------
    >>> shown_cut(Bins("age", [0, 18, 65, 120]))
    'age cut at 0, 18, 65, 120'
    """
    return f"{cut.column} cut at {', '.join(map(str, cut.edges))}"


def _shown(allowed: tuple[str, tuple[tuple[str, tuple[Parameter, ...]], ...]]) -> str:
    name, parameters = allowed
    values = "; ".join(f"{key} {' or '.join(map(str, listed))}" for key, listed in parameters)
    return f"{name} ({values})" if values else name


Rule = Policy | AnomalyModel | SameContexts
KINDS = ("policy", "anomaly_model", "same_contexts")
_RULE: TypeAdapter[Rule] = TypeAdapter(Annotated[Rule, Field(discriminator="type")])


def read_rule(data: Any, *, field: str) -> Rule:
    """Read a rule from plain data, as the YAML file holds it."""
    if isinstance(data, Policy | AnomalyModel | SameContexts):
        return data
    if not isinstance(data, Mapping) or data.get("type") not in KINDS:
        raise InputError(
            "is not a rule",
            field=field,
            next_step=f"Give type ({', '.join(KINDS)}) and its fields, "
            "as in {type: policy, text: age >= 18}.",
        )
    try:
        return _RULE.validate_python({str(name): item for name, item in data.items()})
    except InputError as error:
        place = f"{field}.{error.field}" if error.field else field
        raise InputError(error.problem, field=place, next_step=error.next_step) from None
