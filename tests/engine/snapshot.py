# SPDX-License-Identifier: Apache-2.0
"""Statements as they were when somebody last looked at them, one file for each engine and expression.

``make snapshots`` writes them anew; what changed is then in the diff, to be read before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import ibis.expr.types as ir

from anonymaly.engine import lookup

FOLDER = Path(__file__).parent / "snapshots"
RENEW = bool(os.environ.get("RENEW_SNAPSHOTS"))


def same_as_snapshot(engine: str, name: str, expression: ir.Expr, *, renew: bool = RENEW) -> None:
    """Compare the SQL of an expression on unbound tables with the file; no server is needed."""
    path = FOLDER / engine / f"{name}.sql"
    sql = f"{lookup.named(engine).sql(expression)}\n"
    if renew:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql, "utf-8")
    assert path.exists(), f"there is no snapshot {path.name}: run `make snapshots` and read it"
    assert sql == path.read_text("utf-8"), f"{path} differs: run `make snapshots` and read the change"
