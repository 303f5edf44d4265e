# SPDX-License-Identifier: Apache-2.0
"""The theorems of docs/composition.md, on askers whose transcripts can all be written down."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.promise import Everyone, Guarantee, Relation, SensitiveRecords, SensitiveUnderPolicy, compose
from tests.promise.mechanisms import HALF, Law, bound, identify, noisy_count, sample
from tests.promise.naive import NEAR, ROWS, Tiny

Histories = tuple[Tiny, Tiny]  # a table of the first version, and one of the second
Draw = Callable[[Tiny], Law]

FEW = [tiny for tiny in ROWS.databases if len(tiny) <= 2 and 3 not in tiny]
EVERYONE = Guarantee(Everyone(), 1)
ADULTS = Guarantee(SensitiveUnderPolicy("adults", Policy("v >= 2")), 1)
RARE = Guarantee(SensitiveRecords("rare", AnomalyModel(["v"], 1, 2, 1)), 1)
COUNT, SAMPLE, IDENTIFY = noisy_count([0])[0], sample(4, {0, 2, 3})[0], identify(0, NEAR, 2, 1)[0]


def second_question(first_answer: object) -> tuple[Guarantee, Draw]:
    """The asker looks at the first answer, and then chooses what to ask, and under which promise."""
    return (ADULTS, SAMPLE) if isinstance(first_answer, int) and first_answer > 0 else (RARE, IDENTIFY)


def chance(history: Histories, first: object, second: object) -> Fraction:
    """The probability of a transcript: a count of version 1, then a question about version 2."""
    _, draw = second_question(first)
    return COUNT(history[0]).get(first, Fraction(0)) * draw(history[1]).get(second, Fraction(0))


@cache
def covered(relation: Relation, before: Tiny, after: Tiny) -> bool:
    return before == after or relation.relates(ROWS.real(before), ROWS.real(after), columns=ROWS.columns)


def test_of_relations_chosen_on_the_way_every_transcript_keeps_the_sum_in_every_version() -> None:
    """Every pair of histories of two versions, every transcript: Theorem 1, and that it is attained."""
    worst = Fraction(0)
    for one, two, other_one, other_two in product(FEW, repeat=4):
        if not covered(EVERYONE.relation, one, other_one):
            continue
        for first in COUNT((0,)):
            guarantee, draw = second_question(first)
            if not covered(guarantee.relation, two, other_two):
                continue
            for second in draw(two):
                likely = chance((one, two), first, second)
                unlikely = chance((other_one, other_two), first, second)
                assert likely <= bound(compose(EVERYONE, guarantee)) * unlikely
                worst = max(worst, likely / unlikely if unlikely else worst)
    assert worst == bound(compose(EVERYONE, ADULTS))


def test_who_is_not_protected_in_one_version_has_no_bound() -> None:
    """A record that is sensitive in the first version and published in the second."""
    histories = ((0,), (1,)), ((), ())
    assert covered(ADULTS.relation, (0,), ())
    assert not covered(ADULTS.relation, (1,), ())
    shown = 1  # the sample of the second version holds the record
    assert SAMPLE(histories[0][1])[shown] == HALF
    assert shown not in SAMPLE(histories[1][1])


def test_a_bound_for_most_transcripts_does_not_survive_relations_chosen_on_the_way() -> None:
    """Each count loses one unit or gains one; the asker then leaves the relation, unless all of them lost."""
    questions, before, after = 6, (0,), ()
    losses = {1: Fraction(0), -1: Fraction(0)}
    for answer, likely in COUNT(before).items():
        (loss,) = [units for units in losses if likely == Fraction(2) ** units * COUNT(after)[answer]]
        losses[loss] += likely
    assert losses == {1: Fraction(2, 3), -1: Fraction(1, 3)}
    stays: dict[int, Fraction] = {}  # the loss in transcripts in all of whose relations the pair is
    for steps in product(losses, repeat=questions):
        leaves = any(step == -1 for step in steps)  # by a question whose relation does not hold the pair
        if not leaves:
            probability = prod((losses[step] for step in steps), start=Fraction(1))
            stays[sum(steps)] = stays.get(sum(steps), Fraction(0)) + probability
    # Over all transcripts the largest loss is rare; among those that the promise is about it is certain.
    assert stays == {questions: Fraction(2, 3) ** questions}
    assert stays[questions] < Fraction(1, 10)


def test_a_bound_with_a_delta_holds_of_sets_of_covered_transcripts_and_not_of_what_it_is_among_them() -> None:
    """The asker of before, who leaves by ``identify``; e^ε' is 2^3, less than the 2^6 of the sum."""
    questions, before, after, factor = 6, (0,), (), Fraction(2) ** 3
    assert not covered(RARE.relation, before, after)
    likely = {1: Fraction(2, 3), -1: Fraction(1, 3)}
    delta = excess = probability = everything = Fraction(0)
    for steps in product(likely, repeat=questions):
        here = prod((likely[step] for step in steps), start=Fraction(1))
        there = here / Fraction(2) ** sum(steps)
        delta += max(here - factor * there, Fraction(0))  # if questions outside were answered by a constant
        if all(step == 1 for step in steps):
            excess += max(here - factor * there, Fraction(0))  # the worst set of covered transcripts
            everything += max(here - factor * there, Fraction(0))
            probability += here
        else:
            for answer, chance_here in IDENTIFY(before).items():
                chance_there = IDENTIFY(after).get(answer, Fraction(0))
                everything += max(here * chance_here - factor * there * chance_there, Fraction(0))
    assert 0 < excess <= delta < Fraction(2, 5)
    assert excess / probability > 2 * delta  # among the transcripts that stay covered δ bounds nothing
    assert everything > delta  # nor does it where the pair is not covered
