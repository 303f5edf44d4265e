# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from anonymaly.cli.guide.names import person_column, suggest
from anonymaly.declare.domain import read_domain


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Patient ID", "id"), ("patientId", "id"), ("Fall-Nr.", "id"), ("ssn", "id"), ("IBAN", "id"),
        ("E-Mail", "id"), ("phone_number", "id"), ("Vorname", "id"), ("name", "id"), ("Straße", "id"),
        ("notes", "free text"), ("Bemerkungen", "free text"), ("doctor's comment", "free text"),
        ("ward name", None), ("paid", None), ("idle time", None), ("Station", None), ("context", None),
    ],
)  # fmt: skip
def test_ids_and_free_text_are_known_by_their_names(name: str, role: str | None) -> None:
    found = suggest(name)
    assert (found.role if found else None) == role


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("age", {"low": 0, "high": 120}), ("Alter", {"low": 0, "high": 120}),
        ("Größe (cm)", {"low": 0, "high": 250}), ("GROESSE_CM", {"low": 0, "high": 250}),
        ("humidity %", {"low": 0, "high": 100}), ("Körpertemperatur", {"low": 30, "high": 45}),
        ("Kosten €", {"low": 0, "high": "?"}), ("total_amount", {"low": 0, "high": "?"}),
        ("postcode", {"values": ["?"]}), ("ICD-10", {"values": ["?"]}),
        ("Geschlecht", {"values": ["Male", "Female", "Other"]}), ("triage", {"values": [1, 2, 3, 4, 5]}),
        ("date of birth", {"start": "1900-01-01", "end": "2030-12-31"}),
    ],
)  # fmt: skip
def test_bounds_and_values_are_suggested_by_name(name: str, fields: dict[str, Any]) -> None:
    found = suggest(name)
    assert found is not None
    assert found.fields == fields
    if "?" not in str(fields):
        read_domain({"type": found.type, **found.fields, "read": dict(found.read)}, field=name)


@pytest.mark.parametrize(
    ("names", "person"),
    [
        (["visit no", "Patient ID", "ward"], "Patient ID"),
        (["card", "customer_id", "amount"], "customer_id"),  # a customer has several cards
        (["Patienten-Nr.", "x"], "Patienten-Nr."),
        (["household", "ts"], "household"),
        (["patient name", "age"], None),
        (["x", "y"], None),
    ],
)
def test_the_person_is_suggested_by_name(names: list[str], person: str | None) -> None:
    assert person_column(names) == person
