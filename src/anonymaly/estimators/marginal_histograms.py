# SPDX-License-Identifier: Apache-2.0
"""Noisy histograms of columns and pairs of columns, as a scikit-learn outlier detector."""

from __future__ import annotations

from typing import Any

from anonymaly.ask.curator import Curator
from anonymaly.core.epsilon import Number
from anonymaly.estimators.bounds import Bounds
from anonymaly.estimators.detector import PrivateDetector


class MarginalHistograms(PrivateDetector):
    """Differentially private outliers by noisy histograms of columns, and of pairs where useful.

    Parameters
    ----------
    epsilon : number
        What one fit costs.
    bounds : pair, list of pairs, or dict
        Public bounds of the columns: one pair for all, by position, or by name. None in place of a pair
        finds that column's bounds privately.
    bins : int, optional
        Cells of a column's histogram; by default a rule over columns, ε and records.
    pair_bins : int, optional
        Cells per side of a pair's histogram, 0 for no pairs; by default the same rule.
    contamination : float or None
        The part of the reference records that is abnormal; its threshold takes a tenth of ε.
    rows : int, optional
        The number of records, if that is public: the model shows it, and no noise hides it. Otherwise a
        fiftieth of ε counts them.
    curator : Curator, optional
        Charge its account for every fit, with its declared bounds. The account must have been opened with
        ``adjacency="replace"``: otherwise folds shift when one record goes, and the promise would be false.
        Split with `PrivateKFold`, unless the order of rows does not follow from their values.
        A pickled copy is without it: it scores, and needs ``set_params(curator=…)`` to be fitted again.
    random_state : int, optional
        Repeatable noise, for public data only: nothing is promised then, and a NoPromiseWarning says so.
    public : bool
        Whether the records hold no secrets, so that no such warning is needed.

    Notes
    -----
    The promise is about the records as given to ``fit``. It does not cover what was fitted to them before
    (a scaler with ``fit``) or drawn from them (resampling, bootstrapping), where one record changes many.
    Predictions on the fitted records are functions of those records, like all predictions.

    Attributes
    ----------
    model_ : Model
        The released model; ``save`` writes it to a file.
    guarantee_ : FitGuarantee
        The promise of the fit.
    offset_ : float
        Minus the private threshold; missing without ``contamination``.

    Examples
    --------
    >>> import numpy as np
    >>> import anonymaly as am
    >>> patients = np.column_stack([np.arange(400) % 40 + 30, np.arange(400) % 9 + 20])
    >>> bounds = [(0, 120), (10, 70)]
    >>> detector = am.MarginalHistograms(bounds=bounds, epsilon=4.0, random_state=0, public=True)
    >>> detector.fit(patients).predict([[45, 24], [119, 69]]).tolist()
    [1, -1]
    """

    _method = "marginals"
    _options = ("bins", "pair_bins")

    def __init__(
        self,
        *,
        epsilon: Number,
        bounds: Bounds | None = None,
        bins: int | None = None,
        pair_bins: int | None = None,
        contamination: float | None = 0.1,
        rows: int | None = None,
        curator: Curator | None = None,
        random_state: Any = None,
        public: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.bins = bins
        self.pair_bins = pair_bins
        self.contamination = contamination
        self.rows = rows
        self.curator = curator
        self.random_state = random_state
        self.public = public
