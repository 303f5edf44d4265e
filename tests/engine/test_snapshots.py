# SPDX-License-Identifier: Apache-2.0
"""What each engine is asked, as text: a changed statement is noticed and read before it is committed."""

from __future__ import annotations

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import pytest

from anonymaly.declare.attributes import read_attributes
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.filters import parse
from anonymaly.declare.publication import Publication
from anonymaly.declare.readings import code, judged_people, matches, people, whole_people, with_others
from anonymaly.declare.rules import Policy
from anonymaly.engine import lookup
from anonymaly.engine.columns import Kind
from anonymaly.engine.engine import Engine
from anonymaly.engine.reading import Reading
from anonymaly.engine.view import typed
from anonymaly.questions.count.summary import counts_of
from anonymaly.questions.share_ngrams.binding import ShareNgramsBinding
from anonymaly.questions.share_ngrams.query import ShareNgrams
from anonymaly.questions.share_ngrams.summary import persons_of_sequences
from anonymaly.questions.share_sample.summary import in_turn
from tests.engine.snapshot import FOLDER, same_as_snapshot

COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "ward": Categories(["A", "B"]),
    "code": Categories([1, 2]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}
RAW = ibis.table(
    {
        "id": "int64",
        "age": "int32",
        "ward": "string",
        "code": "float64",
        "consent": "boolean",
        "seen": "timestamp",
        "note": "string",
    },
    name="records",
)
ALONE = Declaration.read(name="patients", columns=COLUMNS)
PEOPLE = Declaration.read(name="patients", columns=COLUMNS, person="id", max_rows=3)
POLICY = Policy("age >= 18 and (ward == 'A' or consent)")
READ: dict[str, tuple[Kind, str]] = {
    "number_of_float64": ("number", "float64"),
    "number_of_int32": ("number", "int32"),
    "number_of_decimal": ("number", "decimal(38, 9)"),
    "number_of_short_decimal": ("number", "decimal(10, 2)"),
    "whole_number_of_int64": ("whole number", "int64"),
    "whole_number_of_int16": ("whole number", "int16"),
    "whole_number_of_float64": ("whole number", "float64"),
    "text": ("text", "string"),
    "flag": ("flag", "boolean"),
    "moment_of_timestamp": ("moment", "timestamp(9)"),
    "moment_of_date": ("moment", "date"),
    "opaque_of_int64": ("opaque", "int64"),
    "opaque_of_float64": ("opaque", "float64"),
    "opaque_of_date": ("opaque", "date"),
}
BY: dict[str, tuple[Kind, str, Reading]] = {
    "plain_number": ("number", "string", Reading()),
    "number": (
        "number",
        "string",
        Reading(decimal=",", thousands=".", signs=["€", "EUR"], nulls=["-"], fold=True),
    ),
    "number_with_marker": ("number", "float64", Reading(nulls=["-9", "99.5", "NA"])),
    "whole_number": ("whole number", "string", Reading(thousands=" ", nulls=["9"])),
    "text": ("text", "string", Reading(same={"Male": ["M"]}, nulls=["", "NA"], trim=True, fold=True)),
    "text_of_int64": ("text", "int64", Reading(same={"Male": ["1"]})),
    "flag": ("flag", "string", Reading(means_true=["ja"], means_false=["nein"])),
    "moment": ("moment", "string", Reading(dates=["%d.%m.%Y", "%b %d, %y %I:%M %p"], nulls=["-"])),
    "moment_of_iso": ("moment", "string", Reading()),
    "moment_in_zone": ("moment", "timestamp('UTC', 6)", Reading(zone="Asia/Kathmandu")),
    "moment_of_unix": ("moment", "int64", Reading(unix="seconds", zone="Asia/Kathmandu")),
    "moment_of_unix_text": ("moment", "string", Reading(unix="milliseconds", dates=["%Y"])),
    "moment_of_unix_float": ("moment", "float64", Reading(unix="seconds")),
    "opaque": ("opaque", "string", Reading(nulls=["none"], trim=True)),
}
FILTERS = {
    "equal": "age == 40",
    "not_equal": "ward != 'A'",
    "below": "age < 18.5",
    "at_most": "age <= 18",
    "above": "seen > '2021-01-31 12:00'",
    "at_least": "seen >= '2021-01-31'",
    "in": "ward in ['A', 'B']",
    "null": "note is null",
    "flag": "consent",
    "not": "not (consent and age is not null)",
    "and": "age >= 18 and consent and code == 2",
    "or": "age >= 18 or ward == 'B'",
}
TEXT_FILE: dict[str, Kind] = {"number": "number", "whole": "whole number", "word": "text", "flag": "flag"}
TEXT_FILE |= {"moment": "moment", "note": "opaque"}


def rows(engine: Engine, declaration: Declaration = ALONE) -> ir.Table:
    return typed(RAW, declaration.kinds, engine, person=declaration.person)


def read(kind: Kind, found: str) -> Callable[[Engine], ir.Table]:
    raw = ibis.table({"c": found}, name="records")
    return lambda engine: typed(raw, {"c": kind}, engine)


def read_by(kind: Kind, found: str, reading: Reading) -> Callable[[Engine], ir.Table]:
    raw = ibis.table({"c": found}, name="records")
    return lambda engine: typed(raw, {"c": kind}, engine, readings={"c": reading})


def with_other(engine: Engine) -> ir.Table:
    declared = Declaration.read(name="p", columns={"ward": Categories(["A", "B"], other="C")})
    return with_others(typed(RAW, declared.kinds, engine), declared)


VIEW = ibis.table(rows(lookup.embedded()).schema(), name="view")


def filtered(where: str) -> Callable[[Engine], ir.Table]:
    return lambda _: VIEW.filter(matches(parse(where, COLUMNS), VIEW))


def counted(*filters: str) -> Callable[[Engine], ir.Table]:
    return lambda _: counts_of(VIEW, [parse(where, COLUMNS) for where in filters])


def numbered(by: str | Bins) -> Callable[[Engine], ir.Table]:
    (attribute,) = read_attributes([by], COLUMNS)
    return lambda _: VIEW.select(code=code(attribute, VIEW))


def sequences(engine: Engine) -> ir.Table:
    bound = ShareNgrams(place=["ward"], order="seen", length=2, per_person=3, epsilon=1).bind(PEOPLE)
    assert isinstance(bound, ShareNgramsBinding)
    return persons_of_sequences(whole_people(rows(engine, PEOPLE), PEOPLE, None, engine), bound)


EXPRESSIONS: dict[str, Callable[[Engine], ir.Table]] = {
    **{f"read_{name}": read(*item) for name, item in READ.items()},
    **{f"read_by_{name}": read_by(*item) for name, item in BY.items()},
    "other": with_other,
    **{f"filter_{name}": filtered(where) for name, where in FILTERS.items()},
    "counts": counted("age < 18.5", "age >= 18.5 and ward == 'A'", "not consent", "note is null"),
    "view": lambda engine: people(rows(engine), ALONE, engine),
    "view_of_people": lambda engine: people(rows(engine, PEOPLE), PEOPLE, engine),
    "judged": lambda engine: judged_people(rows(engine), ALONE, POLICY, engine),
    "judged_people": lambda engine: judged_people(rows(engine, PEOPLE), PEOPLE, POLICY, engine),
    "whole_persons": lambda engine: in_turn(
        whole_people(rows(engine, PEOPLE), PEOPLE, Publication(POLICY, ("note",)), engine),
        ["note"],
    ),
    "sequences": sequences,
    "attribute_of_categories": numbered("ward"),
    "attribute_of_flag": numbered("consent"),
    "attribute_of_bins": numbered(Bins("age", [0, 18, 65, 120])),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("engine", lookup.ENGINES)
def test_a_statement_is_the_one_that_was_read(engine: str, name: str) -> None:
    same_as_snapshot(engine, name, EXPRESSIONS[name](lookup.named(engine)))


def test_a_text_file_is_read_by_the_statement_that_was_read() -> None:
    # Only the embedded engine reads files.
    raw = ibis.table(dict.fromkeys(TEXT_FILE, "string"), name="source")
    engine = lookup.embedded()
    same_as_snapshot(engine.name, "view_of_text_file", typed(raw, TEXT_FILE, engine, from_file=True))


def test_every_snapshot_belongs_to_an_expression() -> None:
    expected = {f"{engine}/{name}.sql" for engine in lookup.ENGINES for name in EXPRESSIONS}
    expected |= {f"{lookup.embedded().name}/view_of_text_file.sql"}
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.sql")} == expected


@pytest.mark.parametrize("engine", lookup.ENGINES)
def test_a_snapshot_notices_a_changed_statement(engine: str) -> None:
    changed = filtered("age == 41")(lookup.named(engine))
    with pytest.raises(AssertionError, match="make snapshots"):
        same_as_snapshot(engine, "filter_equal", changed, renew=False)
