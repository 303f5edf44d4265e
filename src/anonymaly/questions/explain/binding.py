# SPDX-License-Identifier: Apache-2.0
"""What follows from the question and the declaration alone: everything but the rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from anonymaly.declare.attributes import Attribute, read_attributes
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Bins, Domain, Interval
from anonymaly.detectors import DETECTORS, Detector
from anonymaly.errors import InputError
from anonymaly.questions.explain.kernels.kernel import MOST_CONTEXTS, has_compiled_kernel
from anonymaly.questions.explain.metric_steps import Grid
from anonymaly.questions.explain.searches.search import SEARCHES, Search
from anonymaly.questions.explain.space import ContextSpace
from anonymaly.questions.explain.value import read_masks

Item = TypeVar("Item")

EXACT_LIMIT = 24  # free bits: 16,777,216 contexts, a few seconds and 200 MB on two cores
CELL_LIMIT = 1 << 20


class Asked(Protocol):
    """The fields of the question, which stands above this file in the import order."""

    @property
    def cost(self) -> int: ...  # noqa: D102
    @property
    def record(self) -> Any: ...  # noqa: D102
    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def attributes(self) -> Any: ...  # noqa: D102
    @property
    def detector(self) -> str: ...  # noqa: D102
    @property
    def parameters(self) -> Any: ...  # noqa: D102
    @property
    def utility(self) -> str: ...  # noqa: D102
    @property
    def target(self) -> Any: ...  # noqa: D102
    @property
    def search(self) -> str: ...  # noqa: D102
    @property
    def samples(self) -> int: ...  # noqa: D102
    @property
    def tries(self) -> int: ...  # noqa: D102
    @property
    def starts(self) -> int: ...  # noqa: D102
    @property
    def start(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Plan:
    """The question with every name looked up."""

    attributes: tuple[Attribute, ...]
    metric: str
    grid: Grid
    space: ContextSpace
    cell: int
    steps: int
    detector: Detector
    utility: str
    target: tuple[int, ...] | None
    search: Search
    samples: int
    tries: int
    start: int | None
    starts: int
    rate: Fraction

    @property
    def parameters(self) -> dict[str, Any]:
        """All of the detector's parameters, defaults too."""
        return dataclasses.asdict(self.detector)  # type: ignore[call-overload,no-any-return]

    @property
    def cells(self) -> int:
        """How many base cells there are."""
        return math.prod(self.space.sizes)


def make_plan(asked: Asked, declaration: Declaration) -> Plan:
    """Check the question against the declaration, or say which field does not fit."""
    columns = declaration.columns
    metric = _metric(asked.metric, columns)
    if asked.metric in [item.column if isinstance(item, Bins) else item for item in asked.attributes]:
        raise InputError(
            f"names the metric {asked.metric}",
            field="attributes",
            next_step="A record stands out *in* the metric.",
        )
    attributes = read_attributes(asked.attributes, columns)
    record = dict(asked.record)
    own = _own(record, attributes, asked.metric, metric)
    space = _space(attributes, own)
    search = _named(SEARCHES, asked.search, "search")
    detector = _detector(asked.detector, dict(asked.parameters))
    limit = EXACT_LIMIT if has_compiled_kernel(detector) else MOST_CONTEXTS.bit_length() - 1
    if search.name == "exact" and space.free_bits > limit:
        raise InputError(
            f"would look at 2^{space.free_bits} contexts; exact goes up to 2^{limit} with {detector.name}",
            field="search",
            next_step="Use fewer attributes or values, or search='breadth_first'.",
        )
    start = None
    if asked.start is not None:
        start = space.index(read_masks(dict(asked.start), attributes, own, field="start"))
    target = None
    if asked.utility == "overlap":
        target = read_masks(dict(asked.target), attributes, own, field="target")
    grid = Grid.of(metric)
    return Plan(
        attributes=attributes,
        metric=asked.metric,
        grid=grid,
        space=space,
        cell=_cell(own, space.sizes),
        steps=grid.steps(record[asked.metric]),
        detector=detector,
        utility=asked.utility,
        target=target,
        search=search,
        samples=asked.samples,
        tries=asked.tries,
        start=start,
        starts=asked.starts,
        rate=search.rate(
            asked.cost,
            samples=asked.samples,
            starts=asked.starts,
            adjacency=declaration.adjacency,
            rows=declaration.rows,
        ),
    )


def _metric(name: str, columns: Mapping[str, Domain]) -> Interval:
    domain = columns.get(name)
    if isinstance(domain, Interval):
        return domain
    raise InputError(
        f"there is no declared column {name!r}"
        if domain is None
        else f"{name} is {domain.describe()}, not numeric",
        field="metric",
        next_step="Name a column that is declared as an Interval.",
    )


def _own(
    record: dict[str, Any], attributes: Sequence[Attribute], metric: str, domain: Interval
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
            raise InputError(
                f"has a value of {attribute.column} that is not in its declared domain",
                field="record",
                next_step=f"Values: {', '.join(map(str, attribute.values))}.",
            )
    if not domain.contains(record[metric]):
        raise InputError(
            f"has a value of {metric} that is not in its declared domain",
            field="record",
            next_step=f"{metric} is {domain.describe()}.",
        )
    return tuple(code for code in own if code is not None)


def _space(attributes: Sequence[Attribute], own: tuple[int, ...]) -> ContextSpace:
    sizes = tuple(len(attribute.values) for attribute in attributes)
    if math.prod(sizes) > CELL_LIMIT:
        raise InputError(
            f"makes {math.prod(sizes):,} base cells; at most {CELL_LIMIT:,} are summarised",
            field="attributes",
            next_step="Use fewer attributes, or wider bins.",
        )
    return ContextSpace(sizes, own)


def _cell(own: Sequence[int], sizes: Sequence[int]) -> int:
    cell = 0
    for code, size in zip(own, sizes, strict=True):
        cell = cell * size + code
    return cell


def _named(table: Mapping[str, Item], name: str, field: str) -> Item:
    if name not in table:
        raise InputError(f"there is no {name!r}", field=field, next_step=f"One of {', '.join(table)}.")
    return table[name]


def _detector(name: str, parameters: dict[str, Any]) -> Detector:
    kind = type(_named(DETECTORS, name, "detector"))
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as problem:
        fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        reason = str(problem) if isinstance(problem, ValueError) else f"do not fit {name}"
        raise InputError(
            reason, field="parameters", next_step=f"{name} takes {', '.join(fields) or 'none'}."
        ) from None
