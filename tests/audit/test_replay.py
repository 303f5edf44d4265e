# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from anonymaly.ask.binding import Binding, Stage
from anonymaly.audit.case import Case, Sensitivity, absolute_difference
from anonymaly.audit.cases.count import count_case
from anonymaly.audit.cases.policies import ADULT, CHILD
from anonymaly.audit.cases.share_histogram import histogram_case
from anonymaly.audit.fit import fit_integers
from anonymaly.audit.ledger_trace import compare_ledgers, ledger_trace
from anonymaly.audit.neighbours import Pair
from anonymaly.audit.recording import RecordingNoise, recorded_lines
from anonymaly.audit.replay import equal, replay, run
from anonymaly.audit.report import audit
from anonymaly.audit.sampling import PooledNoise, sample, sample_stage
from anonymaly.declare.declaration import Declaration
from anonymaly.noise import ExactProbability, Noise
from anonymaly.questions.count.binding import CountBinding
from anonymaly.questions.count.query import Count

CASE = count_case(epsilon="0.5")
WORST = Pair("the worst pair", *CASE.worst_pair)


class TwoStepCount(Count):
    """A rough count first; the second step counts again and says how far from the rough one it is."""

    def bind(self, declaration: Declaration) -> Binding:
        return TwoStepBinding(**vars(super().bind(declaration)))

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)
        half = Fraction(self.cost, 2 * 10**9)

        def release(count: int, released: Mapping[str, Any], noise: Noise) -> int:
            return count - int(released["count"]) + noise.two_sided_geometric(half)

        rough = dataclasses.replace(
            stage, release=lambda count, released, noise: count + noise.two_sided_geometric(half)
        )
        return rough, dataclasses.replace(stage, name="rest", release=release)


class TwoStepBinding(CountBinding):
    @property
    def shares(self) -> Mapping[str, int]:
        return {"count": self.query.cost // 2, "rest": self.query.cost // 2}


class RandomisedBit(Count):
    """Is anybody there? The truth with probability e^ε/(1 + e^ε)."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        (stage,) = super().stages(bound)

        def release(count: int, released: Mapping[str, Any], noise: Noise) -> bool:
            # A lie with probability e^-ε/(1 + e^-ε): geometric noise is odd just so.
            return (count > 0) ^ (noise.one_sided_geometric(Fraction(self.epsilon)) % 2 == 1)

        return (dataclasses.replace(stage, release=release),)


def bit_case(claimed: float) -> Case:
    def outcomes(records: Any) -> dict[bool, float]:
        truth = any((row["age"] or 0) >= 60 and row["ward"] == "A" for row in records)
        right = math.exp(claimed) / (1 + math.exp(claimed))
        return {truth: right, not truth: 1 - right}

    return dataclasses.replace(
        count_case(epsilon="0.5", kind=RandomisedBit), law=None, outcomes=outcomes, records=()
    )


def test_a_run_records_calls_statements_summaries_and_releases() -> None:
    result = run(CASE, CASE.dataset(CASE.records), seed=0)
    assert [str(call) for call in result.calls] == ["two_sided_geometric(rate=1/2, size=None) in stage count"]
    assert result.statements[0] == "to_pyarrow"
    assert "COUNT(*)" in result.statements[1]
    assert result.summaries == {"count": 3}
    assert result.released == {"count": result.value}
    assert result.failure is None


def test_recording_changes_no_draw() -> None:
    plain, recording = Noise.seeded(5), RecordingNoise.seeded(5)
    for noise in (plain, recording):
        assert noise.reproducible
    assert plain.uniform(10**6) == recording.uniform(10**6)
    assert plain.choose([1, 2, 3], Fraction(1)) == recording.choose([1, 2, 3], Fraction(1))
    assert [call.method for call in recording.calls] == ["uniform", "choose"]


def test_calls_inside_a_call_are_not_recorded_and_data_are_recorded_by_shape() -> None:
    noise = RecordingNoise.seeded(5)
    noise.add_two_sided_geometric([[1, 2], [3, 4]], Fraction(1, 3))
    (call,) = noise.calls
    assert dict(call.parameters) == {"counts": "shape (2, 2)", "rate": "1/3"}


def test_later_stages_see_the_frozen_releases_of_the_first_run() -> None:
    case = dataclasses.replace(
        count_case(epsilon="0.5", kind=TwoStepCount),
        sensitivity={
            "count": Sensitivity(1),
            "rest": Sensitivity(len),
        },
    )
    found = replay(case, WORST)
    assert found.problems == ()
    # Same coins, same frozen rough count: the rest differs by the one record alone.
    assert found.first.released["rest"] - found.second.released["rest"] == 1
    assert [call.stage for call in found.first.calls] == ["count", "rest"]


@pytest.mark.parametrize("epsilon", ["1", "3", "9"])
def test_a_partition_is_gone_on_from_though_the_other_table_would_have_another(epsilon: str) -> None:
    case = histogram_case(epsilon=epsilon, method="dawa")
    pair = Pair("a cell of many", ((ADULT,) * 9 + (CHILD,) * 9), ((ADULT,) * 10 + (CHILD,) * 9))
    runs = [replay(case, pair, seed=seed) for seed in range(8)]
    assert [found.problems for found in runs] == [()] * 8
    assert all(found.first.chosen.keys() == {"histogram"} for found in runs)
    assert all(equal(found.first.chosen, found.second.chosen) for found in runs)


def test_a_broken_sensitivity_is_named_with_both_numbers() -> None:
    strict = dataclasses.replace(CASE, sensitivity={"count": Sensitivity(Fraction(1, 2))})
    (problem,) = replay(strict, WORST).problems
    assert problem == "stage count: the summary changed by 1, and 1/2 is declared"


def test_distances_of_summaries_are_exact_and_never_forgiving() -> None:
    assert absolute_difference(2**63 - 1, -(2**63)) == 2**64 - 1
    assert absolute_difference(np.array([2**62, 1]), np.array([-(2**62), 1])) == 2**63
    assert absolute_difference([1, 2], [1, 2, 3]) == math.inf
    assert absolute_difference(math.nan, 1.0) == math.inf
    assert Sensitivity(math.inf, lambda first, second: math.nan).violation(1, 2, {}) is not None


def test_equality_looks_into_arrays_mappings_and_tables() -> None:
    assert equal({"a": np.array([1.0, math.nan])}, {"a": np.array([1.0, math.nan])})
    assert not equal({"a": np.array([1, 2])}, {"a": np.array([1, 3])})
    assert not equal(np.array([1]), np.array([1.0]))
    assert equal(pa.table({"a": [1]}), pa.table({"a": [1]}))
    assert not equal([1, 2], [1, 2, 3])
    assert equal(math.nan, math.nan)
    assert not equal(1, True)


def test_log_lines_are_collected_and_logging_is_left_as_it_was() -> None:
    logger = logging.getLogger("anonymaly.tested")
    before = logging.getLogger("anonymaly").level, list(logging.getLogger("anonymaly").handlers)
    with recorded_lines() as lines:
        logger.debug("a %s", "line")
    logger.warning("not collected")
    assert lines == ["DEBUG anonymaly.tested: a line"]
    assert before == (logging.getLogger("anonymaly").level, list(logging.getLogger("anonymaly").handlers))


def test_a_ledger_trace_shows_the_charge_and_masks_chance() -> None:
    first, second = ledger_trace(CASE, CASE.records), ledger_trace(CASE, ())
    assert first == second
    assert first[-2:] == ("asked: charged 0.5", "asked: charged 0")
    assert any('"kind":"reserve"' in line and '"cost":500000000' in line for line in first)
    assert compare_ledgers(CASE, WORST) == ()


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        ("two_sided_geometric", Fraction(1, 3)),
        ("one_sided_geometric", Fraction(1, 3)),
        ("bernoulli_exp", Fraction(1, 3)),
        ("bernoulli", Fraction(1, 3)),
        ("bernoulli", ExactProbability.exponential(Fraction(1, 3))),
        ("uniform", 7),
        ("uniform", 10**30),
    ],
)
def test_pooled_draws_are_those_of_an_array(method: str, parameter: Any) -> None:
    pooled = PooledNoise.seeded(9)
    drawn = [getattr(pooled, method)(parameter) for _ in range(100)]
    assert drawn == getattr(Noise.seeded(9), method)(parameter, 65_536)[:100].tolist()
    assert type(drawn[0]) is type(getattr(Noise.seeded(9), method)(parameter))
    assert getattr(pooled, method)(parameter, 3).shape == (3,)


def test_pools_of_different_laws_do_not_mix() -> None:
    pooled = PooledNoise.seeded(9)
    rates = [Fraction(1, 1000), Fraction(1000)]
    drawn = [[pooled.two_sided_geometric(rate) for rate in rates] for _ in range(50)]
    assert [small for _, small in drawn] == [0] * 50
    assert any(abs(large) > 100 for large, _ in drawn)


def test_single_draws_through_all_stages_have_the_law_that_pooled_ones_have() -> None:
    (stage,) = CASE.stages(CASE.bind())
    summary = stage.summarise(CASE.dataset(CASE.records).table, {})
    noise = Noise.seeded(11)
    assert CASE.law is not None
    single = [stage.release(summary, {}, noise) for _ in range(20_000)]
    assert fit_integers(single, CASE.law(CASE.records[:-1])).fits
    assert fit_integers(sample(CASE, CASE.records, 20_000, seed=11), CASE.law(CASE.records[:-1])).fits


def test_a_later_stage_is_sampled_alone_given_what_was_released() -> None:
    case = count_case(epsilon="50", kind=TwoStepCount)
    assert sample_stage(case, CASE.records, "rest", {"count": 10}, 4, seed=1).tolist() == [-7] * 4
    assert sample(case, CASE.records, 3, seed=1).tolist() == [0, 0, 0]


def test_where_the_law_is_finite_the_exact_loss_is_computed_on_every_pair() -> None:
    report = audit(bit_case(0.5), layers=["fit", "bound"], samples=100_000, alarm=1e-7, power=None, rounds=0)
    assert report.passed, str(report)
    (exact,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert exact.numbers["exact"] == pytest.approx(0.5)


def test_a_finite_law_that_loses_more_than_claimed_is_rejected() -> None:
    report = audit(bit_case(0.55), layers=["fit", "bound"], samples=20_000, power=None, rounds=0)
    assert report.rejected_by("bound")
    assert report.rejected_by("fit")
