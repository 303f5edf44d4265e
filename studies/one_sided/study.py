# SPDX-License-Identifier: Apache-2.0
"""The experiments of Kotsogiannis et al. 2020 (one-sided privacy), section 6.3.3, on DPBench's histograms.

Tables 1 and 2 and Figures 6 to 10; Figures 1 to 5, on traces, are in ``traces``.
Measurements are kept input by input, so that an interrupted run goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.questions.share_histogram.methods import METHODS
from studies.journal import Entry
from studies.one_sided.charts import draw
from studies.one_sided.data import FILE, read_histograms
from studies.one_sided.measure import measure_inputs
from studies.one_sided.paper import EPSILONS, RUNS
from studies.one_sided.tables import all_tables
from studies.runner import Run, Study, setting
from studies.table import Table


@dataclass(frozen=True)
class OneSided(Study[Mapping[str, Integers], list[Entry]]):
    """What may be published when only some records are sensitive?

    Examples
    --------
    >>> OneSided().adjacency
    'replace'
    """

    paper = "Kotsogiannis, Doudalis, Haney, Machanavajjhala and Mehrotra 2020"
    files = (FILE,)
    quick = MappingProxyType({"runs": 1})

    runs: int = setting(RUNS, "draws that a mean is over")
    seed: int = setting(1, "fixes the policies and all draws", least=0)
    adjacency: Adjacency = setting(
        "replace", "the form of the promise; the paper's is replace", choices=("replace", "add_remove")
    )

    def read(self, folder: Path) -> Mapping[str, Integers]:
        """Read the seven histograms."""
        return read_histograms(folder)

    def measure(self, data: Mapping[str, Integers], run: Run) -> list[Entry]:
        """Measure every method on every input."""
        scales = {name: int(counts.sum()) for name, counts in data.items()}
        settings = {
            "seed": self.seed, "runs": self.runs, "adjacency": self.adjacency, "histograms": scales,
            "methods": list(METHODS), "epsilons": EPSILONS,
        }  # fmt: skip
        journal = run.journal("inputs", settings, earlier="measured/share.jsonl")
        return measure_inputs(
            data, journal, runs=self.runs, seed=self.seed, adjacency=self.adjacency, progress=run.progress
        )

    def tables(self, data: Mapping[str, Integers], measured: list[Entry]) -> list[Table]:
        """Return Tables 1 and 2, and the figures as tables."""
        return all_tables(measured, data, self.runs, self.adjacency)

    def draw(self, data: Mapping[str, Integers], measured: list[Entry], folder: Path) -> list[Path]:
        """Draw Figures 6 to 10."""
        return draw(measured, self.runs, self.adjacency, folder)


STUDY = OneSided
