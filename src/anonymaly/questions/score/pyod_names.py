# SPDX-License-Identifier: Apache-2.0
"""A released model under the names that PyOD's detectors have; PyOD itself is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.questions.score.missing import Missing
    from anonymaly.questions.score.value import Model

OF_PUBLIC_ROWS = ("decision_scores_", "labels_")


class PyodNames:
    """A model with PyOD's conventions: higher scores are worse, and 1 is an outlier.

    ``decision_scores_`` and ``labels_`` are, in PyOD, of the rows that a detector was fitted to. Those are
    private here, and their scores are not released. They are there only where rows were given as public.

    Parameters
    ----------
    model : Model
        What was released.
    public_rows : frame, optional
        Rows that are public, whose scores ``decision_scores_`` are to be.
    missing : {"skip", "refuse", "value"}
        What to do about missing values.
    """

    def __init__(self, model: Model, public_rows: Any = None, *, missing: Missing = "skip") -> None:
        self._model, self._missing = model, missing
        if model.threshold is not None:
            self.threshold_ = model.threshold  # the score above which a record is an outlier
        if public_rows is not None:
            self.decision_scores_: Floats = self.decision_function(public_rows)
            if model.threshold is not None:
                self.labels_ = (self.decision_scores_ > model.threshold).astype(np.int64)

    @property
    def contamination(self) -> float | None:
        """The part of the records that the threshold was found for."""
        return self._model.contamination

    def decision_function(self, X: Any) -> Floats:  # noqa: N803 - PyOD's name
        """Return the scores of records; higher is more unusual."""
        return self._model.score(X, missing=self._missing)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:  # noqa: N803
        """Return 1 for records above the threshold and 0 for all others."""
        threshold: float = self.threshold_
        return (self.decision_function(X) > threshold).astype(np.int64)

    def __getattr__(self, name: str) -> Any:
        if name in OF_PUBLIC_ROWS:
            raise _none(name, "The reference records are private; give rows that are public as public_rows=.")
        if name == "threshold_":
            raise _none(name, "Ask with contamination=…, or call model.with_quantile(0.05).")
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"PyodNames({self._model!r})"


class NotReleased(InputError, AttributeError):
    """An attribute that PyOD's detectors have and this model does not release; ``hasattr`` says no."""


def _none(name: str, step: str) -> NotReleased:
    return NotReleased("is not released", field=name, next_step=step)
