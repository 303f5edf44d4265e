# SPDX-License-Identifier: Apache-2.0
"""A way into the database that goes past the ledger."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.pool import NullPool


def raw_engine(location: str) -> sa.Engine:
    """A connection that knows nothing of the ledger's rules, as an intruder's would."""
    if "://" in location:
        url = sa.make_url(location).set(drivername="postgresql+psycopg")
        return sa.create_engine(url, poolclass=NullPool)
    return sa.create_engine(f"sqlite:///{location}", poolclass=NullPool, connect_args={"timeout": 60})
