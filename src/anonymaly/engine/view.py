# SPDX-License-Identifier: Apache-2.0
"""The typed view of a table: raw columns read as declared, alike on every engine, and never an error.

Whether a statement fails must not depend on a row, so a value that cannot be read as its kind becomes null.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops

from anonymaly.engine import moments, texts
from anonymaly.engine.arithmetic import exact
from anonymaly.engine.columns import PERSON, PLACE, Kind
from anonymaly.engine.engine import Engine
from anonymaly.engine.reading import Reading

if TYPE_CHECKING:
    import ibis.expr.types as ir

_LONGEST_EXACT = 2**53  # floats beyond it are not single whole numbers
_LONGEST_DIVIDED = 15  # digits of a decimal whose whole number, and power of ten, a double holds
_LARGEST = repr(sys.float_info.max)
_NEAR_ZERO = "2.4703282292062328e-324"  # half of the smallest double; what is below is 0


def typed(
    raw: ir.Table,
    kinds: Mapping[str, Kind],
    engine: Engine,
    *,
    person: str | None = None,
    loose: Container[str] = (),
    from_file: bool = False,
    readings: Mapping[str, Reading] = MappingProxyType({}),
) -> ir.Table:
    """Return a table's columns read as their kinds, and the person of each row.

    Parameters
    ----------
    raw, kinds, engine
        The table as its engine types it, the kind of each column to read, and that engine.
    person
        The column that identifies the person.
    loose
        Columns whose type says nothing; if it does not fit, they are read as text.
    from_file
        Whether the table is a text or Parquet file.
    readings
        How the owner says that columns are written, where they say it.
    """
    staged = stage(raw, kinds, engine, loose=loose, from_file=from_file, readings=readings)
    return read(staged, kinds, engine, person=person, loose=loose, from_file=from_file, readings=readings)


@dataclass(frozen=True)
class Staged:
    """A table with the plain form of each text that is read by it, in columns of their own."""

    table: ir.Table
    plain: Mapping[str, str]


def stage(
    raw: ir.Table,
    kinds: Mapping[str, Kind],
    engine: Engine,
    *,
    loose: Container[str],
    from_file: bool,
    readings: Mapping[str, Reading],
) -> Staged:
    """Work out the plain form of texts in a select of its own, which `texts.plain` says why."""
    names, plain = {}, {}
    for place, (name, reading) in enumerate(readings.items()):
        column = given(raw, name, kinds[name], reading, loose)
        if _as_words(column.type(), kinds[name]):
            names[name] = f"`plain {place}`"  # no declared column has a backquote in its name
            plain[names[name]] = texts.plain(_to_text(column, engine, from_file), kinds[name], reading)
    return Staged(raw.mutate(**plain) if plain else raw, names)


def read(
    staged: Staged,
    kinds: Mapping[str, Kind],
    engine: Engine,
    *,
    person: str | None,
    loose: Container[str],
    from_file: bool,
    readings: Mapping[str, Reading],
) -> ir.Table:
    """Return a staged table's columns read as their kinds, and the person of each row; as `typed` does."""
    table, columns = staged.table, {}
    for name, kind in kinds.items():
        column = given(table, name, kind, readings.get(name), loose)
        if name in staged.plain:
            text = _to_text(column, engine, from_file)
            plain = table[staged.plain[name]]
            columns[name] = texts.read_text(text, plain, kind, readings[name], engine)
        elif name in readings:
            columns[name] = _read_values(readings[name], column, kind, engine, from_file=from_file)
        else:
            columns[name] = read_as(column, kind, engine, from_file=from_file)
    added = {} if person is None else {PERSON: _identity(table[person], engine, from_file)}
    return table.select(**columns, **added)


def given(raw: ir.Table, name: str, kind: Kind, reading: Reading | None, loose: Container[str]) -> ir.Value:
    """Return a column as it is to be read: as text, if its type says nothing and does not fit."""
    column = raw[name]
    return _spelled(column) if name in loose and not fits(column.type(), kind, reading) else column


def read_again(table: ir.Table) -> ir.Table:
    """Return a table that Ibis writes out wherever it is read; what is written once, the engine would hold.

    The same table gives the same: ``Table.view`` would number each call, and two of them cannot be combined.
    """
    again: ir.Table = ops.SelfReference(table.op(), identifier=-1).to_expr()
    return again


def truncate(view: ir.Table, kinds: Mapping[str, Kind], rows: int, engine: Engine, *further: str) -> ir.Table:
    """Keep at most ``rows`` rows of each person, chosen by their content alone, and the same on every engine.

    Ordering by all columns makes the choice a function of the person's own rows, so that adding or
    removing a person changes nobody else's. A row without a person counts as a person of its own.
    """
    if not engine.is_local:
        placed = numbered(view, kinds, engine)
        return placed.filter(is_kept(placed, rows)).select(*kinds, *further)
    # The embedded engine holds, or writes to disk, all rows that it puts in order. Whoever has few enough
    # keeps all of theirs, so only the others' are. The table is read three times; that takes less than order.
    view = read_again(view)
    known = view.filter(view[PERSON].notnull())
    persons = known.group_by(PERSON).agg(records=known.count())
    many = persons.filter(persons.records > rows).select(PERSON)
    placed = numbered(view.semi_join(many, PERSON), kinds, engine)
    first = placed.filter(placed[PLACE] < rows)
    others = view.anti_join(read_again(many), PERSON)  # written once, these few persons are found once
    return others.select(*kinds, *further).union(first.select(*kinds, *further))


def numbered(view: ir.Table, kinds: Mapping[str, Kind], engine: Engine) -> ir.Table:
    """Return the rows with the place of each among those of its person, from 0."""
    # Nulls first is no engine's default, so it is always written down and no setting changes it.
    places = (_place(view[name], kind, engine) for name, kind in kinds.items())
    order = [ibis.asc(place, nulls_first=True) for place in places]
    window = ibis.window(group_by=PERSON, order_by=order)
    return view.mutate(**{PLACE: ibis.row_number().over(window)})


def is_kept(numbered: ir.Table, rows: int) -> ir.BooleanValue:
    """Return for each numbered row whether it is among the first ``rows`` of its person."""
    return numbered[PERSON].isnull() | (numbered[PLACE] < rows)


def _place(column: ir.Value, kind: Kind, engine: Engine) -> ir.Value:
    """Return what a column is ordered by: numbers by size, moments by time, all else by its bytes."""
    found = column.type()
    # Opaque whole numbers as text, as they are in a text file. Engines write floats and bytes differently.
    as_text = found.is_string() or (kind == "opaque" and found.is_integer())
    return engine.in_byte_order(column) if as_text else column


def _identity(column: ir.Value, engine: Engine, from_file: bool) -> ir.Value:
    """Return a person's id: numbers by their size, all else by its bytes; null is a person of its own."""
    if not column.type().is_decimal():
        return read_as(column, "opaque", engine, from_file=from_file)
    if engine.forgives:
        return column
    return _only(column, column.cast("string").notin(["NaN", "Infinity", "-Infinity"]))


def fits(found: dt.DataType, kind: Kind, reading: Reading | None = None) -> bool:
    """Say whether a column of a type can be read as a kind."""
    if reading is not None and (
        _as_words(found, kind) or _as_unix(found, kind, reading) or _as_zoned(found, kind)
    ):
        return True
    match kind:
        case "number":
            fit = found.is_numeric() and not found.is_boolean()
        case "whole number":
            # pandas turns whole numbers into floats as soon as one of them is missing.
            fit = found.is_integer() or found.is_floating()
        case "text":
            fit = found.is_string()
        case "flag":
            fit = found.is_boolean()
        case "moment":
            fit = found.is_date() or (found.is_timestamp() and not has_zone(found))
        case "opaque":
            fit = True
    # A column of nothing but nulls may have no type; that is a fact about rows, so it must not be an error.
    return bool(fit or found.is_null())


def read_as(column: ir.Value, kind: Kind, engine: Engine, *, from_file: bool = False) -> ir.Value:
    """Give a column the type of its kind; what cannot be read as it becomes null, never an error."""
    match kind:
        case "number":
            # As floats whatever the source: pandas makes whole numbers floats as soon as one is missing, and
            # one row must not change how the others compare.
            number = _to_float(column, engine)
            # Whole numbers and decimals are finite as they are read, and have one zero.
            found = column.type()
            return number if found.is_integer() or found.is_decimal() else _without_nan(number)
        case "whole number":
            return _to_whole(column, engine)
        case "text":
            return _to_text(column, engine, from_file)
        case "flag":
            return _cast(column, "boolean", engine)
        case "moment":
            return _to_moment(column, engine)
        case "opaque":
            plain = _is_plain(column.type())
            return _without_nan(column) if plain else _to_text(column, engine, from_file)


def _read_values(
    reading: Reading, column: ir.Value, kind: Kind, engine: Engine, *, from_file: bool = False
) -> ir.Value:
    """Give a column that is not read by its text the type of its kind, as its owner says it is written."""
    found = column.type()
    if _as_unix(found, kind, reading):
        number = column if found.is_integer() else _to_float(column, engine)
        return moments.read_unix(number, reading, engine)
    if _as_zoned(found, kind):
        return moments.read_zoned(column, reading, engine)
    value = read_as(column, kind, engine, from_file=from_file)
    for marker in _marking_numbers(reading) if value.type().is_numeric() else ():
        # A fraction is no whole number, and compared with one it would make the column one of floats.
        if marker.is_integer() or not value.type().is_integer():
            value = value.nullif(_number(marker))
    return value


def is_meant(
    staged: Staged, name: str, column: ir.Value, kind: Kind, reading: Reading | None, engine: Engine
) -> ir.BooleanValue:
    """Return for each raw value whether it is there and means no null: read as null, it is lost."""
    there = column.notnull()
    if reading is None:
        return there
    if name in staged.plain:
        text = _to_text(column, engine, from_file=True)  # as it is compared, no collation plays a part
        marked = texts.is_marked(text, staged.table[staged.plain[name]], kind, reading)
        return there & ~marked.fill_null(False)
    if column.type().is_numeric() and (marks := [_number(marker) for marker in _marking_numbers(reading)]):
        return there & ~column.isin(marks)
    return there


def _as_words(found: dt.DataType, kind: Kind) -> bool:
    """Say whether a column is read by what its values look like as text."""
    of_few = found.is_integer() or found.is_boolean()  # to every engine, their text is the same
    return bool(found.is_string() or (of_few and kind == "text") or (found.is_integer() and kind == "flag"))


def _as_unix(found: dt.DataType, kind: Kind, reading: Reading) -> bool:
    return (
        kind == "moment" and reading.unix is not None and bool(found.is_numeric() and not found.is_boolean())
    )


def _as_zoned(found: dt.DataType, kind: Kind) -> bool:
    return kind == "moment" and has_zone(found)


def has_zone(found: dt.DataType) -> bool:
    """Say whether a type holds moments of the whole world, and not those of a clock."""
    return bool(found.is_timestamp()) and getattr(found, "timezone", None) is not None


def _marking_numbers(reading: Reading) -> list[float]:
    """Return the null markers that are numbers, by which a column of numbers is compared."""
    plain = re.compile(f"-?[0-9]{{1,15}}([{reading.decimal}][0-9]{{1,15}})?")
    markers = (marker.strip() for marker in reading.nulls)
    return [float(text.replace(reading.decimal, ".")) for text in markers if plain.fullmatch(text)]


def _number(value: float) -> ir.NumericScalar:
    return ibis.literal(int(value)) if value.is_integer() else exact(value)


def _without_nan(column: ir.Value) -> ir.Value:
    """Replace NaN and infinity by null, so that no comparison or sum meets them, and -0.0 by 0.0."""
    if not column.type().is_floating():
        return column
    # Engines call the two zeros equal, so one of them must not be told from the other where it is published.
    zero = (column == 0, ibis.literal(0.0, column.type()))
    # Engines order NaN above all numbers or not at all, so it is between no two of them.
    finite = column.between(-sys.float_info.max, sys.float_info.max)
    return ibis.cases(zero, (finite, column), else_=ibis.null(column.type()))


def _cast(column: ir.Value, kind: str, engine: Engine) -> ir.Value:
    return column.try_cast(kind) if engine.forgives else column.cast(kind)


def _spelled(column: ir.Value) -> ir.StringValue:
    """Return a column as text, as objects of a frame are written: 1.0 is 1."""
    text: ir.StringValue = column.cast("string")
    if not column.type().is_floating():
        return text
    short = column.between(-_LONGEST_EXACT, _LONGEST_EXACT)
    whole = _only(column, short & (column == column.floor())).cast("int64").cast("string")
    return ibis.coalesce(whole, text)


def _only(column: ir.Value, condition: ir.BooleanValue) -> ir.Value:
    return ibis.cases((condition, column), else_=ibis.null(column.type()))


def _between(column: ir.Value, low: Any, high: Any) -> ir.Value:
    return _only(column, column.between(low, high))


def _to_float(column: ir.Value, engine: Engine) -> ir.Value:
    """Return the double nearest to each number; null where no double is near."""
    kind = column.type()
    if not kind.is_decimal():
        return column if kind.is_float64() else _cast(column, "float64", engine)
    if engine.forgives:
        # DuckDB divides by a power of ten, which is right up to 15 digits; of more, their text is.
        short = kind.precision is not None and kind.precision <= _LONGEST_DIVIDED
        return _cast(column if short else column.cast("string"), "float64", engine)
    # PostgreSQL's numeric holds NaN and numbers that no double can, too large or too near to 0. Digits that
    # a column declares say nothing here, and its money can be cast to nothing else.
    number = column.cast("decimal")
    near, low, high = (ibis.literal(text).cast("decimal") for text in (_NEAR_ZERO, f"-{_LARGEST}", _LARGEST))
    return ibis.cases((number.abs() < near, 0.0), else_=_between(number, low, high).cast("float64"))


def _to_whole(column: ir.Value, engine: Engine) -> ir.Value:
    if column.type().is_integer():
        return column if column.type().is_int64() else _cast(column, "int64", engine)
    # Engines round on casting, and 1.5 is not the category 2.
    number = _to_float(column, engine)
    small = _between(number, float(-_LONGEST_EXACT), float(_LONGEST_EXACT))  # without NaN, the largest number
    whole = small == small.floor()
    if column.type().is_string():
        return _only(_cast(column, "int64", engine), whole | (number.abs() > _LONGEST_EXACT))
    return _only(small, whole).cast("int64")


def _to_moment(column: ir.Value, engine: Engine) -> ir.Value:
    """Give a column the type of a timestamp; infinity and years beyond the calendar become null."""
    if engine.forgives:
        return _between(_cast(column, "timestamp(6)", engine), datetime.min, datetime.max)
    limits = (date.min, date.max) if column.type().is_date() else (datetime.min, datetime.max)
    return _between(column, *limits).cast("timestamp(6)")


def _to_text(column: ir.Value, engine: Engine, from_file: bool) -> ir.StringValue:
    """Return a column as text that is compared byte by byte.

    A column's own collation may call ``a`` and ``A`` equal, and a cast keeps it. Files have no collations,
    and what reads them checks their text.
    """
    # Ibis leaves out a cast to the type it knows, but it calls enumerations text as well.
    text: ir.StringValue = ops.Cast(engine.writable(column), to=dt.string).to_expr()
    if from_file:
        return text if column.type().is_string() else engine.text_or_null(text)
    return engine.plain_text(text)


def _is_plain(kind: dt.DataType) -> bool:
    """Say whether all values of a type can be passed on; others, such as infinite moments, may fail."""
    return bool(kind.is_boolean() or kind.is_integer() or kind.is_floating() or kind.is_binary())
