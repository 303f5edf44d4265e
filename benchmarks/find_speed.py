# SPDX-License-Identifier: Apache-2.0
"""How long `anonymaly find` takes from its start to its report, for an analyst and for the owner.

    python benchmarks/find_speed.py [--data DIR] [--json] [--keep FOLDER] [--epsilon 1] [--runs 3]

DIR holds ``ontario_salaries_1996_2006.parquet``, of which 51,000 rows are taken as in ``studies/pcor``, and
``adult.parquet``: its 32,561 rows of training are the table, its 16,281 of test the new records. Without it
the two extracts that ship are used. Every run is the command itself, in a process of its own: start of
Python, plan, questions, report. The first run of each form is left out, as it may compile; `stored` is an
analyst's second file of records, for which the model is there already. `processor` is the time of all
cores together, which a busy machine does not lengthen. FOLDER keeps the tables and the reports.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from anonymaly.datasets import CENSUS_COLUMNS, census
from anonymaly.declare.domain import Categories, Domain, Interval

sys.path.insert(0, str(Path(__file__).parents[1]))
from studies.pcor.data import reduced_salary, salary

PROGRAM = [sys.executable, "-m", "anonymaly"]
NEW = 200  # records to judge, of tables that have no others
PLANTED = {"salary": [1_900_000.0, 640_000.0, 410_000.0]}  # in the first of them
NUMBERS: Mapping[str, Domain] = {
    "age": Interval(0, 120),
    "capital_gain": Interval(0, 100_000),
    "capital_loss": Interval(0, 5_000),
    "hours_per_week": Interval(0, 168),
}
LEFT_OUT = ("fnlwgt", "education_num", "split")


@dataclass(frozen=True)
class Case:
    """A table, what is declared about it, and records to judge."""

    name: str
    rows: pa.Table
    columns: Mapping[str, Domain]
    new: pa.Table

    def write(self, folder: Path) -> None:
        """Write the table, its manifest and two files of records."""
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(self.rows, folder / "table.parquet")
        declared = {
            "name": self.name,
            "source": "table.parquet",
            "columns": {name: domain.to_dict() for name, domain in self.columns.items()},
            "budget": 1_000,
        }
        (folder / "table.yaml").write_text(json.dumps(declared))  # JSON is YAML, too
        pyarrow.csv.write_csv(self.new, folder / "new.csv")
        half = self.new.slice(self.new.num_rows // 2)
        pyarrow.csv.write_csv(half, folder / "later.csv")


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the two tables."""
    paid = reduced_salary() if data is None else salary(data)
    yield Case("salaries", paid.rows, paid.columns, _planted(_some(paid.rows)))
    if data is None:
        rows = census().table.to_pyarrow()
        yield Case("census", rows, CENSUS_COLUMNS, _named(_some(rows)))
        return
    given = pq.read_table(data / "adult.parquet")
    split = given.column("split").cast(pa.string())
    texts = [name for name in given.column_names if name not in (*NUMBERS, *LEFT_OUT)]
    every = pa.table(
        {name: _known(given.column(name).cast(pa.string())) for name in texts}
        | {name: given.column(name).cast(pa.float64()) for name in NUMBERS}
    )
    labels = {
        name: Categories(sorted(pc.unique(every.column(name).drop_null()).to_pylist())) for name in texts
    }
    trained, tested = (every.filter(pc.equal(split, part)) for part in ("train", "test"))
    yield Case("adult", trained, {**labels, **NUMBERS}, _named(tested))


def _known(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts of which a question mark means that nothing is known."""
    return pc.if_else(pc.equal(texts, "?"), pa.scalar(None, pa.string()), texts)


def _some(rows: pa.Table) -> pa.Table:
    return rows.take(list(range(0, rows.num_rows, rows.num_rows // NEW)))


def _named(rows: pa.Table) -> pa.Table:
    return rows.add_column(0, "case", pa.array([f"A-{place + 1:05}" for place in range(rows.num_rows)]))


def _planted(rows: pa.Table) -> pa.Table:
    for name, values in PLANTED.items():
        column = [*values, *rows.column(name).to_pylist()[len(values) :]]
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(column))
    return _named(rows)


def timed(folder: Path, *arguments: str) -> dict[str, float]:
    """Run the command once, and return its wall clock and its processor time."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Python keeps what it compiled, as where the package is installed, and here apart from the checkout.
    environment |= {"PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*PROGRAM, "find", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 2), "processor": round(spent, 2)}


def measure(case: Case, folder: Path, epsilon: str, runs: int) -> Iterator[dict[str, Any]]:
    """Yield the times of each form; an account that exists is removed first, so that everything is paid."""
    case.write(folder)
    forms = {
        "analyst": ("table.yaml", "new.csv", "--epsilon", epsilon, "--html", "report.html"),
        "stored": ("table.yaml", "later.csv", "--epsilon", epsilon, "--html", "later.html"),
        "owner": ("table.yaml", "--owner", "--html", "owner.html"),
    }
    found: dict[str, list[dict[str, float]]] = {form: [] for form in forms}
    for _ in range(runs + 1):
        shutil.rmtree(folder / "table.store", ignore_errors=True)
        for path in folder.glob("*.ledger*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for form, arguments in forms.items():
            found[form].append(timed(folder, *arguments))
    for form, times in found.items():
        after = times[1:] or times
        yield {
            "table": case.name,
            "rows": case.rows.num_rows,
            "columns": len(case.columns),
            "records": {
                "analyst": case.new.num_rows,
                "stored": case.new.num_rows - case.new.num_rows // 2,
            }.get(form, case.rows.num_rows),
            "form": form,
            "first": times[0],
            **{kind: [run[kind] for run in after] for kind in ("wall", "processor")},
        }


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of the public tables")
    parser.add_argument("--keep", type=Path, help="a folder for the tables and the reports")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = given.keep or Path(temporary)
        lines = [
            line
            for case in cases(given.data)
            for line in measure(case, place / case.name, given.epsilon, given.runs)
        ]
    if given.json:
        print(json.dumps({"lines": lines, "cores": os.cpu_count(), "load": os.getloadavg()}, indent=1))
        return
    shown = Table("table", "rows", "columns", "records", "form", "seconds", "processor", "first run")
    for line in lines:
        shown.add_row(
            line["table"],
            f"{line['rows']:,}",
            str(line["columns"]),
            f"{line['records']:,}",
            line["form"],
            " ".join(f"{second:.1f}" for second in line["wall"]),
            " ".join(f"{second:.1f}" for second in line["processor"]),
            f"{line['first']['wall']:.1f}",
        )
    Console().print(shown)
    print(f"{os.cpu_count()} cores, load", " ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
