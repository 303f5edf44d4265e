# SPDX-License-Identifier: Apache-2.0
"""A cited policy is found and judged once for each question, whatever the question does with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymaly import Curator
from anonymaly.ask import cited
from anonymaly.ask.catalogue import load
from anonymaly.declare.sensitivity import who_is_sensitive


@pytest.mark.parametrize("question", ["share-sample", "share-histogram"])
def test_a_policy_is_judged_once_for_each_asking(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = load(question).example()
    curator = Curator(example.dataset(), budget=10, ledger=tmp_path / "example.ledger")
    judged = []

    def counted(*arguments: Any) -> Any:
        judged.append(arguments)
        return who_is_sensitive(*arguments)

    monkeypatch.setattr(cited, "who_is_sensitive", counted)
    curator.preview(example.query)
    assert len(judged) == 1
    curator.ask(example.query)
    assert len(judged) == 2
