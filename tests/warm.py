# SPDX-License-Identifier: Apache-2.0
"""Imported once by a fork server, so that each forked process costs a fork and not two seconds of imports.

The package imports most of what it needs when it is first needed, so all of that is named here.
"""

from __future__ import annotations

import importlib
from fractions import Fraction

import duckdb
import ibis.backends.duckdb
import pandas
import psycopg
import sqlalchemy.dialects.sqlite

from anonymaly.ask import curator, reader
from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.declare import readings
from anonymaly.engine import frames, lookup, source, statements, view
from anonymaly.noise import Noise

Noise.system().two_sided_geometric(Fraction(1, 2))  # loads the compiled kernels; starts no thread that stays

LOADED = [
    *(duckdb, ibis.backends.duckdb, pandas, psycopg, sqlalchemy.dialects.sqlite),
    *(curator, reader, readings, frames, source, statements, view, lookup.embedded()),
]
for home in QUESTIONS.values():
    folder = home.partition(":")[0].rpartition(".")[0]
    for part in ("query", "binding", "summary", "mechanism", "value"):
        LOADED.append(importlib.import_module(f"{folder}.{part}"))
