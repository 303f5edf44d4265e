# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import pickle

import pytest

import anonymaly as am
from anonymaly import errors
from anonymaly.errors import AnonymalyError, InputError

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AnonymalyError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_survives_being_sent_to_another_process(kind: type[AnonymalyError]) -> None:
    error = kind("must be positive, got 0", field="epsilon", next_step="Give 0.1.")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301
        assert type(twin) is kind
        assert twin.to_dict() == error.to_dict()
        assert str(twin) == str(error) == "epsilon: must be positive, got 0. Give 0.1."


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_is_drawn_in_the_docstring_with_its_exit_code(kind: type[AnonymalyError]) -> None:
    lines = [line for line in str(errors.__doc__).splitlines() if f" {kind.__name__} " in f" {line} "]
    assert len(lines) == 1
    stated = [code for code in (1, 2) if f"exit code {code}" in lines[0]]
    assert stated in ([], [kind.exit_code])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("is wrong"), "is wrong"),
        (InputError("is wrong", field="age"), "age: is wrong"),
        (InputError("is wrong", next_step="Mend it."), "is wrong. Mend it."),
        (InputError("is it?", next_step="Mend it."), "is it? Mend it."),
        (InputError("ends so.", next_step="Mend it."), "ends so. Mend it."),
    ],
)
def test_the_text_is_field_problem_and_next_step_as_sentences(error: InputError, text: str) -> None:
    assert str(error) == text


def test_plain_data_name_the_kind_and_keep_what_is_absent_absent() -> None:
    assert errors.BudgetExceeded("no").to_dict() == {
        "error": "BudgetExceeded",
        "field": None,
        "problem": "no",
        "next_step": None,
    }


def test_refusals_and_failures_are_told_from_bad_input_by_their_exit_code() -> None:
    assert {kind.__name__ for kind in KINDS if kind.exit_code == 1} == {
        "Refused",
        "BudgetExceeded",
        "RuleNotDeclared",
        "DeclarationChanged",
        "AnswerForgotten",
        "Proposed",
        "AnswerFailed",
    }


def test_a_notebook_shows_the_words_and_the_callers_line_alone() -> None:
    def fail() -> None:
        am.Count(epsilon=-1)

    with pytest.raises(errors.InputError) as caught:
        fail()
    first, *rest = caught.value._render_traceback_()
    assert first.startswith("InputError: epsilon: must be positive, got -1")
    assert [line.partition(": ")[2] for line in rest] == ["am.Count(epsilon=-1)"]
    assert errors.InputError("alone")._render_traceback_() == ["InputError: alone"]
