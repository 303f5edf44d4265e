# SPDX-License-Identifier: Apache-2.0
"""Text of Parquet files that is not UTF-8: the embedded engine stops at it, and Arrow does not.

Some writers let such text in, and one row with it must not fail a question. So files are read by the
engine's own reader, which is the faster one, until it stops at a text; from then on the same view reads them
by Arrow, and such text is null. Which reader it is shows in no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from anonymaly.engine.columns import quoted

VIEW = "source"
_BY_ARROW = "source by arrow"
FAILURE = "InvalidInputException"  # by which the reader stops


@dataclass(frozen=True)
class UncheckedFiles:
    """The files behind a view, and the columns of it that questions may read."""

    paths: Sequence[str]
    folders: Sequence[str]
    needed: Sequence[str]


# Connection → what its view reads, as long as nobody knows whether all text of it is UTF-8.
_UNCHECKED: WeakKeyDictionary[Any, UncheckedFiles] = WeakKeyDictionary()


def remember(backend: Any, files: UncheckedFiles) -> None:
    """Note that a connection reads files whose text nobody has looked at."""
    _UNCHECKED[backend] = files


def mend(backend: Any, failure: str) -> bool:
    """Read by Arrow from now on, if that may be why a statement failed; say whether to run it again."""
    files = _UNCHECKED.pop(backend, None) if failure == FAILURE else None
    try:
        return files is not None and _read_by_arrow(backend.con, files)
    except Exception:  # a file went meanwhile, say: then the statement has failed, in its own words
        return False


def check(backend: Any) -> None:
    """Look at all text before rows are streamed: what has begun to stream cannot be run again."""
    import duckdb  # noqa: PLC0415

    files = _UNCHECKED.get(backend)
    if files is None:
        return
    described = backend.con.execute(f"DESCRIBE {VIEW}").fetchall()
    texts = [name for name, kind, *_ in described if kind == "VARCHAR" and name in files.needed]
    too_long = " OR ".join(f"strlen({quoted(name)}) < 0" for name in texts)
    try:
        if texts:
            backend.con.execute(f"SELECT count(*) FROM {VIEW} WHERE {too_long}").fetchall()  # noqa: S608
        _UNCHECKED.pop(backend, None)
    except duckdb.InvalidInputException as problem:
        mend(backend, type(problem).__name__)


def _read_by_arrow(connection: Any, files: UncheckedFiles) -> bool:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    first, *others = [pq.read_schema(path).remove_metadata() for path in files.paths]
    if any(other != first for other in others):
        return False  # files of one table that differ are cast to a common type by the engine alone
    texts = [
        field.name
        for field in first
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    ]
    bytes_of = [field.with_type(pa.large_binary()) if field.name in texts else field for field in first]
    named = pa.schema([(name, pa.string()) for name in files.folders])
    dataset = ds.dataset(
        list(files.paths),
        schema=pa.schema([*bytes_of, *named]),
        format="parquet",
        partitioning=ds.partitioning(named, flavor="hive") if files.folders else None,
    )
    before = connection.execute(f"DESCRIBE {VIEW}").fetchall()
    (definition,) = connection.execute(
        "SELECT sql FROM duckdb_views() WHERE view_name = ? AND temporary", [VIEW]
    ).fetchone()
    columns = [
        f"try(decode({quoted(name)})) AS {quoted(name)}" if name in texts else quoted(name)
        for name, *_ in before
    ]
    connection.register(_BY_ARROW, dataset)
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {VIEW} AS SELECT {', '.join(columns)} FROM {quoted(_BY_ARROW)}"  # noqa: S608
    )
    after = connection.execute(f"DESCRIBE {VIEW}").fetchall()
    if [line[:2] for line in after] == [line[:2] for line in before]:
        return True
    connection.execute(definition.replace("CREATE", "CREATE OR REPLACE", 1))
    return False
