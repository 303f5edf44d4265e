# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.declare.filters import DEEPEST_TREE, LARGEST_TREE, LONGEST_TEXT, parse
from anonymaly.declare.predicates import Comparison, Conjunction, Membership, Negation, Predicate, Truth
from anonymaly.errors import ExpressionError
from tests.declare.trees import COLUMNS, WARDS, records, trees

untimed = settings(deadline=None)

SIMPLE: dict[str, Domain] = {
    "age": Interval(0, 120),
    "ward": Categories(["A", "B"]),
    "code": Categories([1, 2]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}


@untimed
@given(trees)
def test_the_text_of_a_tree_reads_as_the_same_tree(tree: Predicate) -> None:
    assert parse(str(tree), COLUMNS) == tree


@untimed
@given(trees, records)
def test_brackets_and_capitals_that_change_nothing_change_nothing(
    tree: Predicate, record: dict[str, Any]
) -> None:
    assert parse(f"(({tree}))", COLUMNS) == tree
    assert parse(f" NOT  not ( {tree} )", COLUMNS).evaluate(record) == tree.evaluate(record)


@untimed
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse(text, SIMPLE)
    except ExpressionError:
        return
    assert parse(str(tree), SIMPLE) == tree


_words = [
    "age",
    "ward",
    "consent",
    "seen",
    "note",
    "`age`",
    "and",
    "or",
    "not",
    "in",
    "is",
    "null",
    "true",
    "false",
]
_signs = ["==", "=", "<>", "!=", "<", "<=", "(", ")", "[", "]", "{", "}", ","]
_pieces = st.sampled_from([*_words, *_signs, "1", "-2.5", "1e3", "'A'", '"B"', "'2020-01-01'", "9" * 20])


@untimed
@given(st.lists(_pieces, max_size=12).map(" ".join))
def test_any_row_of_words_is_read_or_refused(text: str) -> None:
    try:
        tree = parse(text, SIMPLE)
    except ExpressionError:
        return
    assert parse(str(tree), SIMPLE) == tree


@pytest.mark.parametrize(
    "name",
    [
        "\u0446\u0435\u043d\u0430",
        "\u0915\u0940\u092e\u0924_2",
        "\u05e2\u05b8\u05de\u05b8\u05dc",
        "pre\u0301cio",
        "\uff41\uff4e\uff44",
        "x\u0663",
    ],
)  # Cyrillic, Hindi, Hebrew with vowels, an accent of its own, `and` in wide letters, a digit
def test_names_in_any_script_are_written_as_they_are(name: str) -> None:
    columns = {name: Interval(0, 10)}
    tree = parse(f"{name}>=3 and {name} < 5", columns)
    assert str(tree) == f"`{name}` >= 3 and `{name}` < 5"
    assert parse(str(tree), columns) == tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("18<=age and not consent", "age >= 18 and not consent"),
        ("age=5", "age == 5"),
        ("age<>5.0", "age != 5"),
        ("5 > age", "age < 5"),
        ("age > -0.0", "age > 0"),
        ("age > +.5e1", "age > 5"),
        ("`age` > 1", "age > 1"),
        ("ward in ('B', \"A\", 'B')", "ward in ['A', 'B']"),
        ("ward in {'B'}", "ward in ['B']"),
        ("ward NOT IN ['A']", "not ward in ['A']"),
        ("age IS NOT NULL", "age is not null"),
        ("not age is null", "age is not null"),
        ("true == consent", "consent == true"),
        ("seen >= '2024-01-31'", "seen >= '2024-01-31 00:00:00'"),
        ("(age > 1 and age > 2) and (age > 3)", "age > 1 and age > 2 and age > 3"),
        ("age > 1 or (age > 2 or age > 3)", "age > 1 or age > 2 or age > 3"),
        ("(age > 1 or consent) and consent", "(age > 1 or consent) and consent"),
        ("age > 1 or consent and consent", "age > 1 or consent and consent"),
        ("not (age > 1 or consent)", "not (age > 1 or consent)"),
        ("not (not (consent))", "not not consent"),
        ("ward == '\\A'", "ward == 'A'"),
        ("age\u00a0>\n1", "age > 1"),
        ("age > " + "0" * 5000 + "1", "age > 1"),
        ("age > 1e-5000", "age > 0"),
    ],
    ids=lambda text: text[:40],
)
def test_ways_of_writing_the_same_have_one_text(text: str, canonical: str) -> None:
    tree = parse(text, SIMPLE)
    assert str(tree) == canonical
    assert parse(canonical, SIMPLE) == tree


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("age", "expected a comparison after age, found 'the end'"),
        ("age >", "expected a value, found 'the end'"),
        ("age > 1 2", "did not expect '2'"),
        ("age > 1 and", "expected a column, found 'the end'"),
        ("0 <= age <= 5", "did not expect '<='"),
        ("age > age", "found the name 'age': text goes in quotes"),
        ("age == null", "write `is null`"),
        ("age == (1)", r"expected a value, found '\('"),
        ("agee > 1", r"no declared column 'agee' \(character 1\)"),
        ("age > 'x'", "cannot be compared by > with 'x'"),
        ("age == true", "cannot be compared by == with true"),
        ("ward == A", "text goes in quotes"),
        ("ward == 'C'", "cannot be compared by == with 'C'"),
        ("ward > 'A'", "cannot be compared by > with 'A'"),
        ("ward", "expected a comparison after ward"),
        ("code == '1'", "cannot be compared"),
        ("code == 3", "cannot be compared"),
        ("code == 1.5", "cannot be compared"),
        ("consent > false", "cannot be compared"),
        ("consent == 1", "cannot be compared"),
        ("seen > 'soon'", "must be a date and time"),
        ("seen > '2020-01-01T00:00Z'", "no time zone"),
        ("seen > 5", "cannot be compared"),
        ("note == 'x'", "only `is null` may be asked"),
        ("note in ['x']", "only `is null` may be asked"),
        ("ward in []", "expected a value, found ']'"),
        ("ward in ['A')", r"expected '\]', found '\)'"),
        ("ward in 'A'", "expected a list in brackets"),
        ("age is 5", "expected 'null'"),
        ("age not 5", "expected 'in'"),
        ("(age > 1", r"expected '\)', found 'the end'"),
        ("age > 1)", r"did not expect '\)'"),
        ("age > 'open", r"cannot read \"'\" \(character 7\)"),
        ("age ! 5", r"cannot read '!' \(character 5\)"),
        ("age > 5x", "cannot read '5'"),
        ("age > 0x10", "cannot read '0'"),
        ("age > \u0663", "cannot read"),
        ("\u0430ge > 1", "no declared column '\u0430ge'"),  # a Cyrillic letter
        ("age\u0301 > 1", "no declared column 'age\u0301'"),  # an accent
        ("age > 5\u0301", "cannot read '\u0301'"),
        ("age > 1; DROP TABLE source", r"cannot read ';' \(character 8\)"),
        ("age > 1 -- comment", "cannot read '-'"),
        ("age > 1 union select 1", "did not expect 'union'"),
        ("__import__('os')", "no declared column '__import__'"),
        ("__import__('os').system('x')", r"cannot read '\.'"),
        ("age > (select 1)", "expected a value"),
        ("age > nan", "found the name 'nan'"),
        ("age > 1e999", "too large"),
        ("age > 9223372036854775808", "too large"),
        ("age > 9007199254740993", "more digits"),
        ("``", "cannot read '`'"),
        ("age > 1\0", "cannot read"),
    ],
)
def test_what_does_not_read_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason) as refused:
        parse(text, SIMPLE, field="rules.adults")
    assert refused.value.field == "rules.adults"
    assert refused.value.next_step


@pytest.mark.parametrize("text", [None, 5, b"age > 1", ["age > 1"]])
def test_only_text_is_parsed(text: Any) -> None:
    with pytest.raises(ExpressionError, match=f"must be text, got {type(text).__name__}"):
        parse(text, SIMPLE)


@pytest.mark.parametrize("nesting", ["({})", "not {}", "not ({})"])
def test_nesting_is_capped_before_pythons_stack_is(nesting: str) -> None:
    text = "consent"
    for _ in range(LONGEST_TEXT // len(nesting)):
        text = nesting.format(text)
    assert len(text) <= LONGEST_TEXT + len(nesting) * 2
    with pytest.raises(ExpressionError, match=f"nested more than {DEEPEST_TREE} deep"):
        parse(text[:LONGEST_TEXT], SIMPLE)


def test_ten_thousand_brackets_are_refused_by_their_length_or_depth() -> None:
    with pytest.raises(ExpressionError, match="characters"):
        parse("(" * 10_000 + "consent" + ")" * 10_000, SIMPLE)
    with pytest.raises(ExpressionError, match="deep"):
        parse("(" * 10_000, SIMPLE)


@pytest.mark.parametrize("depth", [1, DEEPEST_TREE - 1])
def test_the_deepest_tree_that_is_allowed_is_read_again_from_its_text(depth: int) -> None:
    tree = parse("not " * depth + "consent", SIMPLE)
    assert parse(str(tree), SIMPLE) == tree


@pytest.mark.parametrize("word", ["and", "or"])
def test_the_number_of_conditions_is_capped(word: str) -> None:
    most = f" {word} ".join(["age > 1"] * LARGEST_TREE)
    assert len(parse(most, SIMPLE).parts) == LARGEST_TREE  # type: ignore[attr-defined]
    with pytest.raises(ExpressionError, match=f"more than {LARGEST_TREE} conditions"):
        parse(f"{most} {word} consent", SIMPLE)


def test_long_texts_are_capped_before_and_after_they_are_written_out() -> None:
    with pytest.raises(ExpressionError, match=r"has 10,001 characters; at most 10,000"):
        parse("x" * (LONGEST_TEXT + 1), SIMPLE)
    short = "age in[" + ",".join(str(number) for number in range(2200)) + "]"
    assert len(short) < LONGEST_TEXT
    with pytest.raises(ExpressionError, match="written out in full"):
        parse(short, SIMPLE)


def test_columns_named_like_words_signs_or_sentences_are_reached_by_backquotes() -> None:
    names = [
        "and",
        "true",
        "null",
        "NOT",
        "(",
        "==",
        "in",
        "heart rate",
        "été",
        "1st",
        "x'y\"z",
        "\\",
        "a\nb",
        "42",
    ]
    columns: dict[str, Domain] = dict.fromkeys(names, Flag())
    for name in names:
        assert parse(f"`{name}`", columns) == Truth(name)
        assert parse(f"`{name}` == true and not `{name}`", columns) == Conjunction(
            (Comparison(name, "==", True), Negation(Truth(name)))
        )
        assert parse(str(Truth(name)), columns) == Truth(name)


def test_the_names_of_the_declared_columns_are_offered_as_they_are_typed() -> None:
    with pytest.raises(ExpressionError, match="Declared columns: age, `heart rate`, `and`"):
        parse("weight > 1", COLUMNS)


@pytest.mark.parametrize("ward", WARDS)
def test_awkward_text_survives_quoting_of_either_kind(ward: str) -> None:
    for quote in ("'", '"'):
        quoted = quote + ward.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
        assert parse(f"ward == {quoted}", COLUMNS) == Comparison("ward", "==", ward)


def test_the_same_list_in_another_order_is_the_same_question() -> None:
    assert parse("age in [3, 1, 2.5, 1.0]", SIMPLE) == parse("age in [2.5, 3, 1]", SIMPLE)
    assert parse("age in [3, 1]", SIMPLE) == Membership("age", (1, 3))


def test_literals_take_the_type_of_their_column() -> None:
    tree = parse("seen == '2024-02-29 12:30'", SIMPLE)
    assert tree == Comparison("seen", "==", datetime(2024, 2, 29, 12, 30))
    assert type(parse("code == 1.0", SIMPLE).literal) is int  # type: ignore[attr-defined]
    assert parse(f"`and` == {2**52 + 1}", COLUMNS) == Comparison("and", "==", 2**52 + 1)


def test_a_name_that_only_backquotes_can_hold_is_written_out_where_they_are_missing() -> None:
    columns = {"Glucose (mg/dl)": Interval(0, 300), "age": Interval(0, 120)}
    for text in ("Glucose (mg/dl) > 5", "age > 3 and Glucose (mg/dl) > 5"):
        with pytest.raises(ExpressionError, match=r"Write `Glucose \(mg/dl\)`, in backquotes\. "):
            parse(text, columns)
    with pytest.raises(ExpressionError) as refused:
        parse("`Glucose (mg/dl)` > 'x'", columns)
    assert "backquotes" not in str(refused.value)


def test_dates_and_flags_that_are_written_in_other_ways_come_with_how_they_are_written() -> None:
    with pytest.raises(ExpressionError, match=r"Dates stand in quotes, as in seen >= '2026-01-31'\."):
        parse("seen > 2020-01-01", SIMPLE)
    with pytest.raises(ExpressionError, match=r"Write consent, or not consent\."):
        parse("consent == 'yes'", SIMPLE)
