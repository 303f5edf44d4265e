# SPDX-License-Identifier: Apache-2.0
"""Records that are typed or pasted."""

from __future__ import annotations

import pytest

from anonymaly.ask.typed_records import read_typed
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.errors import InputError

COLUMNS: dict[str, Domain] = {"age": Interval(0, 120), "ward": Categories(["A", "B"])}


@pytest.mark.parametrize("text", ["", "age,ward", "age,ward\n", "\n\nage,ward\n\n  \n"])
def test_names_without_a_record_are_said_to_be_that(text: str) -> None:
    with pytest.raises(InputError, match="has no record"):
        read_typed(text, COLUMNS, field="records")


def test_what_a_spreadsheet_copies_has_tabs_and_may_end_in_an_empty_cell() -> None:
    found = read_typed("age\tward\n30\tA\n\tB\n97\t", COLUMNS, field="records")
    assert found == {"age": [30, None, 97], "ward": ["A", "B", ""]}


def test_a_comma_between_names_is_what_separates_them() -> None:
    assert read_typed("age,ward\n30,A\tB\n", COLUMNS, field="records")["ward"] == ["A\tB"]
