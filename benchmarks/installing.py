# SPDX-License-Identifier: Apache-2.0
"""Whether wheel and source distribution install into clean environments, and work there.

    python benchmarks/installing.py [--python PATH ...] [--only EXTRA ...] [--json]

Builds both from the checkout, makes an environment for each case and tries what the case is for: a plain
installation (of the wheel by pip, of the source distribution by uv), each extra alone, and all together. Of
Spark only the import is tried. --python names an interpreter, by default the one that runs this; each has its
own rows. Compiled code goes into the environment's own folder, so every case begins without any.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
UV = [sys.executable, "-m", "uv"]
PATIENCE = 600  # seconds for one command
GRID = """
import numpy, anonymaly as am
model = am.GridKNN(epsilon=1, bounds=[(0, 1), (0, 1)]).fit(numpy.random.default_rng(0).random((500, 2)))
assert model.predict([[0.5, 0.5]]).shape == (1,)
"""
# extra → commands of the program, or Python, that must succeed there
TRIED: dict[str, Sequence[Sequence[str]]] = {
    "": [["demo"], ["warm"], ["warm", "--clear"]],
    "audit": [["python", "import anonymaly.audit.fit, anonymaly.audit.exclusion"]],
    "broker": [["stream", "demo"]],
    "client": [["python", "import anonymaly.ask.connection, httpx"]],
    "estimators": [["python", GRID]],
    "lake": [["python", "import anonymaly.engine.lake, deltalake, pyiceberg"]],
    "oidc": [
        ["python", "import authlib, joserfc, httpx, anonymaly.core.extras as e; e.require('oidc', 'x')"]
    ],
    "postgres": [["python", "import psycopg, ibis.backends.postgres"]],
    "report": [["python", "import anonymaly.pictures.vega.charts"]],
    "server": [["demo", "--serve", "--port", "0"]],
    "spark": [["python", "import pyspark, anonymaly.engine.pyspark"]],
    "stream": [["python", "import anonymaly.stream.programs, anonymaly.stream.protocol"]],
    "all": [["demo"], ["stream", "demo"], ["python", GRID]],
}


@dataclass(frozen=True)
class Row:
    """What happened in one environment."""

    python: str
    system: str
    installed: str
    packages: int
    seconds: float
    tried: str
    problem: str = ""


def build(folder: Path) -> tuple[Path, Path]:
    """Return wheel and source distribution; the wheel is built from the source distribution."""
    subprocess.run(
        [*UV, "build", "--quiet", "--no-build-isolation", "--out-dir", str(folder), str(ROOT)], check=True
    )
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def attempt(python: str, package: Path, extra: str, installer: str, folder: Path) -> Row:
    """Install into an environment of its own, try what it is for, and remove the environment."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        place = Path(home) / "env"
        wanted = f"anonymaly[{extra}] @ {package.as_uri()}" if extra else str(package)
        started = time.monotonic()
        inner = place / "bin" / "python"
        said = run([python, "-m", "venv", str(place)], home)
        if installer == "pip":
            said += run([str(inner), "-m", "pip", "install", "--quiet", wanted], home)
        else:
            said += run([*UV, "pip", "install", "--quiet", "--python", str(inner), wanted], home)
        seconds = round(time.monotonic() - started, 1)
        checks = [["python", "import anonymaly; from anonymaly import *"], ["--version"], *TRIED[extra]]
        for check in checks:
            said = said or tried(place, check, home)
        listed = run([*UV, "pip", "list", "--python", str(inner), "--format", "json"], home, keep=True)
        return Row(
            python=subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip(),
            system=platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
            installed=f"{package.name.rpartition('.')[2]} by {installer}" + (f" [{extra}]" if extra else ""),
            packages=len(json.loads(listed or "[]")),
            seconds=seconds,
            tried="; ".join(
                " ".join(word for word in check if "\n" not in word)[:60] for check in checks[1:]
            ),
            problem=said,
        )


def tried(place: Path, check: Sequence[str], home: str) -> str:
    """Return what went wrong; nothing if nothing did."""
    if check[0] == "python":
        return run([str(place / "bin" / "python"), "-c", check[1]], home)
    command = [str(place / "bin" / "anonymaly"), *check]
    return serve(command, home) if "--serve" in check else run(command, home)


def environment(home: str) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "HOME": home, "ANONYMALY_CACHE": home, "NO_COLOR": "1"}


def run(command: Sequence[str], home: str, *, keep: bool = False) -> str:
    """Return the end of what a command that failed said; with keep, what a good one said."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env=environment(home),
        timeout=PATIENCE,
    )
    if done.returncode:
        return "" if keep else f"{Path(command[0]).name} {command[1]}: {done.stderr.strip()[-600:]}"
    return done.stdout if keep else ""


def serve(command: Sequence[str], home: str) -> str:
    """Start the console, ask it for its first page, and end it as Ctrl-C does."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=home, env=environment(home)
    ) as server:
        said = ""
        assert server.stdout is not None
        for line in server.stdout:
            said += line
            if found := re.search(r"The console is at (http://\S+?):? ", line):
                page = run(
                    [sys.executable, "-c", f"import urllib.request as u; u.urlopen('{found[1]}').read()"],
                    home,
                )
                server.send_signal(signal.SIGINT)
                server.wait(PATIENCE)
                return page
        return said[-600:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", action="append", metavar="PATH")
    parser.add_argument("--only", action="append", choices=["plain", *filter(None, TRIED)])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == set(filter(None, TRIED)), "every extra is tried"
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, source = build(folder)
        for python in arguments.python or [sys.executable]:
            cases = [
                ("", wheel, "pip"),
                ("", source, "uv"),
                *((extra, wheel, "uv") for extra in TRIED if extra),
            ]
            for extra, package, installer in cases:
                if not arguments.only or (extra or "plain") in arguments.only:
                    rows.append(attempt(python, package, extra, installer, folder))
                    print(f"{rows[-1].installed}: {rows[-1].problem or 'works'}", file=sys.stderr)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        table = Table("Python", "system", "installed", "packages", "seconds", "tried", "problem")
        for row in rows:
            table.add_row(*map(str, asdict(row).values()))
        Console(width=200).print(table)
    sys.exit(any(row.problem for row in rows))


if __name__ == "__main__":
    main()
