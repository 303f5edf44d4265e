# SPDX-License-Identifier: Apache-2.0
"""The released model: it scores new records offline and states its promise."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats
from anonymaly.core.files import appearing
from anonymaly.errors import InputError, Refused
from anonymaly.promise import Guarantee
from anonymaly.questions.score.methods import METHODS
from anonymaly.questions.score.methods.method import Body, Scorer, ScoringMethod
from anonymaly.questions.score.methods.mixed import MixedMethod
from anonymaly.questions.score.missing import Missing, refuse_missing
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.model_file import read_model, write_model
from anonymaly.questions.score.pyod_names import PyodNames
from anonymaly.questions.score.reasons import NAMED, Reasons
from anonymaly.questions.score.space import Space

if TYPE_CHECKING:
    from anonymaly.ask.synthetic import SyntheticRows

Quantiles = Literal["table", "model"]
DRAWS = 20_000  # points whose scores the model's own quantile is of
NO_PROMISE = "Nothing is promised: made from public data, with noise that repeats."
HELD = (
    "The promise is for whoever sees scores only: the fitted object itself holds exact counts and the key of "
    "their noise."
)


def public_rows(rows: int) -> str:
    """Say of a number of records that was given with the question that nothing hides it."""
    return f"The number of records, {rows:,}, was given as public and is not hidden."


class Model:
    """What ``Score`` releases. It holds no record, and using it costs nothing more.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> people = pandas.DataFrame({"age": [30, 31, 32, 33] * 50, "bmi": [21, 22, 23, 24] * 50})
    >>> table = am.Dataset(people, name="people", public=True,
    ...                    columns={"age": am.Interval(0, 120), "bmi": am.Interval(10, 70)})
    >>> model = am.simulate(am.Score(columns=["age", "bmi"], method="grid", epsilon=1), table, seed=0).value
    >>> usual, odd = model.score(pandas.DataFrame({"age": [31, 100], "bmi": [22, 60]}))
    >>> bool(usual < odd)
    True
    >>> model.save(folder / "people.model")
    >>> bool((am.Model.load(folder / "people.model").score([[31, 22]]) == usual).all())
    True
    """

    def __init__(
        self,
        method: ScoringMethod,
        space: Space,
        body: Body,
        guarantee: Guarantee | None,
        *,
        contamination: float | None = None,
        threshold: float | None = None,
        rows: int | None = None,
        quantile: Quantiles = "table",
    ) -> None:
        self.method = method
        self.space = space
        self._body = body
        self.guarantee = guarantee
        self.contamination = contamination
        self.threshold = threshold
        self.quantile = quantile  # whose scores the threshold is a quantile of
        self.rows = rows  # the number of reference records, if it came with the question

    @property
    def body(self) -> Body:
        """What was released: named arrays of numbers."""
        return self._body

    @property
    def score_range(self) -> tuple[float, float]:
        """Bounds of all scores."""
        return self.method.score_range(self._body)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a record to be scored must have."""
        return self.space.columns

    @property
    def promise(self) -> str:
        """The promise about the reference records, in plain words."""
        if self.guarantee is None:
            return NO_PROMISE
        return "\n".join(
            [self.guarantee.describe(), *([] if self.rows is None else [public_rows(self.rows)])]
        )

    def score(self, records: Any, *, missing: Missing = "skip") -> Floats:
        """Return how unusual each record of a frame or array is; higher is more unusual.

        Parameters
        ----------
        records
            A frame, rows, or an array of the model's columns.
        missing : {"skip", "refuse", "value"}
            What to do about values that a record does not have: score it by what it has, refuse it, or take
            "missing" for the value that it is in the reference records. Models of numbers alone (grid,
            marginals) always refuse.
        """
        points = self.space.points(records)
        refuse_missing(points, self.columns, missing)
        if missing == "value" and isinstance(self.method, MixedMethod):
            return self.method.parts(self._body).score(points, skip=False)
        return self.score_points(points)

    def is_unusual(self, records: Any, *, missing: Missing = "skip") -> npt.NDArray[np.bool_]:
        """Say which records score above the threshold."""
        if self.threshold is None:
            raise InputError(
                "the model has no threshold",
                field="contamination",
                next_step="Ask for one with Score(contamination=…), or compare scores yourself.",
            )
        return self.score(records, missing=missing) > self.threshold

    def reasons(self, records: Any, *, missing: Missing = "skip", named: int = NAMED) -> Reasons:
        """Say why records score as they do: the part of each column and pair, from what was released.

        Parameters
        ----------
        records
            As for ``score``.
        missing : {"skip", "refuse", "value"}
            As for ``score``.
        named : int
            How many of each record's parts are named, the largest first.
        """
        parts = self.method.parts(self._body)
        points = self.space.points(records)
        refuse_missing(points, self.columns, missing)
        numbers = parts.of(points, skip=missing != "value")
        return Reasons(self.space, parts, points, numbers, threshold=self.threshold, named=named)

    def as_pyod(self, public_rows: Any = None, *, missing: Missing = "skip") -> PyodNames:
        """Return the model under PyOD's names: ``decision_function``, ``predict``, ``threshold_``.

        Parameters
        ----------
        public_rows : frame, optional
            Rows that are public: ``decision_scores_`` and ``labels_`` are then theirs. Without, there are
            none, because the scores of the reference records are not released.
        missing : {"skip", "refuse", "value"}
            As for ``score``.
        """
        return PyodNames(self, public_rows, missing=missing)

    def score_points(self, points: Floats) -> Floats:
        """Return the scores of points of the unit cube."""
        return self._scorer(np.ascontiguousarray(points, np.float64))

    def with_threshold(self, contamination: float, threshold: float) -> Model:
        """Return the model with a threshold that was found privately."""
        return self._changed(self.space, contamination, threshold, "table")

    def with_quantile(self, contamination: float) -> Model:
        """Return the model with the threshold above which a part of points drawn from the model itself score.

        It costs nothing, and is the model's quantile, not the table's: where columns go together more than
        the model knows, more of the reference records score above it.

        Parameters
        ----------
        contamination : float
            The part, above 0 and at most 0.5.
        """
        if not 0 < contamination <= 0.5:
            raise InputError(
                f"must be above 0 and at most 0.5, got {contamination}",
                field="contamination",
                next_step="Give the part of the records that is unusual, such as 0.05.",
            )
        scores = self.score_points(self.method.draw(self._body, DRAWS))
        threshold = float(np.quantile(scores, 1 - contamination, method="higher"))
        return self._changed(self.space, float(contamination), threshold, "model")

    def draw(self, rows: int, *, seed: int | None = None) -> SyntheticRows:
        """Return rows drawn from the model: synthetic ones, for software tests and teaching.

        They are computed from what was released, so they are free, and say no more than it does. Columns go
        together only as far as the model knows: of ``marginals`` not at all, of ``mixed`` by the pairs that
        were measured. Numbers are drawn evenly within a cell.

        Parameters
        ----------
        rows : int
            How many.
        seed : int, optional
            Makes the rows repeat; without it each call draws others.
        """
        from anonymaly.questions.score.synthetic import draw  # noqa: PLC0415  (imports pyarrow)

        return draw(self.space, lambda count, seed: self.method.draw(self._body, count, seed), rows, seed)

    def with_columns(self, names: Sequence[str]) -> Model:
        """Return the model with other names of its columns, in their order."""
        space = replace(self.space, columns=tuple(names))
        return self._changed(space, self.contamination, self.threshold, self.quantile)

    def _changed(
        self, space: Space, contamination: float | None, threshold: float | None, quantile: Quantiles
    ) -> Model:
        return type(self)(
            self.method,
            space,
            self._body,
            self.guarantee,
            contamination=contamination,
            threshold=threshold,
            rows=self.rows,
            quantile=quantile,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which ``load`` reads anywhere."""
        content = io.BytesIO()
        self.write(content)
        try:
            # As a whole: whoever reads it meanwhile, or after a crash, has the model of before.
            with appearing(Path(path), private=False) as file:
                file.write(content.getvalue())
        except OSError as problem:
            raise InputError(
                f"cannot write {os.fspath(path)} ({type(problem).__name__})",
                field="model",
                next_step="Give a path in a folder that can be written to.",
            ) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model from its file; one that was cut off or changed is refused."""
        try:
            with open(path, "rb") as file:
                return cls.read(file, name=os.fspath(path))
        except OSError as problem:
            raise InputError(
                f"cannot read {os.fspath(path)} ({type(problem).__name__})",
                field="model",
                next_step="Give a file that Model.save wrote.",
            ) from None

    def write(self, file: BinaryIO) -> None:
        """Write the model to an open file, from its present position."""
        content = io.BytesIO()  # a zip goes back to fill in sizes, which not every file can
        write_model(content, self._about(), self.body)
        file.write(content.getvalue())

    @classmethod
    def read(cls, file: BinaryIO, *, name: str = "the stored model") -> Model:
        """Read a model from an open file."""
        about, body = read_model(file, name)
        try:
            kind, space = METHODS[about["method"]], Space.read(about["space"])
            method = kind.restore(len(space.columns), about["parameters"])
            _refuse_another_space(method, space)
            promised = about["guarantee"]
            model = cls(
                method,
                space,
                body,
                None if promised is None else Guarantee.read(promised),
                contamination=_number(about["contamination"]),
                threshold=_number(about["threshold"]),
                rows=_whole(about.get("rows")),  # models of before do not say it
                quantile="model" if about.get("quantile") == "model" else "table",
            )
            method.check(body)
        except (InputError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            raise InputError(
                f"{name} is not a model that this version knows",
                field="model",
                next_step="Load it with the version that saved it, or save it again.",
            ) from None
        return model

    def to_dict(self) -> dict[str, Any]:
        """Return all of the model as plain data."""
        return {**self._about(), "body": {name: array.tolist() for name, array in self.body.items()}}

    def describe(self) -> Mapping[str, Any]:
        """Return what the model is, without its numbers."""
        return self._about()

    def _about(self) -> dict[str, Any]:
        return {
            "method": self.method.name,
            "parameters": self.method.parameters(),
            "space": self.space.to_dict(),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "contamination": self.contamination,
            "threshold": self.threshold,
            **({} if self.rows is None else {"rows": self.rows}),
            **({} if self.quantile == "table" else {"quantile": self.quantile}),
        }

    @cached_property
    def _scorer(self) -> Scorer:
        return self.method.scorer(self._body)

    def __getstate__(self) -> dict[str, Any]:
        # The scorer is not copied but made again: it holds indexes and functions that no file needs.
        return {name: item for name, item in self.__dict__.items() if name != "_scorer"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            type(self) is type(other)
            and self._about() == other._about()
            and self.body.keys() == other.body.keys()
            and all(np.array_equal(array, other.body[name]) for name, array in self.body.items())
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __repr__(self) -> str:
        promised = "no promise" if self.guarantee is None else f"ε = {self.guarantee.epsilon}"
        return f"Model({self.method.name}, columns={list(self.columns)}, {promised})"

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import facts, fragment, heading  # noqa: PLC0415  (only notebooks)

        low, high = self.score_range
        limit = None if self.threshold is None else f"a score above {self.threshold:.4g}"
        told = [
            ("method", self.method.name),
            ("columns", ", ".join(self.columns)),
            ("scores", f"from {low:.4g} to {high:.4g}; the higher, the more unusual"),
            *([] if limit is None else [("unusual", limit)]),
            *([] if self.rows is None else [("records", f"{self.rows:,}")]),
            ("promise", self.promise),
            ("next", "model.score(records), model.reasons(records): free, as often as you like"),
        ]
        return fragment(heading(f"A model of {len(self.columns):,} columns", 3), facts(told))


def _number(value: Any) -> float | None:
    """Return a number or None from a file; raise ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)


def _refuse_another_space(method: ScoringMethod, space: Space) -> None:
    """Raise ValueError where a file's columns are not those that its method has histograms of."""
    labels = space.places if isinstance(space, MixedSpace) else None
    if labels != (method.labels if isinstance(method, MixedMethod) else None):
        raise ValueError("columns of another method")


def _whole(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise ValueError("not a whole number")
    return value


class HeldModel(Model):
    """A model that keeps exact counts and a secret key inside, and therefore cannot be saved or copied.

    Its noise is a function of the key and of the cell. The promise holds against whoever sees only scores
    and cannot tell ChaCha20 from random.
    """

    __slots__ = ("_body",)  # not among the attributes that are listed, printed or copied

    @property
    def body(self) -> Body:
        """Refuse: the arrays are exact counts and the key."""
        raise self._refusal()

    @property
    def promise(self) -> str:
        """The promise, and against whom it does not hold."""
        return super().promise if self.guarantee is None else f"{super().promise}\n{HELD}"

    def with_quantile(self, contamination: float) -> Model:
        """Refuse: points would be drawn from exact counts."""
        raise self._refusal()

    def draw(self, rows: int, *, seed: int | None = None) -> SyntheticRows:
        """Refuse: rows would be drawn from exact counts."""
        raise self._refusal()

    def write(self, file: BinaryIO) -> None:
        """Refuse: the file would hold exact counts."""
        raise self._refusal()

    def to_dict(self) -> dict[str, Any]:
        """Return the model's description, without its numbers, which are secret."""
        return self._about()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self._refusal()

    def __getstate__(self) -> dict[str, Any]:
        raise self._refusal()

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # like every model

    @staticmethod
    def _refusal() -> Refused:
        return Refused(
            "a held model keeps exact counts, which must not be read, copied or saved",
            field="form",
            next_step="Use the published form, which can be saved.",
        )


def show(value: Model, asks: str) -> str:
    """Say what was released, without its numbers."""
    return f"a model by the method {value.method.name}: the higher its score, the more unusual a record"


def encode(value: Model, file: BinaryIO) -> None:
    """Write the model's file."""
    value.write(file)


def decode(file: BinaryIO) -> Model:
    """Read the model back."""
    return Model.read(file)
