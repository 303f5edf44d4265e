# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject: false alarms 1e-7 a case, below 1e-6 in all."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.audit.cases.count import count_case
from anonymaly.audit.report import audit

ROWS: dict[str, Any] = {"epsilon": "0.5"}
CASES: list[dict[str, Any]] = [
    ROWS,
    {"epsilon": "0.1", "adjacency": "replace"},
    {"epsilon": "0.5", "adjacency": "replace", "max_rows": 3},
    {"epsilon": "0.1", "max_rows": 3},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES, ids=str)
def test_count_passes_every_layer_and_the_audit_sees_most_of_epsilon(options: dict[str, Any]) -> None:
    report = audit(count_case(**options), seed=1, rounds=1, alarm=1e-7)
    assert report.passed, str(report)
    (loss,) = [finding for finding in report.findings if finding.check == "loss"]
    claimed = float(options["epsilon"])
    assert 0.85 * claimed <= loss.numbers["at_least"] <= claimed
    assert {finding.layer for finding in report.findings} == {"replay", "ledger", "fit", "bound"}


@pytest.mark.slow
@pytest.mark.parametrize(("adjacency", "max_rows"), [("add_remove", 1), ("replace", 2)])
def test_count_replays_alike_for_persons_with_too_many_rows(adjacency: Any, max_rows: int) -> None:
    case = count_case(epsilon="0.3", adjacency=adjacency, max_rows=max_rows)
    report = audit(case, seed=max_rows, rounds=1, layers=["replay"])
    assert report.passed, str(report)


def test_an_audit_that_samples_too_little_fails_for_want_of_power_and_rejects_nothing() -> None:
    report = audit(count_case(**ROWS), layers=["bound"], samples=1000)
    assert not report.passed
    assert not report.rejected_by("bound")


def test_a_report_is_plain_data_and_never_says_verified() -> None:
    report = audit(count_case(**ROWS), layers=["fit", "ledger"], fit_samples=1000)
    data = report.to_dict()
    assert [finding["passed"] for finding in data["findings"]] == [True, True, True]
    assert "no violation found" in str(report)
    assert "verified" not in str(report)
