# SPDX-License-Identifier: Apache-2.0
"""The histogram as a question: every cell of the declaration, the right promise, clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import Everyone, SensitiveUnderPolicy
from anonymaly.questions.share_histogram.binding import bind
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.summary import count_judged_cells
from anonymaly.questions.share_histogram.value import ReleasedHistogram
from tests.questions.patients import HARMLESS, SENSITIVE, declare, frame, row

Open = Callable[..., am.Curator]
AGES = am.Bins("age", [0, 18, 65, 120])
FREE = [name for name, method in METHODS.items() if not method.reads_non_sensitive]


@pytest.fixture
def open_curator(tmp_path: Path) -> Open:
    def open_curator(dataset: am.Dataset | None = None, **options: Any) -> am.Curator:
        account = {"budget": 1000, "ledger": tmp_path / "patients.ledger", **options}
        return am.Curator(dataset or declare(), **account)

    return open_curator


def ask(**fields: Any) -> am.ShareHistogram:
    return am.ShareHistogram(**{"by": ["ward", AGES], "policy": "adults", "epsilon": 100, **fields})


def test_every_declared_cell_is_counted_and_records_outside_are_in_none() -> None:
    dataset = declare()
    bound = bind(ask(), dataset.declaration)
    cells = count_judged_cells(dataset.view(bound.policy), bound.by)
    # A, B, C × three ages; age 121, -1, null and NaN, and wards that are null or undeclared, are nowhere.
    assert cells.every.tolist() == [1, 2, 0, 0, 2, 0, 0, 1, 1]
    assert cells.non_sensitive.tolist() == [0, 1, 0, 0, 2, 0, 0, 0, 1]


def test_a_record_with_an_undeclared_value_counts_as_sensitive_and_so_do_its_persons_others() -> None:
    old, young = row(30, "B", name="Ann"), row(19, "B", name="Bob")
    records = [old, row(44, "Z", name="Ann"), young]
    for options, harmless in (({}, [0, 2, 0]), ({"person": "name", "max_rows": 2}, [0, 1, 0])):
        dataset = declare(records, **options)
        bound = bind(ask(by=["ward"]), dataset.declaration)
        cells = count_judged_cells(dataset.view(bound.policy), bound.by)
        assert cells.every.tolist() == [0, 2, 0]
        assert cells.non_sensitive.tolist() == harmless
    # Edges may go beyond what is declared: what lies there is counted, and is sensitive.
    dataset = declare([row(30), row(130)], rules={"agreed": am.Policy("consent")})
    bound = bind(ask(by=[am.Bins("age", [0, 200])], policy="agreed"), dataset.declaration)
    cells = count_judged_cells(dataset.view(bound.policy), bound.by)
    assert (cells.every.tolist(), cells.non_sensitive.tolist()) == ([2], [1])


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 64, 65, 4096])
def test_bins_hold_what_the_declaration_says(bins: int) -> None:
    edges = np.linspace(0, 120, bins + 1).tolist()
    cut = am.Bins("age", edges)
    ages = [
        *edges,
        *np.nextafter(edges, 200),
        *np.nextafter(edges, -200),
        *np.random.default_rng(1).uniform(-5, 125, 300),
    ]
    dataset = declare(frame([row(age) for age in ages]))
    cells = count_judged_cells(dataset.table, bind(ask(by=[cut]), dataset.declaration).by)
    expected = np.zeros(bins, np.int64)
    for age in ages:
        place = cut.index(age)
        if place is not None:
            expected[place] += 1
    assert cells.every.tolist() == expected.tolist()


def test_flags_and_whole_numbers_make_cells_too() -> None:
    table = pa.table(
        {"year": pa.array([2003, 2004, 2004, 1999, None]), "new": [True, False, True, True, True]}
    )
    columns = {"year": am.Categories([2004, 2003]), "new": am.Flag()}
    dataset = am.Dataset(table, name="years", columns=columns, public=True)
    value = am.simulate(ask(by=["new", "year"], policy=None, method="geometric"), dataset, seed=1).value
    assert value.to_array().tolist() == [[1, 0], [1, 1]]
    assert value.estimate(new=True, year=2003) == 1


def test_estimates_take_the_place_of_no_column() -> None:
    names = ["estimate", "estimate_of_records"]
    histogram = ReleasedHistogram([Attribute(name, ("A", "B")) for name in names], [1, 2, 3, 4])
    assert histogram.columns[:2] == names
    assert list(map(tuple, histogram.to_pandas().to_numpy())) == [
        ("A", "A", 1), ("A", "B", 2), ("B", "A", 3), ("B", "B", 4),
    ]  # fmt: skip


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_every_method_answers_with_the_promise_it_keeps(
    open_curator: Open, tmp_path: Path, method: str, adjacency: Any
) -> None:
    curator = open_curator(adjacency=adjacency)
    answer = curator.ask(ask(method=method))
    relation = answer.guarantee.relation
    expected = Everyone(adjacency) if method in FREE else SensitiveUnderPolicy("adults", POLICY, adjacency)
    assert relation == expected
    part = [0, 1, 0, 0, 2, 0, 0, 0, 1]
    whole = [1, 2, 0, 0, 2, 0, 0, 1, 1]
    # At ε = 100 noise is rarer than 10^-10; what is smoothed may still be levelled.
    exact = {"geometric": whole, "one_sided": part, "one_sided_l1": part, "sample": part}
    if method in exact:
        assert answer.value.estimates.tolist() == exact[method]
    assert answer.value.estimates.dtype == (np.float64 if method.startswith("dawa") else np.int64)
    assert answer.to_dict()["value"]["estimates"] == answer.value.estimates.tolist()
    again = curator.ask(ask(method=method)).value
    assert again.estimates.dtype == answer.value.estimates.dtype


POLICY = am.Policy("age >= 18 and consent")


def test_a_method_that_protects_everyone_needs_no_policy_and_says_so(open_curator: Open) -> None:
    curator = open_curator()
    first = curator.ask(ask(method="geometric"))
    again = curator.ask(ask(method="geometric", policy=None))
    assert again.charged == 0, "the policy makes no difference, so it is the same question"
    assert first.asks == "a histogram by ward, age (geometric)"


def test_a_histogram_reads_as_text_table_array_and_json(open_curator: Open, tmp_path: Path) -> None:
    value = open_curator().ask(ask(method="one_sided")).value
    assert str(value).splitlines()[0].split() == ["ward", "age", "estimate"]
    assert "B     [18, 65)          2" in str(value)
    assert value.estimate(ward="B", age="[18, 65)") == 2
    assert value.to_pandas().shape == (9, 3)
    assert value.to_polars().shape == (9, 3)
    value.write(tmp_path / "cells.csv")
    assert (tmp_path / "cells.csv").read_text().splitlines()[5] == '"B","[18, 65)",2'
    with pytest.raises(InputError, match="Give a value of each of ward, age"):
        value.estimate(ward="B")
    with pytest.raises(InputError, match="'D' is not one of its values"):
        value.estimate(ward="D", age="[18, 65)")


def test_long_histograms_are_cut_in_text_only(open_curator: Open) -> None:
    cut = am.Bins("age", list(range(101)))
    value = open_curator().ask(ask(by=[cut], method="one_sided")).value
    assert str(value).splitlines()[-1] == "… 100 cells"
    assert len(value) == len(list(value.rows())) == 100


@pytest.mark.parametrize(
    ("fields", "kind", "said"),
    [
        ({"by": ["note"]}, InputError, "note is anything, never looked into; a list of values is needed"),
        ({"by": ["age"]}, InputError, "am.Bins"),
        ({"by": ["height"]}, InputError, "no declared column 'height'"),
        ({"by": ["ward", "ward"]}, InputError, "twice"),
        ({"by": [am.Bins("ward", [0, 1])]}, InputError, "only numbers"),
        ({"by": [am.Bins("age", range(20_000))]}, InputError, "at most 10,000"),
        ({"policy": "nobody's"}, RuleNotDeclared, "declared no policy"),
        ({"policy": "nobody's", "method": "geometric"}, RuleNotDeclared, "declared no policy"),
        ({"policy": None}, InputError, "use a method that protects everyone: geometric"),
        ({"method": "magic"}, InputError, "Methods: auto"),
        ({"method": "geometric", "matters": "ranges"}, InputError, "what auto chooses by"),
    ],
)
def test_bad_input_is_explained_and_spends_nothing(
    open_curator: Open, fields: dict[str, Any], kind: type[Exception], said: str
) -> None:
    curator = open_curator()
    for asked in (curator.preview, curator.ask):
        with pytest.raises(kind, match=said):
            asked(ask(**fields))
    assert curator.spent == 0


def test_an_epsilon_that_rounding_would_eat_is_refused(open_curator: Open) -> None:
    curator = open_curator(declare(person="name", max_rows=1_000_000))
    with pytest.raises(InputError, match="epsilon: is too small"):
        curator.ask(ask(method="dawa", epsilon="0.000000001"))
    assert curator.spent == 0


def test_too_many_cells_are_refused(open_curator: Open) -> None:
    many = {f"x{place}": am.Categories(list(range(200))) for place in range(3)}
    table = pa.table({name: pa.array([], pa.int64()) for name in many})
    dataset = am.Dataset(table, name="wide", columns=many)
    with pytest.raises(InputError, match="8,000,000 cells"):
        open_curator(dataset).preview(ask(by=list(many), policy=None, method="geometric"))


@pytest.mark.parametrize("method", list(METHODS))
def test_the_preview_says_what_epsilon_buys(open_curator: Open, method: str) -> None:
    curator = open_curator()
    little, much = (
        curator.preview(ask(method=method, epsilon=epsilon)).expectation for epsilon in ("0.1", 5)
    )
    assert little.error != much.error
    assert METHODS[method].says in little.noise
    assert curator.spent == 0


def test_persons_with_several_rows_divide_epsilon(open_curator: Open) -> None:
    records = [*HARMLESS, *SENSITIVE]
    dataset = declare(records, person="name", max_rows=5)
    rates = bind(ask(method="one_sided", epsilon=1), dataset.declaration).rates
    assert rates["one_sided"] * 5 == 1
    assert open_curator(dataset).ask(ask(method="one_sided")).guarantee.rows == 5


def test_one_release_has_a_view_of_cells_and_a_view_of_sums(open_curator: Open) -> None:
    curator = open_curator()
    value = curator.ask(ask()).value
    assert value.sums is not None
    assert value.for_sums().shape == value.to_array().shape == (3, 3)
    assert curator.spent == 100, "the second view is free"
    again = ReleasedHistogram.of_dict(value.to_dict())
    assert again.for_sums().tolist() == value.for_sums().tolist()
    # An answer of before has one view, which serves for both.
    before = ReleasedHistogram.of_dict({k: v for k, v in value.to_dict().items() if k != "sums"})
    assert before.for_sums().tolist() == before.to_array().tolist()


def test_cells_are_what_matters_by_default(open_curator: Open) -> None:
    curator = open_curator()
    charges = [curator.ask(ask(matters=aim)).charged > 0 for aim in (None, "cells", "totals", "ranges")]
    assert charges == [True, False, True, True]


def test_what_auto_was_charged_for_before_is_found_by_the_same_words() -> None:
    declaration = declare().declaration
    bound = bind(ask(), declaration)
    before = bound.earlier
    assert before is not None
    assert before.fingerprint() == bound.fingerprint(), "the ledger tells them apart by their versions"
    assert (before.schema_version, bound.schema_version) == (1, 2)
    assert before.method.says.startswith("hybrid or one_sided_l1")  # type: ignore[attr-defined]
    assert bind(ask(method="hybrid"), declaration).schema_version == 1
    ranges = bind(ask(matters="ranges"), declaration)
    assert ranges.earlier is None
    assert ranges.fingerprint() != bound.fingerprint()
    assert bind(bound.query, declaration) == bound  # type: ignore[arg-type]


def test_a_charge_of_version_1_that_was_not_drawn_is_answered_by_what_auto_was_then(
    open_curator: Open,
) -> None:
    curator = open_curator()
    before = curator.accountant.accept(ask()).earlier
    assert before is not None
    curator.accountant.reserve(before, analyst="owner", repeat=0)
    answer = curator.ask(ask())
    assert (answer.charged, answer.value.sums, curator.spent) == (0, None, 100)
    assert curator.ask(ask()).value.sums is None
    assert curator.ask(ask(), repeat=1).value.sums is not None
    assert curator.ask(ask(matters="ranges")).value.sums is not None
    assert curator.spent == 300


def test_cells_that_the_policys_text_calls_harmless_hold_no_noise_for_the_sensitive() -> None:
    rules = {"old": am.Policy("age >= 18")}
    dataset = declare([row(30), row(70), row(10)], rules=rules)
    bound = bind(ask(by=[AGES], policy="old"), dataset.declaration)
    assert bound.facts.harmless is not None
    assert bound.facts.harmless.tolist() == [False, True, True]
    assert "numbers" not in bound.rates
    # A bin beyond the declared domain may hold what nobody declared, and that is sensitive.
    wide = bind(ask(by=[am.Bins("age", [0, 18, 65, 200])], policy="old"), dataset.declaration)
    assert wide.facts.harmless is not None
    assert wide.facts.harmless.tolist() == [False, True, False]
    # A person's other rows are in no cell's text, nor is a null in a column that makes no cells.
    persons = declare([row(30)], rules=rules, person="name", max_rows=2)
    assert bind(ask(by=[AGES], policy="old"), persons.declaration).facts.harmless is None
    assert bind(ask(by=[AGES]), declare().declaration).facts.harmless is None


def test_declared_rows_decide_without_a_question() -> None:
    few, many = (declare(rows=rows).declaration for rows in (1, 10**6))
    assert bind(ask(epsilon=1), few).facts.plain is False
    assert bind(ask(epsilon=1, matters="ranges"), many).facts.plain is True
    assert bind(ask(epsilon=1), many).facts.plain is None
    assert bind(ask(epsilon=1), declare().declaration).facts.plain is None
