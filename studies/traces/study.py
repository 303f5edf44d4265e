# SPDX-License-Identifier: Apache-2.0
"""The experiments of Kotsogiannis et al. 2020 (one-sided privacy), sections 6.3.1 to 6.3.3.1, on traces.

Figures 1 to 5; 6 to 10 are in ``one_sided``. The paper's wireless traces are not public: taxis of Beijing and
the radios of a campus stand in for them. Measurements are kept input by input, so that an interrupted run
goes on; ``--runs 1 --samples 1 --folds 3`` is the quick form.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from studies.journal import Entry
from studies.runner import Run, Study, setting
from studies.table import Table
from studies.traces.charts import draw
from studies.traces.data import RADIOS, TAXIS, Traces, read_traces
from studies.traces.measure import measure_grids, measure_trajectories
from studies.traces.paper import EPSILONS, FOLDS, FREQUENT, RUNS
from studies.traces.tables import all_tables
from studies.traces.trajectories import PER_PERSON, Task


@dataclass(frozen=True)
class Measured:
    """The measurements of Figures 1 to 3, and of 4 and 5."""

    trajectories: list[Entry]
    grids: list[Entry]


@dataclass(frozen=True)
class TraceStudy(Study[Traces, Measured]):
    """What can be learned and counted from trajectories of which only some are sensitive?

    Examples
    --------
    >>> TraceStudy().runs
    10
    """

    paper = "Kotsogiannis, Doudalis, Haney, Machanavajjhala and Mehrotra 2020, Figures 1 to 5"
    files = (TAXIS, RADIOS)
    quick = MappingProxyType({"runs": 1, "samples": 1, "folds": 3})

    runs: int = setting(RUNS, "draws that a mean is over")
    samples: int = setting(2, "draws of samples that classifiers are trained on, and of ShareNgrams")
    folds: int = setting(FOLDS, "parts of cross-validation", least=2)
    seed: int = setting(1, "fixes policies, folds and all draws", least=0)

    def read(self, folder: Path) -> Traces:
        """Read taxis and radios."""
        return read_traces(folder, self.folds, self.seed)

    def measure(self, data: Traces, run: Run) -> Measured:
        """Measure everything that was not measured yet."""
        settings = {
            "seed": self.seed, "runs": self.runs, "epsilons": EPSILONS, "rows": len(data.rows),
            "grids": {name: len(rows) for name, rows in data.grids.items()},
        }  # fmt: skip
        further = {
            "samples": self.samples,
            "folds": self.folds,
            "per_person": PER_PERSON,
            "frequent": FREQUENT,
        }
        task = Task(data, self.runs, self.samples, self.folds, self.seed)
        trajectories = measure_trajectories(
            task, run.journal("trajectories", settings | further, earlier="none"), run.progress
        )
        grids = measure_grids(
            data, run.journal("grids", settings, earlier="none"), run.progress, runs=self.runs, seed=self.seed
        )
        return Measured(trajectories, grids)

    def tables(self, data: Traces, measured: Measured) -> list[Table]:
        """Return what the paper says beside ours, and the figures as tables."""
        return all_tables(data, measured.trajectories, measured.grids, self.runs)

    def draw(self, data: Traces, measured: Measured, folder: Path) -> list[Path]:
        """Draw Figures 1 to 5."""
        return draw(measured.trajectories, measured.grids, self.runs, folder)


STUDY = TraceStudy
