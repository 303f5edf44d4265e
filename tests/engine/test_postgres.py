# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL as people have it: names, types and addresses, on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import ibis
import psycopg
import pytest
from psycopg import sql

import anonymaly as am
from anonymaly.errors import InputError, SchemaError
from tests.declare.tables import records

AGE = {"age": am.Interval(0, 120)}


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def database(server: str, name: str) -> Iterator[str]:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def typed(server: str) -> Iterator[str]:
    """The address of a database with types of its own, for all tests of types."""
    with database(server, "typed") as address:
        run(address, *TYPES, *CITEXT)
        yield address


@pytest.fixture(scope="module")
def shared(server: str) -> Iterator[str]:
    with database(server, "shared") as address:
        yield address


@pytest.fixture
def postgres(shared: str) -> str:
    """The address of an empty database; making one for each test would take seconds."""
    found = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
    with psycopg.connect(shared, autocommit=True) as connection:
        for (name,) in connection.execute(found).fetchall():
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
        connection.execute("CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO public")
    return shared


def ages(source: Any, table: str) -> list[Any]:
    return [row[0] for row in records(am.Dataset(source, table=table, name="t", columns=AGE))]


@pytest.mark.parametrize(
    ("made", "table"),
    [
        (["CREATE SCHEMA clinic", "CREATE TABLE clinic.visits AS SELECT 7 AS age"], "clinic.visits"),
        (["CREATE SCHEMA clinic", "CREATE TABLE clinic.visits AS SELECT 7 AS age"], '"clinic"."visits"'),
        (
            ['CREATE SCHEMA "My Clinic"', 'CREATE TABLE "My Clinic"."The Visits" AS SELECT 7 AS age'],
            "My Clinic.The Visits",
        ),
        (
            ['CREATE SCHEMA "a.b"', 'CREATE TABLE "a.b"."c""d" AS SELECT 7 AS age'],
            '"a.b"."c""d"',
        ),
        (['CREATE TABLE "Visits" AS SELECT 7 AS age', "CREATE TABLE visits AS SELECT 8 AS age"], "Visits"),
        (['CREATE TABLE "order" AS SELECT 7 AS age'], "order"),
        (['CREATE SCHEMA "select"', 'CREATE TABLE "select"."from" AS SELECT 7 AS age'], "select.from"),
        # A name with a dot in it comes before a schema of that name.
        (
            [
                "CREATE SCHEMA clinic",
                "CREATE TABLE clinic.visits AS SELECT 8 AS age",
                'CREATE TABLE "clinic.visits" AS SELECT 7 AS age',
            ],
            "clinic.visits",
        ),
        (["CREATE VIEW v AS SELECT 7 AS age"], "v"),
        (["CREATE SCHEMA s", "CREATE MATERIALIZED VIEW s.v AS SELECT 7 AS age"], "s.v"),
        (
            [
                "CREATE TABLE p (age integer) PARTITION BY RANGE (age)",
                "CREATE TABLE p1 PARTITION OF p DEFAULT",
                "INSERT INTO p VALUES (7)",
            ],
            "p",
        ),
    ],
)
def test_a_table_is_found_by_its_name_and_schema(postgres: str, made: list[str], table: str) -> None:
    run(postgres, *made)
    assert ages(postgres, table) == [7]


def test_a_table_is_found_in_every_schema_of_the_search_path(postgres: str) -> None:
    run(postgres, "CREATE SCHEMA one", "CREATE SCHEMA two", "CREATE TABLE two.visits AS SELECT 7 AS age")
    assert ages(f"{postgres}&options=-csearch_path%3Done,two", "visits") == [7]


@pytest.mark.parametrize("table", ["visits", "clinic.other", "elsewhere.visits", "clinic.", ".", '"'])
def test_a_table_that_is_not_there_is_named_with_the_way_to_name_one(postgres: str, table: str) -> None:
    run(postgres, "CREATE SCHEMA clinic", "CREATE TABLE clinic.visits AS SELECT 7 AS age")
    with pytest.raises(SchemaError) as refused:
        am.Dataset(postgres, table=table, name="t", columns=AGE).check()
    assert refused.value.field == "table"
    assert "schema.table" in str(refused.value.next_step)
    assert refused.value.__context__ is None


def test_columns_with_capitals_spaces_and_reserved_names_are_read(postgres: str) -> None:
    run(postgres, 'CREATE TABLE t ("Age" integer, age integer, "select" text, "two words" boolean)')
    run(postgres, "INSERT INTO t VALUES (7, 8, 'A', true)")
    columns = {
        "Age": am.Interval(0, 9),
        "select": am.Categories(["A"]),
        "two words": am.Flag(),
    }
    assert records(am.Dataset(postgres, table="t", name="t", columns=columns)) == [(7, "A", True)]


TYPES = [
    "CREATE SCHEMA kinds",
    "CREATE TYPE kinds.mood AS ENUM ('sad', 'glad')",
    "CREATE TYPE \"Mood\" AS ENUM ('sad', 'glad')",
    "CREATE DOMAIN address AS text",
    "CREATE DOMAIN years AS integer CHECK (value >= 0)",
    "CREATE DOMAIN adult AS years CHECK (value >= 18)",
    "CREATE DOMAIN price AS numeric(10, 2)",
    "CREATE DOMAIN moods AS kinds.mood",
    "CREATE TYPE pair AS (a integer, b text)",
]
# What the extension's own script makes of it, with functions that every server has.
CITEXT = [
    "CREATE TYPE kinds.citext",
    "CREATE FUNCTION kinds.citextin(cstring) RETURNS kinds.citext IMMUTABLE STRICT AS 'textin' "
    "LANGUAGE internal",
    "CREATE FUNCTION kinds.citextout(kinds.citext) RETURNS cstring IMMUTABLE STRICT AS 'textout' "
    "LANGUAGE internal",
    "CREATE TYPE kinds.citext (INPUT = kinds.citextin, OUTPUT = kinds.citextout, INTERNALLENGTH = VARIABLE, "
    "STORAGE = extended, CATEGORY = 'S', COLLATABLE = true)",
    "CREATE CAST (kinds.citext AS text) WITHOUT FUNCTION AS IMPLICIT",
    "CREATE CAST (text AS kinds.citext) WITHOUT FUNCTION AS ASSIGNMENT",
    "CREATE FUNCTION kinds.same(kinds.citext, kinds.citext) RETURNS boolean LANGUAGE sql AS "
    "'SELECT lower($1::text) = lower($2::text)'",
    "CREATE OPERATOR kinds.= (FUNCTION = kinds.same, LEFTARG = kinds.citext, RIGHTARG = kinds.citext)",
]
NUMBER, WORDS, YES = am.Interval(-1000, 1000), am.Categories(["glad", "A"]), am.Flag()
IN_2020 = am.Timestamps("2020-01-01", "2021-01-01")
ON_A_CLOCK = am.Timestamps("2020-01-01", "2021-01-01", read=am.Reading(zone="Europe/Berlin"))


@pytest.mark.parametrize(
    ("kind", "written", "domain", "read"),
    [
        ("numeric(10,2)", "1.25", NUMBER, 1.25),
        ("numeric(3,5)", "0.00125", NUMBER, 0.00125),
        ("numeric(2,-3)", "0", NUMBER, 0.0),
        ("price", "1.25", NUMBER, 1.25),
        ("money", "12.50", NUMBER, 12.5),
        ("years", "41", NUMBER, 41.0),
        ("adult", "41", am.Categories([41]), 41),
        ("kinds.mood", "glad", WORDS, "glad"),
        ('"Mood"', "glad", WORDS, "glad"),
        ("moods", "glad", WORDS, "glad"),
        ("address", "A", WORDS, "A"),
        ("kinds.citext", "A", WORDS, "A"),
        ("varchar(5)", "A", WORDS, "A"),
        ("boolean", "yes", YES, True),
        ("date", "2020-02-03", IN_2020, datetime(2020, 2, 3)),
        ("timestamp", "2020-02-03 04:05", IN_2020, datetime(2020, 2, 3, 4, 5)),
        ("timestamptz", "2020-07-03 04:05:06.789012-04", ON_A_CLOCK, datetime(2020, 7, 3, 10, 5, 6, 789012)),
        ("timestamptz", "infinity", ON_A_CLOCK, None),
        ("uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", am.Opaque(), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("json", '{"b": [1]}', am.Opaque(), '{"b": [1]}'),
        ("jsonb", '{"b":[1]}', am.Opaque(), '{"b": [1]}'),
        ("integer[]", "{1,2}", am.Opaque(), "{1,2}"),
        ("kinds.mood[]", "{glad}", am.Opaque(), "{glad}"),
        ("pair", "(1,x)", am.Opaque(), "(1,x)"),
        ("kinds.mood", "glad", am.Opaque(), "glad"),
        ("kinds.citext", "Ab", am.Opaque(), "Ab"),
        ("numeric(10,2)", "1.20", am.Opaque(), "1.20"),
        ("interval", "1 day", am.Opaque(), "1 day"),
        ("inet", "10.0.0.1", am.Opaque(), "10.0.0.1/32"),
        ("int4range", "[1,5)", am.Opaque(), "[1,5)"),
        ("bytea", "ab", am.Opaque(), b"ab"),
        ("timestamptz", "2020-01-01 00:00+01", am.Opaque(), "2019-12-31 23:00:00+00"),
        ("regclass", "pg_class", am.Opaque(), "pg_class"),
    ],
)
def test_a_column_of_every_type_is_read_as_declared(
    typed: str, kind: str, written: str, domain: Any, read: Any
) -> None:
    run(typed, "DROP TABLE IF EXISTS t", f"CREATE TABLE t (x {kind}, age integer)")
    with psycopg.connect(typed) as connection:
        connection.execute("INSERT INTO t VALUES (%s, 1), (NULL, 2)", [written])
    dataset = am.Dataset(typed, table="t", name="t", columns={"x": domain})
    assert [line.problem for line in dataset.check()] == [None]
    dataset.ready()
    assert records(dataset) == sorted([(read,), (None,)], key=lambda row: (row[0] is None, str(row[0])))
    assert ages(typed, "t") == [1, 2]  # and beside it another column, whatever this one is


def test_text_that_its_type_calls_equal_is_compared_by_its_characters(typed: str) -> None:
    run(typed, "CREATE TABLE two (x kinds.citext)", "INSERT INTO two VALUES ('a'), ('A')")
    table = am.Dataset(typed, table="two", name="t", columns={"x": WORDS}).table
    assert table.filter(table.x == "A").count().execute() == 1


@pytest.mark.parametrize(
    ("kind", "domain", "found"),
    [
        ("uuid", WORDS, "uuid"),
        ("jsonb", NUMBER, "jsonb"),
        ("cidr", WORDS, "cidr"),
        ("oid", NUMBER, "oid"),
        ("pair", WORDS, "pair"),
        ("kinds.mood[]", WORDS, "kinds.mood[]"),
        ("text", NUMBER, "string"),
    ],
)
def test_a_type_that_does_not_fit_is_named_as_the_database_names_it(
    typed: str, kind: str, domain: Any, found: str
) -> None:
    run(typed, "DROP TABLE IF EXISTS t", f"CREATE TABLE t (x {kind})")
    (line,) = am.Dataset(typed, table="t", name="t", columns={"x": domain}).check()
    assert line.found == found
    assert line.problem is not None
    assert f"the table has {found}, which does not fit" in line.problem


def test_moments_of_the_whole_world_are_refused_until_a_clock_is_declared(postgres: str) -> None:
    run(postgres, "CREATE TABLE t (seen timestamptz)", "INSERT INTO t VALUES ('2020-07-01 00:30+02')")
    (line,) = am.Dataset(postgres, table="t", name="t", columns={"seen": IN_2020}).check()
    assert line.problem is not None
    assert "zone: UTC" in line.problem
    for zone, read in (("UTC", datetime(2020, 6, 30, 22, 30)), ("Asia/Tokyo", datetime(2020, 7, 1, 7, 30))):
        period = am.Timestamps("2020-01-01", "2021-01-01", read=am.Reading(zone=zone))
        assert records(am.Dataset(postgres, table="t", name="t", columns={"seen": period})) == [(read,)]


@pytest.fixture
def set_otherwise(server: str, postgres: str) -> Iterator[str]:
    """The address of a user whose sessions are set in another way than most, in every way that counts."""
    settings = {
        "standard_conforming_strings": "off",
        "transform_null_equals": "on",
        "datestyle": "German, DMY",
        "intervalstyle": "iso_8601",
        "timezone": "Asia/Tokyo",
        "extra_float_digits": "-10",
        "client_encoding": "LATIN1",
    }
    run(server, "CREATE ROLE other LOGIN")
    run(server, *(f"ALTER ROLE other SET {name} = '{value}'" for name, value in settings.items()))
    yield postgres.replace("postgres:@", "other:@", 1)
    run(postgres, "DROP OWNED BY other")
    run(server, "DROP ROLE other")


def test_how_a_user_is_set_changes_nothing_that_is_read(postgres: str, set_otherwise: str) -> None:
    run(
        postgres,
        "CREATE TABLE t (word text, day date, at timestamp, span interval, dots real[], cost money)",
        r"INSERT INTO t VALUES ('a\b', '2020-02-03', '2020-02-03 04:05', '1 day 2 hours', '{0.1}', 12.5)",
        "INSERT INTO t (word) VALUES ('\u20ac')",
        "GRANT SELECT ON t TO other",
    )
    columns: dict[str, Any] = {
        "word": am.Categories(["a\\b", "x\\"], other="o\\"),
        **dict.fromkeys(("day", "at", "span", "dots", "cost"), am.Opaque()),
    }
    for address in (postgres, set_otherwise, f"{set_otherwise}&client_encoding=LATIN1"):
        assert records(am.Dataset(address, table="t", name="t", columns=columns)) == [
            ("a\\b", "2020-02-03", "2020-02-03 04:05:00", "1 day 02:00:00", "{0.1}", "$12.50"),
            ("o\\", None, None, None, None, None),
        ]
        dataset = am.Dataset(address, table="t", name="t", columns={"word": am.Opaque()})
        assert [row[0] for row in records(dataset)] == ["a\\b", "\u20ac"]


def test_an_encoding_that_cannot_hold_every_text_does_not_make_a_question_fail(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(postgres, "CREATE TABLE t AS SELECT '\u20ac' AS word, true AS free")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    dataset = am.Dataset(
        postgres,
        table="t",
        name="t",
        columns={"word": am.Opaque(), "free": am.Flag()},
        rules={"free": am.Policy("free")},
    )
    curator = am.Curator(dataset, budget=50, ledger=tmp_path / "t.ledger")
    sample = curator.ask(am.ShareSample(policy="free", columns=["word"], epsilon=40)).value
    assert sample.to_arrow()["word"].to_pylist() == ["\u20ac"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [("client_encoding=LATIN1", "client_encoding"), ("standard_conforming_strings=off", "standard_conform")],
)
def test_a_connection_of_the_owner_that_would_change_texts_is_refused(
    postgres: str, setting: str, said: str
) -> None:
    run(postgres, "CREATE TABLE t AS SELECT 7 AS age")
    connection = ibis.postgres.from_connection(
        psycopg.connect(f"{postgres}&options=-c{setting.replace('=', '%3D')}")
    )
    with pytest.raises(SchemaError, match=said) as refused:
        am.Dataset(connection.table("t"), name="t", columns=AGE).check()
    assert refused.value.field == "source"


@contextmanager
def database_in(encoding: str, server: str) -> Iterator[str]:
    run(server, f"CREATE DATABASE bytes ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    address = server.replace("/postgres?", "/bytes?")
    try:
        run(
            address, "CREATE TABLE t AS SELECT 7 AS age, convert_from('\\xe9', getdatabaseencoding()) AS word"
        )
        yield address
    finally:
        run(server, "DROP DATABASE bytes WITH (FORCE)")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "WIN1252"])
def test_a_database_whose_bytes_may_be_no_characters_is_refused(server: str, encoding: str) -> None:
    with database_in(encoding, server) as address:
        if encoding == "WIN1252":  # one row with such a byte fails what returns it
            with pytest.raises(psycopg.errors.UntranslatableCharacter):
                run(address, "SET client_encoding = 'UTF8'", "SELECT convert_from('\\x81', 'WIN1252')")
        with pytest.raises(SchemaError, match=encoding) as refused:
            ages(address, "t")
        assert "UTF8" in str(refused.value.next_step)


def test_a_database_in_latin_1_is_read_and_its_text_has_the_order_of_utf_8(server: str) -> None:
    with database_in("LATIN1", server) as address:
        run(address, "INSERT INTO t VALUES (7, 'z')")
        columns = {"age": am.Interval(0, 120), "word": am.Opaque()}
        assert records(am.Dataset(address, table="t", name="t", columns=columns)) == [(7, "z"), (7, "é")]
        cut = am.Dataset(address, table="t", name="t", columns=columns, person="age", max_rows=1)
        assert records(cut) == [(7, "z")]


def test_a_schema_that_may_not_be_used_is_said_to_be_so(server: str, postgres: str) -> None:
    run(
        postgres,
        "CREATE ROLE outsider LOGIN",
        "CREATE SCHEMA closed",
        "CREATE TABLE closed.t AS SELECT 7 AS age",
    )
    try:
        with pytest.raises(SchemaError, match=r"may not read the table.*USE the schema"):
            ages(postgres.replace("postgres:@", "outsider:@", 1), "closed.t")
    finally:
        run(postgres, "DROP ROLE outsider")


def test_a_time_out_before_the_table_is_open_is_named(postgres: str) -> None:
    run(postgres, "CREATE TABLE t AS SELECT 7 AS age")
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE pg_catalog.pg_type IN ACCESS EXCLUSIVE MODE")
        for setting, said in (("lock_timeout", "holds a lock"), ("statement_timeout", "statement_timeout")):
            with pytest.raises(SchemaError, match=said):
                ages(f"{postgres}&options=-c{setting}%3D50", "t")


@pytest.mark.parametrize(
    "form",
    ["postgresql://db/clinic?nonsense=geheim", "postgresql://ada:ge/heim@db/clinic", "dbname=x port=geheim"],
)
def test_an_address_that_libpq_cannot_read_is_said_to_be_so(form: str) -> None:
    with pytest.raises(SchemaError, match="not written as libpq reads it") as refused:
        ages(form, "visits")
    assert "%40" in str(refused.value.next_step)
    assert "heim" not in str(refused.value.to_dict())
    assert refused.value.__context__ is None


@pytest.fixture
def parts(postgres: str) -> dict[str, str]:
    """The parts of an address of a database with one table, in another schema too."""
    run(postgres, "CREATE TABLE visits AS SELECT 7 AS age", "CREATE SCHEMA clinic")
    run(postgres, "CREATE TABLE clinic.visits AS SELECT 8 AS age")
    split = urlsplit(postgres)
    return {"host": parse_qs(split.query)["host"][0], "dbname": split.path[1:], "user": "postgres"}


@pytest.mark.parametrize(
    "form",
    [
        "postgresql://{user}@/{dbname}?host={host}",
        "postgres://{user}@/{dbname}?host={host}",
        "postgresql+psycopg://{user}@/{dbname}?host={host}",
        "postgresql+psycopg2://{user}:@/{dbname}?host={host}",
        "postgresql+asyncpg://{user}@/{dbname}?host={host}&application_name=x",
        "host={host} dbname={dbname} user={user}",
        "dbname = '{dbname}'  host = '{host}' user={user} connect_timeout=5",
        "postgresql://%70ostgres@/{dbname}?host={host}",
    ],
)
def test_an_address_is_written_as_libpq_or_sqlalchemy_writes_it(parts: dict[str, str], form: str) -> None:
    assert ages(form.format(**parts), "visits") == [7]


@pytest.mark.parametrize(
    "form",
    [
        "postgresql://{user}@/{dbname}/clinic?host={host}",
        "postgresql://{user}@/{dbname}?host={host}&schema=clinic",
        "postgresql+psycopg://{user}@/{dbname}?schema=clinic&host={host}",
    ],
)
def test_an_address_may_name_the_schema(parts: dict[str, str], form: str) -> None:
    assert ages(form.format(**parts), "visits") == [8]


def test_what_an_address_leaves_out_is_taken_from_the_environment(
    parts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, part in parts.items():
        monkeypatch.setenv({"dbname": "PGDATABASE"}.get(name, f"PG{name.upper()}"), part)
    assert ages("postgresql://", "visits") == [7]
    monkeypatch.setenv("PGPORT", "1")  # nobody listens there
    with pytest.raises(SchemaError, match="could not be reached"):
        ages("postgresql://", "visits")
    for name in ("PGHOST", "PGDATABASE", "PGUSER", "PGPORT"):
        monkeypatch.delenv(name)
    listed = "\n".join(f"{name}={part}" for name, part in parts.items())
    (tmp_path / "services").write_text(f"[clinic]\n{listed}\nport=5432\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    assert ages("service=clinic", "visits") == [7]
    assert ages("postgresql:///?service=clinic", "visits") == [7]
    monkeypatch.setenv("PGSERVICE", "clinic")
    assert ages("postgresql://", "visits") == [7]


def test_a_keyword_string_needs_a_table_and_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several tables"):
        am.Dataset("dbname=x user=y", name="t", columns=AGE)
    folder = tmp_path / "dbname=x"
    folder.mkdir()
    (folder / "t.csv").write_text("age\n7\n")
    assert records(am.Dataset(f"{folder}/t.csv", name="t", columns=AGE)) == [(7,)]


@pytest.fixture
def guarded(server: str, postgres: str) -> Any:
    """The address of a user who needs a password, and the password."""
    password = "ge@h/e:i m%"  # noqa: S105
    with psycopg.connect(server, autocommit=True) as connection:
        (place,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        before = Path(place).read_text()
        with psycopg.connect(postgres, autocommit=True) as own:
            own.execute(f"CREATE ROLE keeper LOGIN PASSWORD '{password}'")
            own.execute("CREATE TABLE visits AS SELECT 7 AS age")
            own.execute("GRANT SELECT ON visits TO keeper")
        Path(place).write_text(f"local all keeper scram-sha-256\n{before}")
        try:
            connection.execute("SELECT pg_reload_conf()")
            address = postgres.replace("postgres:@", "keeper@", 1)
            for _ in range(1_000):  # the server reloads in its own time
                try:
                    psycopg.connect(address).close()
                except psycopg.OperationalError:
                    break
            yield address, password
        finally:
            Path(place).write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            with psycopg.connect(postgres, autocommit=True) as own:
                own.execute("DROP OWNED BY keeper; DROP ROLE keeper")


def test_a_password_comes_from_the_environment_or_from_a_file(
    guarded: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, password = guarded
    with pytest.raises(SchemaError, match="asks for a password") as refused:
        ages(address, "visits")
    assert refused.value.field == "source"
    assert "PGPASSWORD" in str(refused.value.next_step)
    monkeypatch.setenv("PGPASSWORD", password)
    assert ages(address, "visits") == [7]
    monkeypatch.setenv("PGPASSWORD", "wrong-geheim")
    with pytest.raises(SchemaError, match="refused the login") as refused:
        ages(address, "visits")
    assert refused.value.__context__ is None
    assert "wrong-geheim" not in repr(refused.value.to_dict())
    monkeypatch.delenv("PGPASSWORD")
    escaped = password.replace(":", "\\:")
    (tmp_path / "pass").write_text(f"*:*:*:keeper:{escaped}\n")
    (tmp_path / "pass").chmod(0o600)
    assert ages(f"{address}&passfile={tmp_path}/pass", "visits") == [7]
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    assert ages(address, "visits") == [7]


def test_a_manifest_takes_a_password_from_the_environment(
    guarded: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, password = guarded
    with_password = address.replace("keeper@", "keeper:${CLINIC_PASSWORD}@", 1)
    (tmp_path / "t.yaml").write_text(
        f"name: t\nsource: {with_password}\ntable: visits\n"
        "columns: {age: {type: interval, low: 0, high: 120}}\nbudget: 1\n"
    )
    manifest = am.Manifest.load(tmp_path / "t.yaml")
    with pytest.raises(InputError, match="no CLINIC_PASSWORD") as refused:
        manifest.dataset(tmp_path)
    assert refused.value.field == "source"
    monkeypatch.setenv("CLINIC_PASSWORD", password)
    curator = am.Curator.open(tmp_path / "t.yaml")
    assert isinstance(curator.ask(am.Count(epsilon="0.5")).value, int)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert password.encode() not in kept
    assert password not in repr(manifest) + repr(curator.dataset) + repr(curator)
    (tmp_path / "whole.yaml").write_text(
        (tmp_path / "t.yaml").read_text().replace(with_password, "${CLINIC}").replace("name: t", "name: w")
    )
    monkeypatch.setenv("CLINIC", address)
    monkeypatch.setenv("PGPASSWORD", password)
    assert records(am.Manifest.load(tmp_path / "whole.yaml").dataset(tmp_path)) == [(7,)]
