# SPDX-License-Identifier: Apache-2.0
"""How processor time, memory and disk grow with rows: every question, on tables that the engine makes itself.

    python benchmarks/growth.py [--rows 1000000 10000000 100000000] [--memory 3.5GB] [--questions count score]
        [--folder benchmarks/results/growth] [--again] [--engine duckdb|spark] [--cores 1 2] [--json]

Each question is asked through a curator in a process of its own, of a Parquet file whose rows all differ.
Reported are the processor seconds of asking, the peak of memory of the whole process (Python and engine), and
the most that lay in temporary files at once. ``--memory`` is what the engine may take; the process has up to
half a gibibyte more. What was measured is kept in the folder: a question and size that is there is not asked
again without ``--again``.

The exponent is the slope of log(seconds) over log(rows), less what 1,000 rows take: 1 is in proportion to the
rows. It is fitted to the two largest tables, and to all of them. From the two largest follows what 10^9 and
10^10 rows would take; that is no measurement. ``growth.svg`` in the folder shows the seconds.

With ``--engine spark`` the seconds are those of Python and of the JVM, once for each number of ``--cores``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

import anonymaly as am

FEW = 1_000
BILLIONS = (10**9, 10**10)
GIBIBYTE = 2**30
WARDS, CITIES, UNITS, DAYS = 6, 12, 4, 365
COLUMNS: dict[str, Any] = {
    "person": am.Opaque(),
    "age": am.Interval(0, 120),
    "pay": am.Interval(0, 1_000_000, step=1),
    "score": am.Interval(-50, 50),
    "day": am.Interval(0, DAYS),
    "ward": am.Categories([f"ward {number}" for number in range(WARDS)]),
    "city": am.Categories([f"city {number}" for number in range(CITIES)]),
    "unit": am.Categories(list(range(UNITS))),
    "consent": am.Flag(),
}
# Persons have three rows on average, all over the table; one in 260 has more than eight, six in ten more
# than two.
# One hash of one number for each value: of two numbers, the engine's hashes depend on each other.
MAKE = """
COPY (
    SELECT 'p' || (hash(16 * range) % greatest(1, {rows} // 3))::VARCHAR AS person,
           (hash(16 * range + 1) % 96)::DOUBLE AS age,
           round(exp(10.5 + 0.5 * sqrt(-2 * ln((hash(16 * range + 2) % 1000000 + 1) / 1000001.0))
                 * cos(6.283185307 * (hash(16 * range + 3) % 1000000) / 1000000.0)))::DOUBLE AS pay,
           ((hash(16 * range + 4) % 100000000) / 1000000.0 - 50)::DOUBLE AS score,
           (hash(16 * range + 5) % {days})::DOUBLE AS day,
           'ward ' || (hash(16 * range + 6) % {wards})::VARCHAR AS ward,
           'city ' || (hash(16 * range + 7) % {cities})::VARCHAR AS city,
           (hash(16 * range + 8) % {units})::INTEGER AS unit,
           hash(16 * range + 9) % 10 > 0 AS consent
    FROM range({rows})
) TO '{path}' (FORMAT parquet, COMPRESSION zstd)
"""
RECORD = {"age": 44, "pay": 990_000, "score": 3.0, "ward": "ward 1", "city": "city 2", "unit": 1}
NUMBERS, GROUPS = ("age", "pay", "score"), ("ward", "city", "unit")
RULES: dict[str, Any] = {
    "agreed": am.Policy("consent"),
    "groups": am.SameContexts(detectors={name: {} for name in ("lof", "grubbs", "histogram", "mad")}),
    "same": am.AnomalyModel(list(GROUPS), radius=0, beta=5, k=1),
}
FEW_CUT, MANY_CUT = {"person": "person", "max_rows": 8}, {"person": "person", "max_rows": 2}


@dataclass(frozen=True)
class Case:
    """A question, and how the table is declared for it."""

    query: am.Query
    options: dict[str, Any] = field(default_factory=dict)


def cases() -> dict[str, Case]:
    """Every question, in the forms that read the most."""
    draw = np.random.default_rng(1)
    many = {"age": draw.uniform(0, 96, 1000), "pay": draw.lognormal(10.5, 0.5, 1000)}
    many["score"] = draw.uniform(-50, 50, 1000)

    def identify(**given: Any) -> am.Query:
        return am.Identify(
            **given,
            columns=list(NUMBERS),
            radius=0.05,
            beta=5,
            scaled=True,
            guarantee="differential",
            epsilon=1,
        )

    def explain(metric: str = "pay", attributes: Sequence[str] = GROUPS, **given: Any) -> am.Query:
        about = {name: RECORD[name] for name in (*attributes, metric)}
        rule: dict[str, Any] = {"rule": "groups"} if given else {}
        return am.Explain(
            record=about, metric=metric, attributes=list(attributes), epsilon=1, **rule, **given
        )

    def score(**given: Any) -> am.Query:
        return am.Score(columns=given.pop("columns", list(NUMBERS)), epsilon=1, **given)

    cut = am.Count(where="age > 40 and ward = 'ward 1'", epsilon=1)
    sample = am.ShareSample(columns=["age", "ward"], policy="agreed", epsilon="0.1")
    fine = am.Bins("score", np.linspace(-50, 50, 5001).tolist())
    return {
        "count": Case(cut),
        "count, few persons cut": Case(cut, FEW_CUT),
        "count, most persons cut": Case(cut, MANY_CUT),
        "identify, 1 record": Case(identify(record={name: RECORD[name] for name in NUMBERS})),
        "identify, 1,000 records": Case(
            identify(records={name: column.tolist() for name, column in many.items()})
        ),
        "lookahead": Case(am.Lookahead(columns=list(GROUPS), model="same", epsilon=1)),
        "score": Case(score(columns=[*NUMBERS, "ward"])),
        "score by marginals, threshold": Case(score(method="marginals", contamination="0.05")),
        "score by grid": Case(score(method="grid")),
        "explain": Case(explain()),
        "explain, lof": Case(explain(detector="lof")),
        "explain, lof, no step": Case(explain("score", detector="lof")),
        "explain, grubbs": Case(explain(detector="grubbs")),
        "explain, histogram": Case(explain(detector="histogram")),
        "explain, histogram, no step": Case(explain("score", detector="histogram")),
        # Every group of values by itself, as this detector needs them: fewer attributes.
        "explain, mad": Case(explain(attributes=("ward", "unit"), detector="mad")),
        "explain, mad, no step": Case(explain("score", attributes=("ward", "unit"), detector="mad")),
        "share-sample, ε = 0.1": Case(sample),
        "share-sample, ε = 3": Case(am.ShareSample(columns=["age", "ward"], policy="agreed", epsilon=3)),
        "share-sample, by person": Case(sample, FEW_CUT),
        "share-histogram": Case(am.ShareHistogram(by=list(GROUPS), policy="agreed", epsilon=1)),
        "share-histogram, 5,000 bins": Case(am.ShareHistogram(by=[fine, "unit"], policy="agreed", epsilon=1)),
        "share-histogram, persons": Case(
            am.ShareHistogram(by=list(GROUPS), policy="agreed", epsilon=1), FEW_CUT
        ),
        "share-ngrams": Case(
            am.ShareNgrams(place=["ward", "city"], order="day", length=3, per_person=3, epsilon=1), FEW_CUT
        ),
    }


# Of Spark, a few that differ in what the engine does: filter, group, unnest, window, stream.
ON_SPARK = ("count", "count, few persons cut", "identify, 1 record", "score", "explain", "share-histogram")


@dataclass(frozen=True)
class Setting:
    """Where questions are asked, and what the engine may take."""

    engine: str
    cores: int | None
    memory: str

    def name(self, question: str, rows: int) -> str:
        where = self.engine if self.cores is None else f"{self.engine} with {self.cores} cores"
        return f"{question} | {rows} | {where} | {self.memory}"


def make(rows: int, folder: Path) -> Path:
    """Let the engine write a table, unless it is there."""
    path = folder / f"{rows}.parquet"
    if not path.exists():
        import duckdb  # noqa: PLC0415  (nothing of it in the processes that are measured before they ask)

        part = path.with_suffix(".part")
        with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(folder / "spill")}) as one:
            one.execute(MAKE.format(rows=rows, path=part, wards=WARDS, cities=CITIES, units=UNITS, days=DAYS))
        part.rename(path)
    return path


@contextmanager
def source(paths: Sequence[Path], setting: Setting) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield what datasets read, and their options."""
    if setting.engine == "duckdb":
        yield list(paths), {"memory": setting.memory, "threads": setting.cores}
        return
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master(f"local[{setting.cores}]")
    own = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": f"{int(float(setting.memory.removesuffix('GB')) * 1000)}m",
        "spark.local.dir": tempfile.gettempdir(),
        "spark.sql.warehouse.dir": tempfile.gettempdir(),
        "spark.sql.shuffle.partitions": str(setting.cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in own.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield [session.read.parquet(str(path)) for path in paths], {}
    session.stop()


def ask(name: str, path: Path, setting: Setting) -> dict[str, float]:
    """Ask one question in this process, after one of few rows, by which all is imported and compiled."""
    few = path.with_name(f"{FEW}.parquet")
    with source([few, path], setting) as (tables, options):
        for table in tables:
            seconds, clock = _asked(cases()[name], table, options, path.parent)
        return {"seconds": seconds, "clock": clock, "memory": peak_memory()}


def _asked(case: Case, table: Any, options: dict[str, Any], folder: Path) -> tuple[float, float]:
    dataset = am.Dataset(table, name="growth", columns=COLUMNS, rules=RULES, **options, **case.options)
    # Not among the temporary files, which are measured.
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        curator = am.Curator(dataset, budget=100, ledger=Path(kept) / "ledger")
        began, start = processor_seconds(), time.perf_counter()
        curator.ask(case.query)
        return processor_seconds() - began, time.perf_counter() - start


def processor_seconds() -> float:
    """The seconds of this process and of those that it started, a JVM for instance."""
    return sum(_of_process(number) for number in family(os.getpid()))


def family(first: int) -> list[int]:
    """A process and all that it started, directly or not."""
    found = [first]
    for number in found:
        for task in Path(f"/proc/{number}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def _of_process(number: int) -> float:
    user, system, waited_user, waited_system = (
        int(part) for part in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:15]
    )
    return (user + system + waited_user + waited_system) / os.sysconf("SC_CLK_TCK")


def peak_memory() -> float:
    """The most bytes that this process and those it started had in memory, each at its own peak."""
    peaks = []
    for number in family(os.getpid()):
        status = Path(f"/proc/{number}/status").read_text().splitlines()
        peaks += [int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")]
    return float(sum(peaks))


def on_disk(folder: Path, process: int) -> int:
    """The bytes of temporary files now: those in the folder, and those without a name."""
    total = 0
    for place, _, names in os.walk(folder):  # what just went is passed over
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
    for handle in Path(f"/proc/{process}/fd").glob("*"):
        try:
            state = handle.stat()
            total += state.st_blocks * 512 if state.st_nlink == 0 else 0
        except OSError:
            continue
    return total


def measure(name: str, path: Path, setting: Setting) -> dict[str, Any]:
    """Ask one question in a process of its own, and look at its temporary files meanwhile."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        command = [sys.executable, "-W", "ignore", __file__, "--one", name, "--table", str(path)]
        command += ["--engine", setting.engine, "--memory", setting.memory]
        command += [] if setting.cores is None else ["--cores", str(setting.cores)]
        surroundings = {**os.environ, "TMPDIR": folder, "PYSPARK_PYTHON": sys.executable}
        with open(Path(folder) / "words", "w+b") as words:
            process = subprocess.Popen(command, stdout=words, stderr=subprocess.STDOUT, env=surroundings)
            most = 0
            while process.poll() is None:
                most = max(most, on_disk(Path(folder), process.pid))
                time.sleep(0.1)
            words.seek(0)
            said = words.read().decode().strip().splitlines() or ["nothing"]
    if process.returncode:
        return {"problem": said[-1]}
    return {**json.loads(said[-1]), "disk": most}


class Measured:
    """What was measured, in a file that a later run reads."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "measured.json"
        self.items: dict[str, Any] = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}

    def get(self, name: str, work: Callable[[], dict[str, Any]], *, again: bool) -> dict[str, Any]:
        if again or "seconds" not in self.items.get(name, {}):
            self.items[name] = work()
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.items, indent=1, ensure_ascii=False), "utf-8")
            part.rename(self.path)
        found: dict[str, Any] = self.items[name]
        return found


def grown(sizes: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return the exponents, and what more rows would take."""
    base = sizes[FEW]
    larger = {rows: item for rows, item in sizes.items() if rows != FEW and "seconds" in item}
    found: dict[str, Any] = {"sizes": {rows: item for rows, item in sizes.items() if rows != FEW}}
    if "seconds" not in base or not larger:
        return found
    # A clock of hundredths of a second: what is below counts as one.
    more = {rows: max(0.01, item["seconds"] - base["seconds"]) for rows, item in larger.items()}
    found["exponent"], found["overall"] = exponent(more, list(more)[-2:]), exponent(more, list(more))
    last = max(larger)
    slope = max(1.0, found["exponent"] or 1.0)
    found["seconds at"] = {rows: more[last] * (rows / last) ** slope for rows in BILLIONS}
    # Memory is cut off by the limit; what does not fit goes to disk, in proportion to the rows.
    disk = larger[last]["disk"] - base["disk"]
    found["disk at"] = {rows: max(0.0, disk * rows / last) for rows in BILLIONS}
    return found


def exponent(seconds: dict[int, float], rows: Sequence[int]) -> float | None:
    """The slope of the line through logarithms; none through one point."""
    if len(rows) < 2:
        return None
    return float(
        np.polyfit(np.log([float(each) for each in rows]), np.log([seconds[each] for each in rows]), 1)[0]
    )


def run(arguments: argparse.Namespace, settings: Sequence[Setting]) -> Iterable[dict[str, Any]]:
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    measured, rows = Measured(folder), [FEW, *sorted(arguments.rows)]
    known = ON_SPARK if arguments.engine == "spark" else tuple(cases())
    names = [name for name in arguments.questions or known if name in cases()]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("asking", total=len(settings) * len(names) * len(rows))
        # The small tables first: what they show is seen early.
        for number in rows:
            for name in names:
                for setting in settings:
                    progress.update(bar, description=f"{name}, {number:,} rows")
                    measured.get(
                        setting.name(name, number),
                        lambda name=name, number=number, setting=setting: measure(  # type: ignore[misc]
                            name, make(number, folder), setting
                        ),
                        again=arguments.again,
                    )
                    progress.advance(bar)
    for setting in settings:
        for name in names:
            sizes = {number: measured.items[setting.name(name, number)] for number in rows}
            yield {"question": name, "engine": setting.engine, "cores": setting.cores, **grown(sizes)}


def table(found: Sequence[dict[str, Any]]) -> Grid:
    """Return all of it for people."""
    grid = Grid(box=None)
    sizes = sorted({rows for item in found for rows in item["sizes"]})
    grid.add_column("question")
    for rows in sizes:
        grid.add_column(f"{short(rows)} rows\nCPU s", justify="right")
        grid.add_column("\nGiB", justify="right")
        grid.add_column("\ndisk GiB", justify="right")
    for head in (
        "exponent\nlast two",
        "\nall",
        "10^9 rows\nCPU h",
        "\ndisk GiB",
        "10^10 rows\nCPU h",
        "\ndisk GiB",
    ):
        grid.add_column(head, justify="right")
    for item in found:
        cores = "" if item["cores"] is None else f", {item['cores']} cores"
        cells = [item["question"] + cores]
        for rows in sizes:
            one = item["sizes"].get(rows, {})
            if "seconds" not in one:
                cells += [one.get("problem", "")[:40], "", ""]
                continue
            cells += [
                f"{one['seconds']:.2f}",
                f"{one['memory'] / GIBIBYTE:.2f}",
                f"{one['disk'] / GIBIBYTE:.2f}",
            ]
        cells += [
            f"{item[name]:.2f}" if item.get(name) is not None else "" for name in ("exponent", "overall")
        ]
        for rows in BILLIONS:
            cells += (
                [f"{item['seconds at'][rows] / 3600:.1f}", f"{item['disk at'][rows] / GIBIBYTE:.0f}"]
                if ("seconds at" in item)
                else ["", ""]
            )
        grid.add_row(*cells)
    return grid


def short(rows: int) -> str:
    return f"{rows // 10**6} M" if rows % 10**6 == 0 else f"{rows:,}"


def picture(found: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the seconds over the rows, with both axes by powers of ten."""
    import altair as alt  # noqa: PLC0415

    from anonymaly.pictures.vega.charts import OURS  # noqa: PLC0415

    rows = [
        {
            "question": item["question"],
            "rows": rows,
            "seconds": max(0.01, one["seconds"]),
            "GiB": one["memory"] / GIBIBYTE,
        }
        for item in found
        for rows, one in item["sizes"].items()
        if "seconds" in one
    ]
    chart = alt.Chart(alt.InlineData(values=rows), width=130, height=110)
    x = alt.X(
        "rows:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(title=None, format="~s", values=sorted({row["rows"] for row in rows})),
    )
    y = alt.Y(
        "seconds:Q", scale=alt.Scale(type="log"), axis=alt.Axis(title="CPU s", format="~g", tickCount=4)
    )
    layers = alt.layer(
        chart.mark_line(color=OURS, strokeWidth=2).encode(x=x, y=y),
        chart.mark_point(color=OURS, filled=True, size=40, opacity=1).encode(x=x, y=y),
        chart.mark_text(color=OURS, dy=-10, fontSize=9).encode(
            x=x, y=y, text=alt.Text("GiB:Q", format=".1f")
        ),
    )
    order = list(dict.fromkeys(item["question"] for item in found))
    head = alt.Facet("question:N", sort=order, header=alt.Header(title=None))
    title = alt.TitleParams("Seconds over rows", subtitle="Beside each point: GiB of memory at the peak")
    layers.facet(head, columns=5).properties(title=title).save(str(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--memory", default="3.5GB", help="what the engine may take")
    parser.add_argument("--questions", nargs="+", help="by default all")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "results" / "growth")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured")
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--cores", type=int, nargs="+")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cores = arguments.cores or ([1, 2] if arguments.engine == "spark" else [None])
    settings = [Setting(arguments.engine, number, arguments.memory) for number in cores]
    if arguments.one:
        print(json.dumps(ask(arguments.one, arguments.table, settings[0])))
        return
    found = list(run(arguments, settings))
    picture(found, arguments.folder / f"growth-{arguments.engine}.svg")
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 220, highlight=False).print(table(found))


if __name__ == "__main__":
    main()
