# SPDX-License-Identifier: Apache-2.0
"""Imported once by a fork server, so that each forked process costs a fork and not two seconds of imports."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import ibis.backends.duckdb
import pandas
import psycopg
import sqlalchemy.dialects.sqlite

import anonymaly.ask.curator
from anonymaly.noise import Noise

Noise.system().two_sided_geometric(Fraction(1, 2))  # loads the compiled kernels; starts no thread that stays

LOADED = (anonymaly.ask.curator, duckdb, ibis.backends.duckdb, pandas, psycopg, sqlalchemy.dialects.sqlite)
