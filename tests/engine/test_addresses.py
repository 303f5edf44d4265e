# SPDX-License-Identifier: Apache-2.0
"""Addresses: what stands for a variable of the environment, and for a password."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from anonymaly.engine.addresses import with_variable_for_password, with_variables

HARD = "a@b:c/d?e#f&g=h i'j\\k%l"


@pytest.mark.parametrize(
    "written",
    [
        "postgresql://ada:${PW}@db/clinic",
        "postgresql://ada@db/clinic?password=${PW}&sslmode=require",
        "dbname=clinic user=ada password=${PW} sslmode=require",
        "dbname = clinic password = ${PW}",
    ],
)
def test_a_password_of_any_characters_is_one_variable_in_every_form_of_address(written: str) -> None:
    read = conninfo_to_dict(with_variables(written, {"PW": HARD}, field="source"))
    assert read["password"] == HARD
    assert read["dbname"] == "clinic"


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("${A}", "x y&z=1"),
        ("${A}/visits.csv", "x y&z=1/visits.csv"),
        ("postgresql://db/clinic?${A}", "postgresql://db/clinic?x y&z=1"),
    ],
)
def test_a_variable_that_is_no_single_value_stands_as_it_is(written: str, filled: str) -> None:
    assert with_variables(written, {"A": "x y&z=1"}, field="source") == filled


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("postgresql://ada:ge#he?im@db/c?user=a@b", "postgresql://ada:${PW}@db/c?user=a@b"),
        ("postgresql://db:5432/c?application_name=a@b", "postgresql://db:5432/c?application_name=a@b"),
        ("postgresql://db/c?password=ge%26heim&port=1", "postgresql://db/c?password=${PW}&port=1"),
        ("dbname=c password='ge heim' user=ada", "dbname=c password=${PW} user=ada"),
    ],
)
def test_an_address_that_is_written_down_keeps_all_but_its_password(given: str, kept: str) -> None:
    assert with_variable_for_password(given, "PW") == kept
