# SPDX-License-Identifier: Apache-2.0
"""Records that are typed or pasted."""

from __future__ import annotations

import pytest

from anonymaly.ask.typed_records import MOST_OTHERS, read_typed
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


@pytest.mark.parametrize("name", ["c", '"c\nd"'])  # the names may be on several lines
def test_more_columns_than_are_worth_the_time_are_refused_before_they_are_read(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("anonymaly.ask.typed_records.read_csv")
    others = 100_000
    text = f"age,ward{f',{name}' * others}\n30,A{',1' * others}\n"
    with pytest.raises(InputError, match="has 100,002 columns"):
        read_typed(text, COLUMNS, field="records")


def test_some_columns_of_ones_own_stay_with_a_record() -> None:
    names = [f"c{number}" for number in range(MOST_OTHERS)]
    found = read_typed(f"age,ward,{','.join(names)}\n30,A{',1' * len(names)}\n", COLUMNS, field="records")
    assert len(found) == 2 + MOST_OTHERS


def test_a_name_without_an_end_is_said_to_be_that() -> None:
    with pytest.raises(InputError, match="without an end"):
        read_typed(f'age,ward,"{"c" * 200_000}\n30,A,1\n', COLUMNS, field="records")
