# SPDX-License-Identifier: Apache-2.0
"""Folds and the order of rows: one replaced record changes one row of each training part, or many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold

import anonymaly as am
from anonymaly.estimators.folds import in_order

Part = tuple[int, ...]  # a multiset of rows


def training_parts(rows: Sequence[int], folds: Iterable[Any]) -> tuple[Part, ...]:
    return tuple(tuple(sorted(rows[place] for place in train)) for train, _ in folds)


def replaced(one: Part, other: Part) -> int:
    return (Counter(one) - Counter(other)).total()


def test_in_a_sorted_table_a_replaced_record_moves_others_from_fold_to_fold() -> None:
    """Of 1 to 10 the first becomes 11, and the table stays sorted: eight rows change, and five may."""
    before, after = list(range(1, 11)), list(range(2, 12))
    parts = [training_parts(rows, KFold(5).split(rows)) for rows in (before, after)]
    assert [replaced(*pair) for pair in zip(*parts, strict=True)] == [1, 2, 2, 2, 1]


def law(rows: Sequence[int], folds: int) -> Counter[tuple[Part, ...]]:
    """How many orders of the rows lead to each outcome: the exact law of the training parts."""
    by_position = list(KFold(folds).split(rows))
    orders = permutations(range(len(rows)))
    return Counter(training_parts(rows, in_order(by_position, np.array(order))) for order in orders)


@pytest.mark.parametrize(("size", "folds"), [(4, 2), (5, 2), (5, 3), (6, 3)])
def test_in_a_secret_order_it_changes_one_row_of_each_part_whatever_the_tables_order(
    size: int, folds: int
) -> None:
    """A coupling: the law after is the law before with 1 renamed, so outcomes pair off, a row apart."""
    before, after = list(range(1, size + 1)), list(range(2, size + 2))
    new = size + 1
    expected: Counter[tuple[Part, ...]] = Counter()
    for parts, orders in law(before, folds).items():
        renamed = tuple(tuple(sorted(new if row == 1 else row for row in part)) for part in parts)
        assert all(replaced(*pair) <= 1 for pair in zip(parts, renamed, strict=True))
        expected[renamed] += orders
    assert law(after, folds) == expected
    assert law(after[::-1], folds) == expected  # the order of the table has no part in it


def test_repeated_records_make_no_difference_to_the_law() -> None:
    before, after = [1, 1, 2, 3], [1, 2, 3, 3]  # one of the two records 1 becomes a 3, sorted
    outcomes = law(before, 2), law(after, 2)
    assert outcomes[0].total() == outcomes[1].total()
    # Named apart, the record that is replaced can be followed: 0 is the one that becomes another 3.
    followed = law([0, 1, 2, 3], 2)
    for value, found in ((1, outcomes[0]), (3, outcomes[1])):
        named: Counter[tuple[Part, ...]] = Counter()
        for parts, orders in followed.items():
            named[tuple(tuple(sorted(value if row == 0 else row for row in part)) for part in parts)] += (
                orders
            )
        assert named == found


def test_every_split_draws_every_order_anew() -> None:
    splitter = am.PrivateKFold(3)
    seen = {tuple(int(test[0]) for _, test in splitter.split(np.zeros(3))) for _ in range(300)}
    assert seen == set(permutations(range(3)))  # by chance one of the six is missing once in 10^22 times


def test_a_private_split_is_one_of_scikit_learns() -> None:
    frame = pd.DataFrame({"age": range(10)})
    splitter = am.PrivateKFold(n_splits=4)
    assert splitter.get_n_splits(frame) == 4
    assert repr(splitter) == "PrivateKFold(n_splits=4)"
    folds = list(splitter.split(frame, np.zeros(10)))
    assert sorted(place for _, test in folds for place in test) == list(range(10))
    assert sorted(len(test) for _, test in folds) == [2, 2, 3, 3]
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(10))
    with pytest.raises(ValueError, match="n_splits=4"):
        list(splitter.split(frame.iloc[:3]))
    with pytest.raises(ValueError, match="at least one train/test split"):
        am.PrivateKFold(1)


def test_a_search_over_private_folds_is_charged_what_was_told(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": np.arange(60.0)})
    table = am.Dataset(frame, name="patients", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(table, budget=2, adjacency="replace", ledger=tmp_path / "patients.ledger")
    detector = am.MarginalHistograms(epsilon=0.1, contamination=None, curator=curator)
    search = GridSearchCV(detector, {"bins": [8]}, cv=am.PrivateKFold(3), scoring=lambda *_: 0.0)
    told = am.search_cost(search)
    search.fit(frame)
    assert (told.fits, curator.spent) == (4, pytest.approx(float(told.epsilon)))
