# SPDX-License-Identifier: Apache-2.0
"""What is promised is kept, by mechanisms whose answers' laws are known exactly, and no more than that."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, inf
from typing import Any

import pytest

from anonymaly.core.value import digest
from anonymaly.declare.domain import Interval
from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.errors import InputError
from anonymaly.promise import (
    ContextQuestion,
    Everyone,
    Guarantee,
    SameValidContexts,
    SensitiveRecords,
    SensitiveUnderPolicy,
    ValuesWithin,
    compose,
    intersect,
)
from tests.promise.mechanisms import (
    HALF,
    Law,
    Mechanism,
    bound,
    fall,
    geometric,
    identify,
    loss,
    noisy_count,
    noisy_histogram,
    sample,
    which_part,
)
from tests.promise.naive import (
    ANY_NUMBER,
    NEAR,
    PEOPLE,
    PEOPLE_NEAR,
    ROWS,
    Tiny,
    World,
    cut,
    k_sensitive,
    reversed_pairs,
    unreached,
)

KINDS = len(ROWS.records)
EVERYONE = Guarantee(Everyone(), 1)
ONE_SIDED = Guarantee(SensitiveUnderPolicy("adults", Policy("v >= 2")), 1)
SENSITIVE = {0, 2, 3}


def rare(beta: int, k: int) -> SensitiveRecords:
    return SensitiveRecords("rare", AnomalyModel(["v"], 1, beta, k))


RARE = Guarantee(rare(3, 1), 1)


def kept(mechanism: Mechanism, guarantee: Guarantee) -> bool:
    return loss(mechanism, ROWS.pairs(guarantee.relation)) <= bound(guarantee)


def tight(mechanism: Mechanism, guarantee: Guarantee) -> bool:
    return loss(mechanism, ROWS.pairs(guarantee.relation)) == bound(guarantee)


def test_a_geometric_count_keeps_and_uses_up_its_promise_to_everyone() -> None:
    assert tight(noisy_count([0, 1]), EVERYONE)
    assert tight(noisy_histogram(KINDS), EVERYONE)


def test_a_sample_of_the_open_records_keeps_and_uses_up_its_one_sided_promise() -> None:
    assert tight(sample(KINDS, SENSITIVE), ONE_SIDED)


def test_a_symmetric_reading_of_the_policy_is_refuted_by_the_sample() -> None:
    pairs = ROWS.pairs(ONE_SIDED.relation)
    assert loss(sample(KINDS, SENSITIVE), pairs | reversed_pairs(pairs)) == inf
    assert not kept(sample(KINDS, SENSITIVE), EVERYONE)


@pytest.mark.parametrize("place", range(KINDS))
@pytest.mark.parametrize(("beta", "k"), [(1, 1), (2, 1), (3, 1), (3, 2)])
def test_identification_keeps_and_uses_up_its_promise_to_sensitive_records(
    beta: int, k: int, place: int
) -> None:
    assert tight(identify(place, NEAR, beta, k), Guarantee(rare(beta, k), 1))


def test_a_k_that_is_one_too_large_is_refuted_by_identification() -> None:
    assert not kept(identify(0, NEAR, 3, 1), Guarantee(rare(3, 2), 1))
    assert not kept(identify(0, NEAR, 3, 1), EVERYONE)


@pytest.mark.parametrize("guarantee", [EVERYONE, ONE_SIDED, RARE, compose(ONE_SIDED, RARE)])
def test_replacing_is_two_steps_so_twice_epsilon_holds_and_once_does_not(guarantee: Guarantee) -> None:
    replaced = guarantee.to_adjacency("replace")
    assert replaced.nano == 2 * guarantee.nano
    steps = wide_pairs(guarantee)
    assert unreached(ROWS.pairs(replaced.relation), steps, 2) == []
    assert unreached(ROWS.pairs(replaced.relation), steps, 1) != []
    units = guarantee.nano // 10**9
    histogram = noisy_histogram(KINDS) * units
    assert tight(histogram, guarantee)
    assert tight(histogram, replaced)
    assert not kept(histogram, Guarantee(replaced.relation, guarantee.epsilon))


def wide_pairs(guarantee: Guarantee) -> frozenset[tuple[Tiny, Tiny]]:
    """The add/remove pairs, by their naive definition, in a universe one record larger than the databases."""
    judge = k_sensitive(KINDS, NEAR, 3, 1)
    definitions = {
        "everyone": lambda unit, holder, removal: True,
        "sensitive_under_policy": lambda unit, holder, removal: not removal or unit[0] in SENSITIVE,
        "sensitive_records": lambda unit, holder, removal: judge(unit[0], holder),
    }
    parts = [ROWS.steps(definitions[atom.type]).pairs for atom in guarantee.relation.atoms()]
    return frozenset.intersection(*parts)


def test_the_sample_costs_no_more_when_records_are_replaced() -> None:
    assert tight(
        sample(KINDS, SENSITIVE), Guarantee(SensitiveUnderPolicy(None, Policy("v >= 2"), "replace"), 1)
    )


def test_composition_keeps_the_sum_on_what_the_relations_share() -> None:
    together = compose(RARE, ONE_SIDED)
    mechanism = identify(3, NEAR, 3, 1) + sample(KINDS, SENSITIVE)
    assert together.nano == 2 * 10**9
    assert kept(mechanism, together)
    assert kept(identify(0, NEAR, 3, 1) + noisy_count([0]), compose(RARE, EVERYONE))
    assert tight(noisy_histogram(KINDS) + noisy_histogram(KINDS), together)


def test_composition_breaks_for_pairs_that_only_one_relation_holds() -> None:
    together = compose(RARE, ONE_SIDED)
    mechanism = identify(3, NEAR, 3, 1) + sample(KINDS, SENSITIVE)
    common = ROWS.pairs(together.relation)
    for alone in (RARE, ONE_SIDED):
        outside = ROWS.pairs(alone.relation) - common
        assert loss(mechanism, outside) > bound(together)


def test_a_sum_of_less_than_both_epsilons_is_refuted() -> None:
    twice = noisy_count([0]) + noisy_count([0])
    assert tight(twice, compose(EVERYONE, EVERYONE))
    assert not kept(twice, EVERYONE)


def test_along_a_path_inside_the_intersection_the_loss_is_at_most_steps_times_epsilon() -> None:
    together = compose(RARE, ONE_SIDED)
    mechanism = identify(3, NEAR, 3, 1) + sample(KINDS, SENSITIVE)
    pairs = ROWS.pairs(together.relation)
    for a, b in pairs:
        for b_again, c in pairs:
            if b == b_again:
                assert fall(mechanism, a, c) <= bound(together) ** 2


def of_two_rows(part: Any) -> Any:
    """The part of a mechanism that reads two rows of each person."""
    return lambda tiny: part(cut(PEOPLE, tiny, 2))


def test_persons_of_whom_two_rows_are_read_cost_twice_and_no_less_however_many_they_have() -> None:
    person = EVERYONE.to_rows(2)
    assert person.nano == 2 * 10**9
    pairs = PEOPLE.pairs(person.relation)
    assert ((0, 0, 1), ()) in pairs, "a person with three rows"
    rows = PEOPLE.steps(lambda unit, holder, removal: True).pairs
    read = frozenset((cut(PEOPLE, a, 2), cut(PEOPLE, b, 2)) for a, b in pairs)
    assert unreached(read, rows, 2) == []
    histogram = [of_two_rows(part) for part in noisy_histogram(len(PEOPLE.records))]
    assert loss(histogram, pairs) == bound(person) > bound(EVERYONE)
    replaced = person.to_adjacency("replace")
    assert loss(histogram, PEOPLE.pairs(replaced.relation)) == bound(replaced) == 16


def test_a_mechanism_that_reads_all_rows_of_a_person_is_refuted_by_one_with_three() -> None:
    person = EVERYONE.to_rows(2)
    assert loss(noisy_histogram(len(PEOPLE.records)), PEOPLE.pairs(person.relation)) > bound(person)


def test_sensitive_rows_become_persons_at_a_smaller_k() -> None:
    person = Guarantee(rare(3, 2), 1).to_rows(2)
    assert person.relation == SensitiveRecords("rare", AnomalyModel(["v"], 1, 3, 1), rows=2)
    assert person.epsilon == "2"
    judge = k_sensitive(len(PEOPLE.records), PEOPLE_NEAR, 3, 2)
    rows = PEOPLE.steps(lambda unit, holder, removal: judge(unit[0], holder)).pairs
    assert PEOPLE.pairs(person.relation)
    assert unreached(PEOPLE.pairs(person.relation), rows, 2) == []
    for place in range(len(PEOPLE.records)):
        mechanism = identify(place, PEOPLE_NEAR, 3, 2)
        assert loss(mechanism, PEOPLE.pairs(person.relation)) <= bound(person)


def test_persons_at_the_same_k_are_refuted() -> None:
    """Both rows of a person may be sensitive only because of each other."""
    judge = k_sensitive(len(PEOPLE.records), PEOPLE_NEAR, 2, 1)
    rows = PEOPLE.steps(lambda unit, holder, removal: judge(unit[0], holder)).pairs
    claimed = PEOPLE.pairs(SensitiveRecords("rare", AnomalyModel(["v"], 1, 2, 1), rows=2))
    assert unreached(claimed, rows, 10)
    assert loss(which_part(rows), PEOPLE.within(rows)) == 1
    assert loss(which_part(rows), claimed) == inf
    with pytest.raises(InputError, match="k of at least 2"):
        Guarantee(rare(2, 1), 1).to_rows(2)


def test_a_policy_on_rows_does_not_become_one_on_persons_because_that_would_be_false() -> None:
    open_rows = {1, 3}
    rows = PEOPLE.steps(lambda unit, holder, removal: not removal or unit[0] not in open_rows).pairs
    claimed = PEOPLE.pairs(SensitiveUnderPolicy("adults", Policy("v >= 2"), rows=2))
    assert unreached(claimed, rows, 10)
    assert loss(sample(len(PEOPLE.records), set(range(5)) - open_rows), claimed) == inf
    with pytest.raises(InputError, match="a person is sensitive if any row is"):
        ONE_SIDED.to_rows(2)


@pytest.mark.parametrize(("policy", "open_rows"), [("v >= 2", {1, 3}), ("v < 2", {0, 2})])
def test_a_mechanism_that_judges_whole_persons_before_it_cuts_them_keeps_the_promise_to_them(
    policy: str, open_rows: set[int]
) -> None:
    """Every row of a person with a sensitive row is held back; of each of the others two rows are read."""

    def part(kind: int, judged: Any) -> Any:
        def law(tiny: Tiny) -> Law:
            free = [unit[:2] for unit in PEOPLE.units(judged(tiny)) if set(unit) <= open_rows]
            count = sum(unit.count(kind) for unit in free)
            return {number: comb(count, number) * HALF**count for number in range(count + 1)}

        return law

    claimed = PEOPLE.pairs(SensitiveUnderPolicy("open", Policy(policy), rows=2))
    assert loss([part(kind, lambda tiny: tiny) for kind in open_rows], claimed) == 4
    if policy == "v < 2":  # a sensitive row is the last one, so that a cut before the judgement loses it
        assert loss([part(kind, lambda tiny: cut(PEOPLE, tiny, 2)) for kind in open_rows], claimed) == inf


def test_replaced_rows_do_not_become_replaced_persons_because_that_would_be_false() -> None:
    rows = PEOPLE.steps(lambda unit, holder, removal: True).then()
    assert unreached(PEOPLE.pairs(Everyone("replace", 2)), rows, 10)
    size: Mechanism = [lambda tiny: {len(tiny): Fraction(1)}]
    assert loss(size, PEOPLE.within(rows)) == 1
    assert loss(size, PEOPLE.pairs(Everyone("replace", 2))) == inf
    for relation in (Everyone("replace"), SensitiveRecords("rare", AnomalyModel(["v"], 1, 3, 3), "replace")):
        with pytest.raises(InputError, match="never changes their number"):
            Guarantee(relation, 1).to_rows(2)


def test_a_replace_promise_never_becomes_add_remove_because_the_size_may_be_public() -> None:
    size: Mechanism = [lambda tiny: {len(tiny): Fraction(1)}]
    assert loss(size, ROWS.pairs(Everyone("replace"))) == 1
    assert loss(size, ROWS.pairs(Everyone())) == inf
    with pytest.raises(InputError, match="come or go"):
        Guarantee(Everyone("replace"), 1).to_adjacency("add_remove")


def parity(question: Any, database: Any) -> set[int]:
    return {len(database) % 2}


def present(question: Any, database: Any) -> set[Any]:
    """Valid are the values that are there, the null aside."""
    return {record["v"] for record in database} - {None}


QUESTION = ContextQuestion("v", ["id"], "lof", {"k": 2}, digest({"v": 1}))


def test_equal_valid_contexts_do_not_survive_the_database_in_the_middle() -> None:
    """With contexts that every single step changes, no two replaced databases are joined at all."""
    steps = ROWS.steps(lambda unit, holder, removal: parity(None, holder) == parity(None, holder[1:])).pairs
    claimed = ROWS.pairs(SameValidContexts(QUESTION, "replace"), parity)
    assert claimed == ROWS.pairs(Everyone("replace"))
    assert len(unreached(claimed, steps, 10)) == len(claimed)
    for convert in (lambda promise: promise.to_adjacency("replace"), lambda promise: promise.to_rows(2)):
        for relation in (SameValidContexts(QUESTION), intersect(SameValidContexts(QUESTION), rare(3, 2))):
            with pytest.raises(InputError, match="end databases"):
                convert(Guarantee(relation, 1))


def test_a_draw_among_valid_contexts_keeps_its_promise_where_they_agree_and_only_there() -> None:
    def draw(tiny: Tiny) -> Law:
        valid = set(tiny) - {2}
        weights = {place: Fraction(2) ** tiny.count(place) for place in valid}
        total = sum(weights.values())
        return {place: weight / total for place, weight in weights.items()} or {None: Fraction(1)}

    agreeing = ROWS.pairs(SameValidContexts(QUESTION), present)
    assert 1 < loss([draw], agreeing) <= 2
    assert loss([draw], ROWS.pairs(Everyone())) == inf
    assert ((), (2,)) in agreeing
    assert ((), (0,)) not in agreeing


def test_a_draw_from_two_rows_of_each_person_protects_persons_with_any_number_of_rows() -> None:
    """What is read decides, on both sides, which contexts are valid, and how large they are."""
    records = [{"id": name, "v": value} for name in ("p", None) for value in (1, 7)]
    world = World(records, largest=5, beyond=5)

    def values(tiny: Tiny, rows: int = 2) -> list[Any]:
        return [records[place]["v"] for place in cut(world, tiny, rows)]

    def valid(question: Any, database: Any) -> set[Any]:
        return set(values(tuple(sorted(map(records.index, database)))))

    def draw(rows: int) -> Callable[[Tiny], Law]:
        def law(tiny: Tiny) -> Law:
            sizes = {value: values(tiny, rows).count(value) for value in set(values(tiny))}
            weights = {value: Fraction(2) ** size for value, size in sizes.items()}
            total = sum(weights.values())
            return {value: weight / total for value, weight in weights.items()} or {None: Fraction(1)}

        return law

    claimed = world.pairs(SameValidContexts(QUESTION, rows=2), valid)
    assert ((0, 0, 0, 2, 3), (2, 3)) in claimed
    assert 2 < loss([draw(2)], claimed) <= 2**2
    assert loss([draw(3)], claimed) > 2**2  # if one row more were read
    replaced = world.pairs(SameValidContexts(QUESTION, "replace", 2), valid)
    assert ((0, 0, 0, 2, 3), (1, 1, 1, 2, 3)) in replaced
    assert 2**2 < loss([draw(2)], replaced) <= 2**4


def test_a_noisy_reading_keeps_width_times_columns_in_range_and_loses_more_outside() -> None:
    """Two columns, range 1 to 3 (width 2), ε of 2 units: e^−ε·step/width is a half per step."""
    grid = [{"x": x, "y": y} for x in range(5) for y in range(5)]
    promise = Guarantee(ValuesWithin({"x": Interval(1, 3), "y": Interval(1, 3)}), 2 * 2)
    outer = Guarantee(ValuesWithin({"x": Interval(0, 4), "y": Interval(0, 4)}), 2 * 2 * 2)
    noisy: Mechanism = [
        lambda tiny: geometric(tiny[0], -2, 6, HALF),
        lambda tiny: geometric(tiny[1], -2, 6, HALF),
    ]
    for guarantee in (promise, outer):
        related = [
            ((a["x"], a["y"]), (b["x"], b["y"]))
            for a in grid
            for b in grid
            if guarantee.relation.relates([a], [b])
        ]
        assert loss(noisy, related) == bound(guarantee)
    assert loss(noisy, [((0, 2), (4, 2)), ((0, 0), (4, 4))]) == bound(outer) > bound(promise)


def test_several_readings_of_one_person_cost_their_number() -> None:
    promise = Guarantee(ValuesWithin({"v": Interval(0, 10)}), 1).to_rows(2)
    assert promise == Guarantee(ValuesWithin({"v": Interval(0, 10)}, rows=2), 2)
    rows = PEOPLE.steps(lambda unit, holder, removal: True).then()
    assert unreached(PEOPLE.pairs(promise.relation), rows, 2) == []
    assert unreached(PEOPLE.pairs(promise.relation), rows, 1) != []


def test_persons_convert_from_add_remove_to_replace_in_two_steps() -> None:
    judge = k_sensitive(len(PEOPLE.records), PEOPLE_NEAR, 2, 1)
    cases = [
        (Everyone(rows=2), lambda unit, holder, removal: True),
        (
            SensitiveUnderPolicy("adults", Policy("v >= 2"), rows=2),
            lambda unit, holder, removal: not (removal and set(unit) <= {1, 3}),
        ),
        (
            SensitiveRecords("rare", AnomalyModel(["v"], 1, 2, 1), rows=2),
            # Three rows, one of them changed, leave nobody with more than two: all rows count.
            lambda unit, holder, removal: all(judge(place, holder) for place in unit),
        ),
    ]
    (_, one_sided), (_, sensitive) = cases[1:]
    both = intersect(cases[1][0], cases[2][0])
    cases.append((both, lambda *step: one_sided(*step) and sensitive(*step)))
    for relation, covers in cases:
        replaced = Guarantee(relation, 1).to_adjacency("replace")
        counts_rows = any(isinstance(part, SensitiveRecords) for part in relation.atoms())
        steps = PEOPLE.steps(covers, 2 if counts_rows else ANY_NUMBER).pairs
        assert replaced.epsilon == "2"
        assert PEOPLE.pairs(replaced.relation)
        assert unreached(PEOPLE.pairs(replaced.relation), steps, 2) == []
