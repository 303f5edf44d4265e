# SPDX-License-Identifier: Apache-2.0
"""What every study of ``anonymaly reproduce`` is told, and where each is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymaly.reproduce.progress import Progress

# question → the module whose ``study`` measures and whose ``grid`` prints a table
STUDIES = {
    "score": "anonymaly.cli.reproduce_score",
    "identify": "anonymaly.cli.reproduce_identify",
    "explain": "anonymaly.cli.reproduce_explain",
    "share": "anonymaly.cli.reproduce_share",
    "stream": "anonymaly.cli.reproduce_stream",
}


@dataclass(frozen=True)
class Run:
    """What a study is told; what was not given is the study's own choice.

    Examples
    --------
    >>> Run(None, Path("out"), outliers=3).given(outliers=3, seeds=None)
    {'outliers': 3}
    """

    data: Path | None
    output: Path
    outliers: int | None = None
    seeds: int | None = None
    runs: int | None = None
    force: bool = False
    progress: Progress | None = None

    @staticmethod
    def given(**options: int | None) -> dict[str, Any]:
        """Return the options that were given."""
        return {name: value for name, value in options.items() if value is not None}
