# SPDX-License-Identifier: Apache-2.0
"""What scoring a file of new records found: how many there were, and the oddest with their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table

from anonymaly.cli.output import plain
from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError
from anonymaly.pictures.plain_table import table_lines
from anonymaly.questions.score.missing import MISSING, Missing
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.reasons import Reason
from anonymaly.questions.score.space import Space
from anonymaly.questions.score.value import Model

WIDTH = 200


@dataclass(frozen=True)
class Wanted:
    """What a command wants of the records besides their scores."""

    rule: Missing
    top: int | None
    reasons: bool


def read_rule(text: str) -> Missing:
    """Return the rule about missing values that a text names."""
    for rule in MISSING:
        if rule == text:
            return rule
    raise InputError(
        f"must be one of {', '.join(MISSING)}, got {text!r}",
        field="missing",
        next_step="Leave it out for skip.",
    )


def kinds_of(space: Space) -> dict[str, pa.DataType]:
    """Return what each column of a text file is read as."""
    if not isinstance(space, MixedSpace):
        return dict.fromkeys(space.columns, pa.float64())
    found = {}
    for name, kind, labels in zip(space.columns, space.kinds, space.labels, strict=True):
        if labels is None:
            found[name] = pa.timestamp("us") if kind == "moment" else pa.float64()
        else:
            types = {bool: pa.bool_(), int: pa.float64(), str: pa.string()}
            found[name] = types[type(labels[0])]
    return found


@dataclass(frozen=True)
class Best:
    """The records that score highest, the highest first."""

    columns: tuple[str, ...]
    records: list[dict[str, Any]]
    reasons: list[Reason]
    with_reasons: bool

    def to_dict(self) -> list[dict[str, Any]]:
        """Return them as plain data: place in the file from 1 on, score, values and, if wanted, reasons."""
        return [
            {
                **{
                    name: item
                    for name, item in reason.to_dict().items()
                    if self.with_reasons or name != "reasons"
                },
                "row": reason.row + 1,
                "record": {name: _plain(record[name]) for name in self.columns},
            }
            for reason, record in zip(self.reasons, self.records, strict=True)
        ]

    def __str__(self) -> str:
        table = Table(box=None, pad_edge=False)
        for name in ("row", "score"):
            table.add_column(name, justify="right", no_wrap=True)
        last = ("why",) if self.with_reasons else self.columns
        for name in last:
            table.add_column(name)
        for reason, record in zip(self.reasons, self.records, strict=True):
            shown = (
                [str(reason)] if self.with_reasons else [str(_plain(record[name])) for name in self.columns]
            )
            table.add_row(*plain(f"{reason.row + 1:,}", f"{reason.score:.2f}", *shown))
        return "\n".join(table_lines(table, WIDTH))


class Scored:
    """Scores batch after batch, and keeps the oddest records."""

    def __init__(self, model: Model, wanted: Wanted) -> None:
        self._model, self._wanted = model, wanted
        self.count = 0
        self._kept: list[tuple[float, int, dict[str, Any]]] = []  # score, place, values
        self._schema: pa.Schema | None = None

    def add(self, batch: pa.RecordBatch) -> Floats:
        """Score a batch and return its scores."""
        chosen = batch.select(list(self._model.columns))
        scores = self._model.score(chosen, missing=self._wanted.rule)
        if self._wanted.top is not None:
            self._schema = chosen.schema
            highest = np.argsort(-scores, kind="stable")[: self._wanted.top]
            rows = chosen.take(pa.array(highest)).to_pylist()
            self._kept += [
                (float(scores[place]), self.count + int(place), row)
                for place, row in zip(highest, rows, strict=True)
            ]
            self._kept.sort(key=lambda item: (-item[0], item[1]))
            del self._kept[self._wanted.top :]
        self.count += len(scores)
        return scores

    @property
    def best(self) -> Best | None:
        """The oddest records; None if they were not asked for."""
        if self._wanted.top is None or self._schema is None:
            return None
        records = [row for _, _, row in self._kept]
        threshold = self._model.threshold
        reasons = [
            Reason(place, score, None if threshold is None else score > threshold, ())
            for score, place, _ in self._kept
        ]
        if self._wanted.reasons and records:
            table = pa.Table.from_pylist(records, schema=self._schema)
            found = self._model.reasons(table, missing=self._wanted.rule)
            reasons = [
                Reason(plain.row, plain.score, plain.unusual, told.parts)
                for plain, told in zip(reasons, found, strict=True)
            ]
        return Best(self._model.columns, records, reasons, self._wanted.reasons)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
