# SPDX-License-Identifier: Apache-2.0
"""Previews and answers say how well somebody is protected before they say who is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import anonymaly as am


@pytest.mark.parametrize(("epsilon", "factor"), [("0.1", "1.11"), ("1", "2.72"), ("50", "10^22")])
def test_who_is_protected_is_not_said_without_the_factor(
    open_curator: Callable[..., am.Curator], epsilon: str, factor: str
) -> None:
    curator = open_curator(budget=100)
    query = am.Count(epsilon=epsilon)
    said = f"protected       up to a factor of {factor} in the probability of any answer: every record"
    assert said in str(curator.preview(query))
    answer = curator.ask(query)
    assert said in str(answer)
    assert f"up to a factor of {factor} in the probability of any answer" in answer._repr_html_()
    assert said in str(curator.ask(query)), "an answer that is returned again says it, too"
