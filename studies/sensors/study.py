# SPDX-License-Identifier: Apache-2.0
"""The experiment of Böhler et al. 2017, section 7 (Figure 3), and the same on real sensors.

The paper does not say with which parameters DBSCAN was run. Here they come from a history by the rule of
``am.stream.suggest``, with other points than those that are then judged. Measurements are kept, so that an
interrupted run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from anonymaly import noise
from anonymaly.stream.protocol import correction, declaration, models, neighbourhoods, perturb, suggest
from studies.journal import Entry, code_digest
from studies.runner import Run, Study, setting
from studies.sensors.charts import draw
from studies.sensors.data import BUILDING_FILE, MACHINE_FILE, Source, real_sources
from studies.sensors.measure import ACCOUNTS, measure_all
from studies.sensors.paper import EPSILONS, POINTS, RUNS, SEPARATIONS
from studies.sensors.tables import all_tables
from studies.table import Table

# What decides how a window is judged; how messages travel does not.
JUDGING = (correction, declaration, models, neighbourhoods, perturb, suggest)


@dataclass(frozen=True)
class Sensors(Study[Sequence[Source], list[Entry]]):
    """Which readings of a sensor are faults?

    Examples
    --------
    >>> Sensors().separations
    (50, 120, 220, 400)
    """

    paper = "Böhler, Bernau and Kerschbaum 2017"
    files = (BUILDING_FILE, MACHINE_FILE)
    quick = MappingProxyType({"points": 10_000, "runs": 1})

    separations: tuple[int, ...] = setting(SEPARATIONS, "how far out the synthetic outliers lie")
    points: int = setting(POINTS, "synthetic points")
    runs: int = setting(RUNS, "runs that a mean is over")
    seed: int = setting(1, "fixes all points and draws", least=0)

    def read(self, folder: Path) -> Sequence[Source]:
        """Read the real sensors; the paper's points are drawn."""
        return real_sources(folder)

    def measure(self, data: Sequence[Source], run: Run) -> list[Entry]:
        """Measure synthetic points and real sensors."""
        settings = {
            "seed": self.seed, "runs": self.runs, "points": self.points, "separations": self.separations,
            "epsilons": EPSILONS, "accounts": ACCOUNTS, "code": code_digest(noise, *JUDGING),
            "sources": {source.name: sum(len(window.values) for window in source.windows) for source in data},
        }  # fmt: skip
        return measure_all(
            run.journal("settings", settings, earlier="measured/stream.jsonl"),
            data,
            separations=self.separations,
            points=self.points,
            runs=self.runs,
            seed=self.seed,
            progress=run.progress,
        )

    def tables(self, data: Sequence[Source], measured: list[Entry]) -> list[Table]:
        """Return Figure 3 under both readings of ε, and the real sensors."""
        return all_tables(measured)

    def draw(self, data: Sequence[Source], measured: list[Entry], folder: Path) -> list[Path]:
        """Draw Figure 3 and one window of each real sensor."""
        return draw(measured, data, self.seed, folder)

    def further(self, measured: list[Entry]) -> dict[str, float]:
        """Return how long the corrector took for the synthetic points, on average."""
        times = [entry["correction_seconds"] for entry in measured if entry["study"] == "synthetic"]
        return {"correction_seconds": sum(times) / len(times)}


STUDY = Sensors
