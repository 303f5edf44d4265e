# SPDX-License-Identifier: Apache-2.0
"""The owner's look at the declared columns before the first charge: can the values be read as declared?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps, Unbounded
from anonymaly.declare.rules import AnomalyModel
from anonymaly.engine import lookup
from anonymaly.engine.columns import PERSON, PLACE
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.errors import SchemaError
from anonymaly.inspect.found import (
    ColumnLook,
    ColumnsLook,
    LinesLook,
    PersonsLook,
    Spelling,
    Trouble,
    UsableRows,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

SPELLINGS = 5  # shown of a column
LONGEST = 60  # characters of a spelling that are looked at
# What becomes of a value, as a number in the order of what is left of it.
NULL, UNREADABLE, OUTSIDE, WITHIN = range(4)


def columns(dataset: Dataset) -> ColumnsLook:
    """Count for each declared column what becomes of the rows' values when they are read as declared.

    Nothing is charged, because the owner alone may see it. What is wrong with how a file is read shows here:
    dates or decimal commas that are read as nothing, spellings that are in no category, persons with more
    rows than declared. Bounds and categories must not be taken from here: they would depend on people.

    Parameters
    ----------
    dataset
        The owner's table, of any source.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> people = pandas.DataFrame({"age": [30, 999], "sex": ["F", "female"]})
    >>> domains = {"age": am.Interval(0, 120), "sex": am.Categories(["F", "M"])}
    >>> looked = am.inspect.columns(am.Dataset(people, name="people", columns=domains))
    >>> [(column.column, column.within, column.outside, column.undeclared) for column in looked.columns]
    [('age', 1, 1, 0), ('sex', 1, 0, 1)]
    """
    dataset.ready()  # a lost connection or a missing permission is reported in our own words
    try:
        return _look(dataset)
    except EngineFailure as failure:
        kind = failure.kind
    raise SchemaError(
        f"the table cannot be read ({kind})", field="source", next_step="Check that it is still there."
    )


def _look(dataset: Dataset) -> ColumnsLook:
    declaration = dataset.declaration
    judged = _judged(dataset)
    counts = _counts(judged, declaration)
    troubled = [
        place
        for place, (name, domain) in enumerate(declaration.columns.items())
        if counts[_sum(place, UNREADABLE)] + counts[_sum(place, OUTSIDE)] and not isinstance(domain, Opaque)
    ]
    spellings = _spellings(judged, troubled) if troubled else {}
    found = [
        _column(name, domain, place, counts, spellings.get(place, []))
        for place, (name, domain) in enumerate(declaration.columns.items())
    ]
    # Stable: of columns that are equally suspicious, the first declared comes first.
    found.sort(key=lambda column: (not column.is_lost, -column.troubled, -column.null))
    return ColumnsLook(
        name=dataset.name,
        rows=counts["rows"],
        columns=tuple(found),
        usable=tuple(
            UsableRows(question, names, counts[f"usable{number}"])
            for number, (question, names) in enumerate(_uses(declaration))
        ),
        persons=_persons(counts, declaration),
        lines=_lines(dataset),
    )


def _status(place: int) -> str:
    return f"`status {place}`"


def _sum(place: int, status: int) -> str:
    return f"count_{place}_{status}"


def _judged(dataset: Dataset) -> ir.Table:
    """Return the rows with what becomes of each value; numbered within their persons, if there are any."""
    import ibis  # noqa: PLC0415

    from anonymaly.declare.readings import is_within  # noqa: PLC0415
    from anonymaly.engine.look import lost  # noqa: PLC0415
    from anonymaly.engine.view import numbered  # noqa: PLC0415

    declaration, table = dataset.declaration, dataset.looked()
    status = {
        _status(place): ibis.cases(
            (table[lost(place)], UNREADABLE),
            (table[name].isnull(), NULL),
            (is_within(domain, table[name]), WITHIN),
            else_=OUTSIDE,
        )
        for place, (name, domain) in enumerate(declaration.columns.items())
    }
    judged = table.mutate(**status)
    if declaration.person is None:
        return judged
    return numbered(judged, declaration.kinds, lookup.of(judged))


def _counts(judged: ir.Table, declaration: Declaration) -> dict[str, int]:
    """Count everything in one statement, which reads each row once."""
    from anonymaly.engine.view import is_kept  # noqa: PLC0415

    wanted: dict[str, Any] = {"rows": judged.count()}
    for place in range(len(declaration.columns)):
        for status in (NULL, UNREADABLE, OUTSIDE, WITHIN):
            wanted[_sum(place, status)] = judged.count(where=judged[_status(place)] == status)
    kept = []
    if declaration.person is not None:
        known = judged[PERSON].notnull()
        kept = [is_kept(judged, declaration.rows)]
        wanted["persons"] = judged.count(where=known & (judged[PLACE] == 0))
        # Whoever has more rows has exactly one that is the first to be cut.
        wanted["beyond"] = judged.count(where=known & (judged[PLACE] == declaration.rows))
        wanted["cut"] = judged.count(where=known & (judged[PLACE] >= declaration.rows))
        wanted["nameless"] = judged.count(where=~known)
    for number, (_, names) in enumerate(_uses(declaration)):
        wanted[f"usable{number}"] = judged.count(where=_all([*kept, *_usable(judged, names, declaration)]))
    found = collect(judged.aggregate(**wanted))
    return {name: int(found.column(name)[0].as_py()) for name in wanted}


def _all(conditions: Sequence[ir.BooleanValue]) -> ir.BooleanValue:
    import ibis  # noqa: PLC0415

    return ibis.and_(*conditions)


def _usable(judged: ir.Table, names: Sequence[str], declaration: Declaration) -> Iterator[ir.BooleanValue]:
    """Yield for each column which rows have a value that questions use."""
    places = {name: place for place, name in enumerate(declaration.columns)}
    for name in names:
        domain = declaration.columns[name]
        # An undeclared category is in no group, unless the owner has one for all that are undeclared.
        least = WITHIN if isinstance(domain, Categories) and domain.other is None else OUTSIDE
        yield judged[_status(places[name])] >= least


def _uses(declaration: Declaration) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield kinds of questions, with the columns in which a row must have a value to be used."""
    declared = declaration.columns
    if asked_about := _of(declared, Interval, Unbounded, Categories, Flag, Timestamps):
        yield "what needs a value in each of them", asked_about
    if numbers := _of(declared, Interval, Unbounded):
        yield "score by grid or marginals", numbers
    if groups := _of(declared, Categories, Flag):
        yield "share-histogram or explain", groups
    for name, rule in declaration.rules.items():
        if isinstance(rule, AnomalyModel):
            yield f"identify by the rule {name}", rule.columns


def _of(declared: Mapping[str, Domain], *kinds: type) -> tuple[str, ...]:
    return tuple(name for name, domain in declared.items() if isinstance(domain, kinds))


def _column(
    name: str, domain: Domain, place: int, counts: Mapping[str, int], found: Sequence[Mapping[str, Any]]
) -> ColumnLook:
    outside = counts[_sum(place, OUTSIDE)]
    of_list = isinstance(domain, Categories)
    beyond: Trouble = "undeclared" if of_list else "outside"
    return ColumnLook(
        column=name,
        declared=domain.describe(),
        kind=domain.kind,
        null=counts[_sum(place, NULL)],
        unreadable=counts[_sum(place, UNREADABLE)],
        outside=0 if of_list else outside,
        undeclared=outside if of_list else 0,
        within=counts[_sum(place, WITHIN)],
        spellings=tuple(
            Spelling(row["text"], row["rows"], "unreadable" if row["status"] == UNREADABLE else beyond)
            for row in found
        ),
        distinct=found[0]["distinct"] if found else 0,
        other=None if not isinstance(domain, Categories) or domain.other is None else str(domain.other),
    )


def _spellings(judged: ir.Table, places: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the most frequent spellings of what is no value of its domain, for all columns at once."""
    import ibis  # noqa: PLC0415

    from anonymaly.engine.look import written  # noqa: PLC0415

    # All columns of a row side by side in one list, so that a file is read once and not once for each column.
    items = [
        ibis.cases(
            (
                judged[_status(place)].isin([UNREADABLE, OUTSIDE]),
                ibis.literal(f"{place:04d}")
                + judged[_status(place)].cast("string")
                + judged[written(place)].substr(0, LONGEST),
            ),
            else_=ibis.null("string"),
        )
        for place in places
    ]
    listed = judged.select(item=ibis.array(items).unnest())
    counted = listed.filter(listed.item.notnull()).group_by("item").agg(rows=lambda table: table.count())
    keyed = counted.mutate(key=counted.item.substr(0, 4))
    in_bytes = lookup.of(judged).in_byte_order(keyed.item)
    by_rows = ibis.window(group_by="key", order_by=[ibis.desc(keyed.rows), ibis.asc(in_bytes)])
    ranked = keyed.mutate(
        place=ibis.row_number().over(by_rows), distinct=keyed.count().over(ibis.window(group_by="key"))
    )
    found: pa.Table = collect(ranked.filter(ranked.place < SPELLINGS))
    spellings: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(found.to_pylist(), key=lambda row: int(row["place"])):
        item = row["item"]
        spellings[int(item[:4])].append(
            {
                "text": item[5:],
                "status": int(item[4]),
                "rows": int(row["rows"]),
                "distinct": int(row["distinct"]),
            }
        )
    return spellings


def _persons(counts: Mapping[str, int], declaration: Declaration) -> PersonsLook | None:
    if declaration.person is None:
        return None
    return PersonsLook(
        max_rows=declaration.rows,
        persons=counts["persons"],
        persons_beyond=counts["beyond"],
        rows_cut=counts["cut"],
        rows_without_person=counts["nameless"],
    )


def _lines(dataset: Dataset) -> LinesLook | None:
    lines, lost = dataset.lines(), dataset.lines_not_utf_8()
    if lines is None:
        return LinesLook(0, 0, 0, lost) if lost else None
    found = collect(
        lines.aggregate(
            lines=lines.count(),
            too_few=lines.count(where=lines["values"] < lines["needed"]),
            too_many=lines.count(where=lines["values"] > lines["needed"]),
        )
    ).to_pylist()[0]
    return LinesLook(**{name: int(number) for name, number in found.items()}, not_utf_8=lost)
