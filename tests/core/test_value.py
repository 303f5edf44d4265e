# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.value import Number, Ordered, Value, canonical_json, digest, is_text
from anonymaly.errors import InputError

untimed = settings(deadline=None)

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Example(Value):
    number: Number
    name: str = "x"
    inner: Example | None = None


class Spelled(Example):
    takes_positions = False


class Strict(Value):
    names: Annotated[tuple[str, ...], Ordered]


@untimed
@given(plain)
def test_canonical_text_reads_back_as_the_same_data(data: Any) -> None:
    assert json.loads(canonical_json(data)) == data


@untimed
@given(st.dictionaries(st.text(), st.integers(), max_size=6))
def test_the_order_in_which_names_were_given_leaves_no_trace(data: dict[str, int]) -> None:
    assert digest(data) == digest(dict(reversed(data.items())))


def test_what_json_cannot_say_is_refused_rather_than_written() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(math.nan)
    assert digest({"name": "\ud800"}) != digest({"name": "?"})
    assert is_text("é😀")
    assert not is_text("\udfff")


@untimed
@given(st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_its_json_and_keeps_its_value(number: float) -> None:
    example = Example(number)
    assert example.number == number
    assert Example.read(json.loads(example.to_json())) == example


@untimed
@given(st.integers(-(2**53), 2**53) | st.integers(64, 1000).map(lambda power: 2**power))
def test_a_whole_number_is_one_value_however_it_is_typed(number: int) -> None:
    typed = [Example(number), Example(float(number)), Example(np.float64(number))]
    assert len({example.to_json() for example in typed}) == len(set(typed)) == 1


def test_numpy_integers_are_numbers_and_become_plain() -> None:
    assert type(Example(np.int32(7)).number) is int
    assert Example(-0.0).to_json() == Example(0).to_json()


@pytest.mark.parametrize(
    "number",
    [
        math.nan,
        math.inf,
        -math.inf,
        10**400,
        pytest.param(-(10**5000), id="very-negative"),
        True,
        "1",
        None,
        [1],
        1j,
    ],
)
def test_what_is_no_finite_number_is_refused_by_field(number: Any) -> None:
    with pytest.raises(InputError) as refused:
        Example(number)
    assert refused.value.field == "number"
    assert refused.value.next_step == "Example takes number, name, inner."


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="colour: is not a field of Example"):
        Example(1, colour="red")
    with pytest.raises(InputError, match="colour: is not a field"):
        Example.read({"number": 1, "inner": {"number": 2, "colour": "red"}})


def test_a_missing_field_is_named_and_so_are_the_others_that_are_wrong() -> None:
    with pytest.raises(InputError, match=r"number: is required \(also wrong: name\)"):
        Example(name=5)
    with pytest.raises(InputError, match=r"colour: is not a field of Example \(also missing: number\)"):
        Example(colour="red")


def test_assignment_and_deletion_are_refused() -> None:
    example = Example(1)
    with pytest.raises(InputError, match="frozen"):
        example.number = 2
    with pytest.raises(InputError, match="frozen"):
        del example.number
    with pytest.raises(InputError, match="frozen"):
        example.colour = "red"  # type: ignore[attr-defined]
    assert example == Example(1)


@pytest.mark.parametrize(("positions", "names"), [((1, "a", None, 4), {}), ((1,), {"number": 2})])
def test_too_many_values_without_names_are_refused(positions: tuple[Any, ...], names: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Name the fields: number, name, inner"):
        Example(*positions, **names)


def test_a_value_that_must_be_spelled_out_takes_no_positions() -> None:
    with pytest.raises(InputError, match="Name the fields"):
        Spelled(1)
    assert Spelled(number=1).number == 1


@pytest.mark.parametrize("data", [None, [1], "number", 5])
def test_reading_needs_a_mapping(data: Any) -> None:
    with pytest.raises(InputError, match="must be a mapping of the fields of Example"):
        Example.read(data)


def test_the_input_is_never_repeated_in_the_error() -> None:
    with pytest.raises(InputError) as refused:
        Example(number="secret-4711", name={"secret-4711": 1}, inner="secret-4711")
    assert "4711" not in str(refused.value) + repr(refused.value.to_dict())
    assert refused.value.__cause__ is None


def test_a_set_is_refused_where_order_is_part_of_the_value() -> None:
    with pytest.raises(InputError, match="names: has no order"):
        Strict({"a", "b"})
    assert Strict(["b", "a"]).names == ("b", "a")


class _Described(Value):
    """A value with a wrapped description.

    Examples
    --------
    >>> _Described(1).number
    1
    """

    number: int
    """How many there are, in a text that is wrapped
    in the source."""
    name: str = "one"
    """What it is called."""


def test_a_fields_description_is_one_line_and_stands_in_the_docstring_before_the_examples() -> None:
    said = "How many there are, in a text that is wrapped in the source."
    assert _Described.model_fields["number"].description == said
    parameters = f"Parameters\n----------\nnumber\n    {said}\nname : optional\n    What it is called.\n"
    assert str(_Described.__doc__).index(parameters) < str(_Described.__doc__).index("Examples")
    with pytest.raises(InputError, match="Give number: how many there are, in a text that is wrapped"):
        _Described("many")
