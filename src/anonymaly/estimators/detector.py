# SPDX-License-Identifier: Apache-2.0
"""The base of private outlier detectors, which fit by asking a Score and score with its model."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from anonymaly.ask.binding import StageFailure
from anonymaly.ask.curator import Curator
from anonymaly.ask.reader import root_cause
from anonymaly.ask.simulation import simulate
from anonymaly.core.arrays import Floats
from anonymaly.core.epsilon import Number, to_nano
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError, NoPromiseWarning, Refused
from anonymaly.estimators.bounds import Bounds, read_bounds
from anonymaly.noise import Noise
from anonymaly.pictures.page import fragment, paragraph
from anonymaly.promise import Guarantee
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.value import HELD, NO_PROMISE, HeldModel, Model, public_rows

AS_GIVEN = (
    "This is about the records as they were given to fit. Whatever was fitted to them, drawn from them or "
    "split by their values before is not covered, nor is a split by position if the order of rows follows "
    "their values (am.PrivateKFold shuffles them first); predictions on them are computed from them."
)
REPEATS = (
    "random_state makes the noise repeat, so nothing is promised: whoever knows the seed can take the noise "
    "away. Say public=True if the records hold no secrets, or leave random_state out."
)


@dataclass(frozen=True)
class FitGuarantee:
    """The promise of one fit about the records it was given."""

    guarantee: Guarantee | None  # None: the noise repeats, and nothing is promised
    charged: bool  # whether an account was charged
    held: bool = False  # whether the fitted object keeps exact counts inside
    rows: int | None = None  # the number of records, if it was given and so made public

    def _repr_html_(self) -> str:
        return fragment(*(paragraph(line) for line in str(self).splitlines()))

    def __str__(self) -> str:
        if self.guarantee is None:
            return NO_PROMISE
        promised = f"{self.guarantee.describe()}\n{AS_GIVEN}" + (f"\n{HELD}" if self.held else "")
        if self.rows is not None:
            promised += f"\n{public_rows(self.rows)}"
        if self.charged:
            return f"{promised}\nCharged to the curator's account, like every fit."
        each = self.guarantee.epsilon
        return f"{promised}\nThis fit alone; no account keeps count, and k fits to all of them cost k·{each}."


class PrivateDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fits by a differentially private question, and scores with what was released.

    Subclasses have the parameters below and those of their method.
    """

    # Which method of Score this is, and which of this estimator's parameters are its options.
    _method: str
    _options: tuple[str, ...]

    epsilon: Number
    bounds: Bounds | None
    contamination: float | None
    rows: int | None
    curator: Curator | None
    random_state: Any
    public: bool

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Release a model of these records, at the cost of epsilon.

        The promise is about the records as given here. A transformer fitted before, resampling and
        bootstrapping let one record change many of them, and are not covered; predictions on the same
        records are functions of those records.

        Parameters
        ----------
        X : array or frame
            The reference records.
        y : ignored
            Present for pipelines.
        """
        records = self._records(X)
        to_nano(self.epsilon)
        places = [f"x{axis}" for axis in range(self.n_features_in_)]
        names = [str(name) for name in getattr(self, "feature_names_in_", places)]
        table = pa.table({name: records[:, axis] for axis, name in enumerate(names)})
        if self.curator is None:
            self.model_, self.guarantee_ = self._alone(table, names)
        else:
            self.model_, self.guarantee_ = self._charged(self.curator, table, names)
        if self.model_.threshold is not None:
            self.offset_ = -self.model_.threshold
        elif hasattr(self, "offset_"):
            del self.offset_  # of the fit before
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model: a fit that failed has left the names of its columns behind."""
        return hasattr(self, "model_")

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """Return minus the model's score: lower is more abnormal."""
        check_is_fitted(self)
        records = self._records(X, reset=False)
        return -self.model_.score(records)

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return ``score_samples`` above the private threshold: negative is an outlier."""
        check_is_fitted(self)
        if self.model_.threshold is None:
            raise InputError(
                "was None, so no threshold was found",
                field="contamination",
                next_step="Give the part of the reference records that is abnormal, or use score_samples.",
            )
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:  # noqa: N803
        """Return -1 for outliers and 1 for all others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def query(self, columns: list[str]) -> Score:
        """Return the question that ``fit`` asks about these columns."""
        given = {name: getattr(self, name) for name in (*self._options, "rows", "contamination", "epsilon")}
        # Searches over numpy.arange hand out NumPy's own numbers.
        plain = {name: item.item() for name, item in given.items() if isinstance(item, np.generic)}
        return Score(columns=columns, method=self._method, **{**given, **plain})

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a pickled copy: all of it except the curator, whose ledger stays here."""
        state: dict[str, Any] = super().__getstate__()
        if state.get("curator") is not None:
            state = {**state, "curator": None, "_curator_left": True}
        return state

    def _records(self, given: Any, *, reset: bool = True) -> Floats:
        try:
            records: Floats = validate_data(self, given, dtype=np.float64, reset=reset)
        except ValueError as problem:
            if "contains NaN" not in str(problem):
                raise
        else:
            return records
        # scikit-learn's checks want its own kind of error; it would advise an imputer, which has no promise.
        raise ValueError(
            "Input X contains NaN, and a detector has no place for missing values. Leave such rows out, or "
            "fill them with a public value, as fillna(0) does; an imputer that is fitted to the records is "
            "not covered by the promise."
        )

    def _alone(self, table: pa.Table, names: list[str]) -> tuple[Model, FitGuarantee]:
        """Ask without an account: the promise is about this fit alone."""
        # Frames allow column names that a declaration does not, so columns are named by position.
        places = [f"x{axis}" for axis in range(len(names))]
        if self.bounds is None and hasattr(self, "_curator_left"):
            raise InputError(
                "was left behind when this estimator was pickled, with its ledger",
                field="curator",
                next_step="Call set_params(curator=…) before another fit; search with n_jobs=1.",
            )
        domains = read_bounds(self.bounds, names)
        columns: dict[str, Domain] = dict(zip(places, domains.values(), strict=True))
        seeded = self.random_state is not None
        dataset = Dataset(table.rename_columns(places), name="fit", columns=columns, public=seeded)
        query = self.query(places)
        if seeded:
            if not self.public:
                warnings.warn(REPEATS, NoPromiseWarning, stacklevel=3)  # of the line that called fit
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            model = simulate(query, dataset, seed=seed).value
            return model.with_columns(names), FitGuarantee(None, charged=False)
        bound = query.bind(dataset.declaration)
        try:
            model = bound.answer(dataset.table, Noise.system())
        except StageFailure as failure:
            raise root_cause(failure) from None  # the caller's own records: the real error helps
        held = isinstance(model, HeldModel)
        promised = FitGuarantee(bound.guarantee, charged=False, held=held, rows=query.rows)
        return model.with_columns(names), promised

    def _charged(self, curator: Curator, table: pa.Table, names: list[str]) -> tuple[Model, FitGuarantee]:
        """Ask the account's curator about these rows; bounds are those that the owner declared."""
        for given, field in ((self.bounds, "bounds"), (self.random_state, "random_state")):
            if given is not None:
                raise InputError(
                    "is given beside a curator",
                    field=field,
                    next_step="Leave it out: the account declares the bounds, and its noise has no seed.",
                )
        if not hasattr(self, "feature_names_in_"):
            raise InputError(
                "must be a frame where a curator is given: its account knows columns by name",
                field="X",
                next_step=f"Give a frame with some of {', '.join(curator.declaration.columns)}.",
            )
        # The declaration is the account's; columns that the fit does not ask about need no values.
        for name in curator.declaration.columns:
            if name not in names:
                table = table.append_column(name, pa.nulls(len(table)))
        try:
            rows = curator.about(table)
        except Refused as refused:
            # It talks of parts of a table, as a search's folds are, and whoever fits has not asked for any.
            raise refused if refused.field != "adjacency" else _needs_replace() from None
        with contextlib.closing(rows) as account:
            query = self.query(names)
            answer = account.ask(query)
        return answer.value, FitGuarantee(answer.guarantee, charged=True, rows=query.rows)


def _needs_replace() -> Refused:
    return Refused(
        "the curator's account promises about records that come or go (add_remove), and a detector can be "
        "fitted only in one that promises about records that are replaced (replace): the folds of a search "
        "would shift where one record goes",
        field="adjacency",
        next_step="Open the account with am.Curator(…, adjacency='replace'). One that was charged before "
        "keeps its adjacency; in another ledger it is another account, and the two promises add up.",
    )
