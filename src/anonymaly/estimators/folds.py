# SPDX-License-Identifier: Apache-2.0
"""Folds that are drawn privately, for searches over parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator, KFold

from anonymaly.noise import Noise

Places = npt.NDArray[np.int64]
Fold = tuple[Places, Places]  # the training rows and the test rows


class PrivateKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """``KFold`` of the rows in a secret order, drawn anew and uniformly for every split.

    Folds by position keep the promise of their fits only if the order of rows does not follow from values:
    in a sorted table, a record that is replaced moves others from fold to fold. In a uniform order it
    does not matter what the order was (Lemma 9 of score's GUARANTEE.md). The order must stay secret, so do
    not publish which rows are in a fold.

    Parameters
    ----------
    n_splits : int
        The number of folds.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(int(place) for _, test in PrivateKFold(3).split(np.zeros(7)) for place in test)
    [0, 1, 2, 3, 4, 5, 6]
    """

    def __init__(self, n_splits: int = 5) -> None:
        self.n_splits: int = KFold(n_splits).n_splits  # which refuses what is no number of folds

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:  # noqa: N803
        """Yield the places of the training and test rows of each fold."""
        by_position = list(KFold(self.n_splits).split(X, y, groups))
        rows = sum(map(len, by_position[0]))
        yield from in_order(by_position, Noise.system().permutation(rows))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """Return the number of folds."""
        return self.n_splits


def in_order(by_position: Iterable[Fold], order: Places) -> Iterator[Fold]:
    """Yield the places of the rows that folds by position hold once the rows are put in an order."""
    for train, test in by_position:
        yield np.sort(order[train]), np.sort(order[test])  # as in the table, which says nothing of the order
