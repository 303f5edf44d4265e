# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymaly.ledger
from anonymaly.core.value import canonical_json
from anonymaly.errors import InputError
from anonymaly.ledger.inputs import differences, plain

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
DATA = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(DATA)
def test_nothing_differs_from_itself_and_canonical_text_is_stable(data: object) -> None:
    import json

    assert differences(data, plain(data, field="data")) == []
    assert canonical_json(json.loads(canonical_json(data))) == canonical_json(data)
    assert canonical_json(data).isascii()


@given(DATA, DATA)
def test_data_without_differences_is_the_same_data(one: object, two: object) -> None:
    if not differences(one, two):
        assert one == two


@pytest.mark.parametrize(
    ("declared", "given", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["a: declared 1, now true"]),
        ({"a": None}, {}, ["a: declared null, now absent"]),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}, ["a.1.b: declared 2, now 3"]),
        ({"a": {"low": 0}}, {"a": [0, 5]}, ['a: declared {"low":0}, now 0..5']),
        ({"a": [0, 1.5]}, {"a": [0, 2]}, ["a: declared 0..1.5, now 0..2"]),
        ({"a": "x" * 100}, {"a": ""}, [f"a: declared {'x' * 80}…, now "]),
        ({"a": "line\nbreak"}, {"a": "b"}, ['a: declared "line\\nbreak", now b']),
    ],
)
def test_differences_are_named_by_path(declared: object, given: object, expected: list[str]) -> None:
    assert differences(declared, given) == expected


def test_data_nested_too_deep_is_refused_before_the_stack_is_full() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="levels deep"):
        plain(deep, field="record")


def test_the_public_names_are_pinned() -> None:
    assert anonymaly.ledger.__all__ == [
        "Account",
        "Allowance",
        "Charge",
        "ChargeReceipt",
        "Counter",
        "Entry",
        "Grant",
        "Head",
        "Ledger",
        "Receipt",
        "Reservation",
        "Verification",
        "refuse_if_too_expensive",
    ]


def test_a_ledger_is_opened_without_importing_an_engine_or_a_compiler() -> None:
    heavy = {"ibis", "duckdb", "numba", "numpy"}
    script = f"import sys, anonymaly.ledger; print(*sorted({heavy} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
