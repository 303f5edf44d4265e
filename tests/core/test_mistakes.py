# SPDX-License-Identifier: Apache-2.0
"""Whatever is given for a field, the answer is in our words and says what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

import anonymaly as am
from anonymaly.core.value import Value
from anonymaly.errors import InputError

KINDS: list[type[Value]] = [
    *(am.Interval, am.Categories, am.Flag, am.Timestamps, am.Opaque, am.Unbounded, am.Bins),
    *(am.Policy, am.AnomalyModel, am.SameContexts, am.Manifest, am.stream.Declaration),
    *(am.Count, am.Score, am.Identify, am.Lookahead, am.Explain, am.ShareSample, am.ShareHistogram),
]
WRONG: list[Any] = [
    None,
    3,
    2.5,
    -1,
    True,
    "x",
    b"x",
    [],
    [3],
    [[1]],
    {},
    {"a": 1},
    {1: {2: 3}},
    object(),
    float("nan"),
]
THEIR_WORDS = re.compile(
    r"[Ii]nput should|valid |instance of|pydantic|function-|constrained|unable to parse|subclass"
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_wrong_fields_are_answered_in_our_words_with_a_next_step(kind: type[Value]) -> None:
    refused = []
    for name in [*kind.model_fields, "colour"]:
        for wrong in WRONG:
            try:
                kind(**{name: wrong})
            except InputError as problem:
                refused.append(problem)
    assert len(refused) >= len(WRONG)
    for problem in refused:
        assert not THEIR_WORDS.search(str(problem)), str(problem)
        assert problem.next_step, str(problem)


def test_a_name_that_is_nearly_a_field_is_guessed() -> None:
    with pytest.raises(InputError, match=r"^column: is not a field of Score.*Did you mean columns\?"):
        am.Score(column=["age"], epsilon=1)  # type: ignore[call-arg]


def test_one_text_where_a_list_is_meant_says_so() -> None:
    with pytest.raises(
        InputError, match=r"^columns: must be a list\. Put it in brackets, as in columns=\[…\]"
    ):
        am.Score(columns="age", epsilon=1)


def test_of_two_forms_the_one_that_was_meant_is_explained() -> None:
    with pytest.raises(InputError, match=r"^by\.0: must be text or Bins"):
        am.ShareHistogram(by=[3], epsilon=1)  # type: ignore[list-item]


def test_a_value_in_a_message_is_never_what_was_given() -> None:
    with pytest.raises(InputError) as refused:
        am.Identify(record={"age": [["4711"]]}, model="rare", epsilon=1)
    assert "4711" not in str(refused.value)


def test_a_field_is_described_once_and_the_docstring_follows() -> None:
    class Room(Value):
        """Where somebody lives."""

        name: str
        """What it is called."""

        floor: int = 0
        """How high it is."""

    assert Room.model_fields["floor"].description == "How high it is."
    assert "name\n    What it is called.\nfloor : optional\n    How high it is." in str(Room.__doc__)
