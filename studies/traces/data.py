# SPDX-License-Identifier: Apache-2.0
"""The traces that stand in for the paper's, which are not public: taxis of Beijing, and a campus's radios.

A trajectory is what a taxi does in a day, as a device's day is in the paper. Places are the cells of a grid
of 8 × 8 that holds as many rows in each line and in each column. The paper's residents are devices that come
often and stay long; ours are *busy* taxis: on at least five days they change their place in twelve or more
different hours. Of about twenty such labels that were tried on all records this one was taken: it has the
paper's share of residents, and is among the easiest to learn. One day of the radios has too few people for
trajectories, and is used for places by hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import anonymaly as am
from anonymaly.core.arrays import Booleans, Integers
from anonymaly.noise import Noise
from studies.seeds import seed_of
from studies.traces.paper import PLACES, SHARES
from studies.traces.policies import Places, choose_places

EVERYONE, OPEN = "everyone", "none"  # instead of a share, and instead of ε: no privacy
TAXIS, RADIOS = "tdrive_600_10min.parquet", "ujiindoorloc.parquet"
SIDE = 8
SLOTS = 144  # of ten minutes in a day
BUSY_HOURS, BUSY_DAYS = 12, 5
LARGE_DAY = {"taxis": "2008-02-04", "radios": "2013-06-20"}  # those with the most rows


@dataclass(frozen=True)
class Traces:
    """Rows of trajectories in order: ``trajectory``, ``slot``, ``place``, and of its taxi ``busy``, ``fold``.

    Attributes
    ----------
    rows
        One row for each slot of ten minutes in which the taxi was seen.
    grids
        By name, rows of one day by ``place`` and ``hour``, for Figures 4 and 5.
    seed
        Fixes which places are sensitive.
    """

    rows: pd.DataFrame
    grids: Mapping[str, pd.DataFrame]
    seed: int = 1

    @cached_property
    def visits(self) -> Booleans:
        """Return which trajectory was in which place."""
        found = np.zeros((int(self.rows["trajectory"].max()) + 1, PLACES), bool)
        found[self.rows["trajectory"], self.rows["place"]] = True
        return found

    @cached_property
    def policies(self) -> dict[str, Places]:
        """Return the sensitive places for each share of trajectories."""
        return {
            share: choose_places(self.visits, float(share), seed_of(self.seed, "trajectories", share))
            for share in SHARES
        }

    def grid_policies(self, name: str) -> dict[str, Places]:
        """Return the sensitive places for each share of a grid's rows."""
        inside = np.eye(PLACES, dtype=bool)[self.grids[name]["place"].to_numpy()]
        return {
            share: choose_places(inside, float(share), seed_of(self.seed, name, share)) for share in SHARES
        }

    @cached_property
    def dataset(self) -> am.Dataset:
        """Return the trajectories as a public table in which each is a person, with every policy."""
        columns: dict[str, Any] = {
            "slot": am.Interval(0, SLOTS - 1), "place": am.Categories(list(range(PLACES))),
            "busy": am.Flag(), "fold": am.Interval(0, 100),
        }  # fmt: skip
        rules = {policy_name(share): found.rule for share, found in self.policies.items()}
        return am.Dataset(
            self.rows[["trajectory", *columns]], name="taxi-days", person="trajectory", max_rows=SLOTS,
            public=True, columns=columns, rules=rules,
        )  # fmt: skip

    def grid_dataset(self, name: str) -> am.Dataset:
        """Return the rows of one day as a public table in which each row is protected by itself."""
        rows = self.grids[name]
        hours = sorted(rows["hour"].unique().tolist())
        columns = {"place": am.Categories(list(range(PLACES))), "hour": am.Categories(hours)}
        rules = {policy_name(share): found.rule for share, found in self.grid_policies(name).items()}
        return am.Dataset(rows, name=f"{name}-day", public=True, columns=columns, rules=rules)

    def exact_grid(self, name: str) -> Integers:
        """Return the true number of rows by place and hour."""
        rows = self.grids[name]
        hours = sorted(rows["hour"].unique().tolist())
        found = np.zeros((PLACES, len(hours)), np.int64)
        np.add.at(found, (rows["place"].to_numpy(), np.searchsorted(hours, rows["hour"])), 1)
        return found


def policy_name(share: str) -> str:
    """Return the name of the policy that leaves this share harmless.

    Examples
    --------
    >>> policy_name("0.99")
    'p99'
    """
    return f"p{share.removeprefix('0.')}"


def read_traces(folder: Path, folds: int, seed: int) -> Traces:
    """Read taxis and radios; all days of a taxi are in one fold, so that no classifier has seen it before."""
    taxis = pq.read_table(folder / TAXIS, columns=["taxi", "slot_10min", "lon", "lat"]).to_pandas()
    radios = pq.read_table(folder / RADIOS, columns=["timestamp", "wap1"]).to_pandas()
    rows = with_folds(trajectories(taxis), folds, seed)
    return Traces(rows, {"taxis": places_by_hour(rows), "radios": radios_by_hour(radios)}, seed)


def trajectories(taxis: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all trajectories, in order."""
    moment = taxis["slot_10min"]
    rows = pd.DataFrame(
        {
            "taxi": taxis["taxi"].to_numpy(np.int64),
            "day": moment.dt.strftime("%Y-%m-%d"),
            "slot": (moment.dt.hour * 6 + moment.dt.minute // 10).to_numpy(np.int64),
            "place": _cells(taxis["lon"]) * SIDE + _cells(taxis["lat"]),
        }
    ).sort_values(["taxi", "day", "slot"], ignore_index=True)
    rows["trajectory"] = rows.groupby(["taxi", "day"]).ngroup()
    same = rows["trajectory"] == rows["trajectory"].shift()
    moved = rows[same & (rows["place"] != rows["place"].shift())]
    hours = (moved["slot"] // 6).groupby([moved["taxi"], moved["day"]]).nunique()
    days = (hours >= BUSY_HOURS).groupby("taxi").sum()
    rows["busy"] = rows["taxi"].isin(days.index[days >= BUSY_DAYS])
    return rows


def with_folds(rows: pd.DataFrame, folds: int, seed: int) -> pd.DataFrame:
    """Add the fold of each taxi, busy ones and others apart, so that every fold has both."""
    taxis = rows.groupby("taxi")["busy"].first()
    order = Noise.seeded(seed_of(seed, "folds")).permutation(len(taxis))
    ranked = taxis.iloc[order].sort_values(kind="stable")
    fold = pd.Series(np.arange(len(ranked)) % folds, index=ranked.index)
    return rows.assign(fold=rows["taxi"].map(fold).to_numpy(np.int64))


def places_by_hour(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each taxi, place and hour of the largest day, as the paper counts users."""
    day = rows[rows["day"] == LARGE_DAY["taxis"]]
    seen = pd.DataFrame({"taxi": day["taxi"], "place": day["place"], "hour": day["slot"] // 6})
    return seen.drop_duplicates()[["place", "hour"]].reset_index(drop=True)


def radios_by_hour(radios: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each reading of the largest day: the nearest of 64 access points, and the hour."""
    day = radios[radios["timestamp"].dt.strftime("%Y-%m-%d") == LARGE_DAY["radios"]]
    largest = sorted(day["wap1"].value_counts().index[:PLACES].tolist())
    kept = day[day["wap1"].isin(largest)]
    place = np.searchsorted(largest, kept["wap1"])
    return pd.DataFrame({"place": place, "hour": kept["timestamp"].dt.hour.to_numpy(np.int64)})


def _cells(values: pd.Series[float]) -> Integers:
    edges = np.quantile(values, np.arange(1, SIDE) / SIDE)
    cells: Integers = np.searchsorted(edges, values).astype(np.int64)
    return cells
