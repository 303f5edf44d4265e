# SPDX-License-Identifier: Apache-2.0
"""New records that are written as the table is: the same dates, decimal commas and spellings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, Opaque
from anonymaly.engine.encodings import read_text_file
from anonymaly.engine.frames import columns_of, no_frame
from anonymaly.engine.headers import SAY_ENCODING
from anonymaly.engine.source import Source
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.errors import InputError, SchemaError
from anonymaly.inspect import look
from anonymaly.inspect.found import ColumnLook

if TYPE_CHECKING:
    import pandas as pd


TEXTS = (
    "Its owner declares no reading of texts: give numbers and moments themselves, as by pandas.to_numeric "
    "and pandas.to_datetime."
)


class HasDeclaration(Protocol):
    """What knows a declaration: a `Dataset`, a `Curator`, a table on a server."""

    @property
    def declaration(self) -> Declaration:
        """What is declared."""


def read_alike(records: Any, table: HasDeclaration) -> pd.DataFrame:
    """Read new records as a table's own rows are read, so that `find` and models take them.

    Dates, decimal commas, spellings and words for null are read as the owner declared them for each column;
    columns that are not declared are passed on as they are written. The records are your own: a warning says
    what could not be read, and nothing is asked of the table.

    Parameters
    ----------
    records
        A frame of pandas, polars or Arrow, a list of records, or the path of a file.
    table : Dataset, Curator or RemoteCurator
        The table that they are to be compared with.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> pay = am.Interval(0, 9000, read=am.Reading(decimal=",", thousands="."))
    >>> people = pandas.DataFrame({"pay": ["1.030,50", "980,00"]})
    >>> staff = am.Dataset(people, name="staff", columns={"pay": pay})
    >>> am.read_alike(pandas.DataFrame({"pay": ["8.100,00"], "name": ["new"]}), staff)
          pay name
    0  8100.0  new
    """
    declaration = _declaration(table)
    dataset = getattr(table, "dataset", table)  # that of a curator, where the table is here
    is_text = isinstance(records, str | Path) and Path(records).suffix.lower() != ".parquet"
    files = dataset.files if is_text and isinstance(dataset, Dataset) else {}
    found, remarks = read_with_remarks(records, declaration, files)
    for remark in remarks:
        warnings.warn(remark, UserWarning, stacklevel=2)
    # A whole number stays one beside a null: as a float, an identifier of 17 digits is somebody else's.
    frame: pd.DataFrame = found.to_pandas(integer_object_nulls=True)
    return frame


def _declaration(table: HasDeclaration) -> Declaration:
    found = getattr(table, "declaration", None)
    if isinstance(found, Declaration):
        return found
    raise InputError(
        f"must be a table or an account, got {type(table).__name__}",
        field="table",
        next_step="Give the am.Dataset that the records are to be compared with, or its am.Curator.",
    )


def read_with_remarks(
    records: Any, declaration: Declaration, files: Mapping[str, Any]
) -> tuple[pa.Table, list[str]]:
    """Return new records as they are read, and what is to be said; ``files`` is how a file is written."""
    called = Path(records).name if isinstance(records, str | Path) else "the records"
    try:
        dataset = _dataset(records, declaration, files)
        found = look.columns(dataset)
        table = collect(dataset.table)
    except EngineFailure as failure:
        raise InputError(
            f"cannot read {called} ({failure.kind})", field="records", next_step="Check that it is complete."
        ) from None
    except (SchemaError, InputError) as error:
        column = error.field if (error.field or "").startswith("records.") else "records"
        raise InputError(error.problem, field=column, next_step=error.next_step) from None
    if found.lines is not None and (found.lines.too_few or found.lines.too_many):
        raise InputError(
            f"of {found.lines.lines:,} lines of {called}, {found.lines.too_few:,} have too few values and "
            f"{found.lines.too_many:,} too many",
            field="records",
            next_step="Give each line one value for each column.",
        )
    if found.lines is not None and found.lines.not_utf_8:
        raise InputError(
            f"{found.lines.not_utf_8:,} lines of {called} are not in UTF-8",
            field="records",
            next_step=f"{SAY_ENCODING}; records are read as the table's file is.",
        )
    return table, [
        remark for column in found.columns if column.troubled for remark in _remarks(called, column)
    ]


def _remarks(called: str, column: ColumnLook) -> list[str]:
    """Say what is wrong with a column, and at the end what is written there: the reader gave it."""
    remarks = [f"{called}, {column.column}: {remark}" for remark in column.remarks()]
    return [*remarks[:-1], f"{remarks[-1]}; written there: {column.shown_spellings()}"]


def _refuse_misfits(dataset: Dataset) -> None:
    for line in dataset.check():
        if line.problem is not None:
            raise InputError(
                f"{line.problem.replace('the table has', 'holds', 1)} (declared: {line.declared})",
                field=f"records.{line.column}",
                next_step=TEXTS if line.found == "string" else "Give values of the declared kind.",
            )


def _dataset(records: Any, declaration: Declaration, files: Mapping[str, Any]) -> Dataset:
    if isinstance(records, str | Path):
        text = {"file": read_text_file(files["file"], field="file")} if files else {}
        names = Source(records, None, (), **{**files, **text}).table().schema().names
    else:
        found = columns_of(records, field="records")
        if found is None:
            raise no_frame(records, field="records")
        names = list(found)
        if isinstance(records, Mapping | list):  # which tables do not come in, but single records do
            records = _table(found)
    columns: dict[str, Domain] = {name: declaration.columns.get(name, Opaque()) for name in names}
    name = Path(records).stem if isinstance(records, str | Path) else "records"
    dataset = Dataset(records, name=name, columns=columns, **files)
    _refuse_misfits(dataset)
    return dataset


def _table(columns: Mapping[str, Any]) -> pa.Table:
    try:
        return pa.table(dict(columns))
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            "has columns of different lengths, or values of different types in one",
            field="records",
            next_step="Give each record one value for each column, all numbers or all text.",
        ) from None
