# SPDX-License-Identifier: Apache-2.0
"""How long commands take to start, and what the first use of compiled functions costs.

    python benchmarks/start.py [--json] [--runs 5] [--families]

Figures are seconds of processor, user and system, of a process from its start to its end: the median of the
runs, after one that is left out, by which Python's own bytecode is there. `imports` is a process that only
imports the packages of others that the command ends up with, in the same run; `ratio` is over that. With
--families, each family of compiled functions is used in a process of its own with an empty folder, then in
another one: first and second use, with the imports of all in a third. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

PROGRAM = [sys.executable, "-m", "anonymaly"]
MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
  ward: {type: categories, values: [A, B]}
budget: 100
"""
SHOWN = "import typer, typer.rich_utils, rich.console, rich.progress, rich.markdown, importlib.metadata"
COMMAND = "import typer, typer._adapters, rich.console, rich.progress, yaml, importlib.metadata"
MODELS = "from pydantic import BaseModel, TypeAdapter"
LEDGER = "import sqlalchemy, sqlalchemy.dialects.sqlite"
FRAMES = "import numpy, ibis, pyarrow, pyarrow.csv, pyarrow.parquet, pandas"
# command → what of others it needs
COMMANDS: Mapping[str, tuple[Sequence[str], str]] = {
    "python -c pass": ([], "pass"),
    "--version": (["--version"], "import typer, rich.console, rich.progress, importlib.metadata"),
    "--help": (["--help"], SHOWN),
    "count --help": (["count", "--help"], f"{SHOWN}\n{COMMAND}\n{MODELS}\n{LEDGER}"),
    "count --preview": (
        ["count", "patients.yaml", "--epsilon", "0.5", "--preview"],
        f"{COMMAND}\n{MODELS}\n{LEDGER}\nimport numpy",
    ),
    "ledger": (["ledger", "patients.yaml"], f"{COMMAND}\n{MODELS}\n{LEDGER}"),
    "find --preview": (
        ["find", "patients.yaml", "new.csv", "--epsilon", "1", "--preview"],
        f"{COMMAND}\n{MODELS}\n{LEDGER}\n{FRAMES}",
    ),
}
LIST = "from anonymaly.cli.kernel_families import FAMILIES; print(*FAMILIES, sep='\\n')"
USE = "from anonymaly.cli.kernel_families import FAMILIES; FAMILIES[{name!r}]()"
ONLY_IMPORTED = (
    "import ibis.backends.duckdb, pyarrow.parquet, numpy; from anonymaly.cli import kernel_families"
)


@dataclass(frozen=True)
class Row:
    """Seconds of processor."""

    what: str
    seconds: float
    imports: float

    @property
    def ratio(self) -> float:
        return round(self.seconds / self.imports, 2)


def processor(command: Sequence[str], folder: Path, cache: Path) -> float:
    """Return the user and system time of a process, and all that it waited for."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**kept, "ANONYMALY_CACHE": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, said.decode()
    return used.ru_utime + used.ru_stime


def commands(folder: Path, runs: int) -> list[Row]:
    """Measure every command beside the imports that it needs, run by run."""
    rows = []
    for what, (arguments, needed) in COMMANDS.items():
        bare = [sys.executable, "-c", needed]
        pairs = [
            (
                processor([*PROGRAM, *arguments] if arguments else bare, folder, folder),
                processor(bare, folder, folder),
            )
            for _ in range(runs + 1)
        ][1:]
        seconds, imports = (statistics.median(part) for part in zip(*pairs, strict=True))
        rows.append(Row(what, round(seconds, 3), round(imports, 3)))
    return rows


def families(folder: Path) -> list[Row]:
    """Measure the first and the second use of each family of compiled functions."""
    listed = subprocess.run(
        [sys.executable, "-c", LIST],
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    rows = []
    for name in filter(None, listed):
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            imports = processor([sys.executable, "-c", ONLY_IMPORTED], folder, Path(cache))
            for use in ("first", "second"):
                used = processor([sys.executable, "-c", USE.format(name=name)], folder, Path(cache))
                rows.append(Row(f"{name}, {use} use", round(used, 2), round(imports, 2)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "patients.yaml").write_text(MANIFEST)
        lines = "".join(f"{20 + number % 60},{'AB'[number % 2]}\n" for number in range(500))
        for file in ("patients.csv", "new.csv"):
            (folder / file).write_text(f"age,ward\n{lines}")
        # The ledger has something to show.
        processor([*PROGRAM, "count", "patients.yaml", "--epsilon", "0.5"], folder, folder)
        rows = commands(folder, arguments.runs) + (families(folder) if arguments.families else [])
    if arguments.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows], indent=2))
        return
    table = Table("processor seconds of", "all", "imports", "ratio")
    for row in rows:
        table.add_row(row.what, f"{row.seconds:.2f}", f"{row.imports:.2f}", f"{row.ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
