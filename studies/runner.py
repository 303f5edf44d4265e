# SPDX-License-Identifier: Apache-2.0
"""One way through every paper: read public files, measure, make tables, draw, write."""

from __future__ import annotations

import json
import os
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import anonymaly
import studies
from anonymaly.errors import InputError
from anonymaly.version import __version__
from studies.journal import Journal, code_digest
from studies.progress import Progress
from studies.table import Table

Data = TypeVar("Data")
Measured = TypeVar("Measured")

RESULT = "tables.json"
HINT = "Give --data DIR or set ANONYMALY_DATA to a folder with the public files; --list names them."


@dataclass(frozen=True)
class Run:
    """Where a run keeps its measurements, and where it shows its progress.

    Attributes
    ----------
    folder
        The paper's own folder, for measurements, tables and pictures.
    force
        Measure again.
    progress
        Shows how far the run has come.
    files
        The public files, and how many bytes each has.
    """

    folder: Path
    force: bool = False
    progress: Progress = field(default_factory=lambda: Progress(None))
    files: Mapping[str, int] = field(default_factory=dict)

    def journal(self, name: str, settings: Mapping[str, Any], earlier: str) -> Journal:
        """Return an experiment's journal; ``earlier`` is where it was when all papers shared a folder."""
        return Journal(
            self.folder / "measured" / f"{name}.jsonl",
            settings,
            force=self.force,
            earlier=self.folder.parent / earlier,
        )


class Study(ABC, Generic[Data, Measured]):
    """A paper's experiments: a frozen dataclass whose fields, made by `setting`, are its options.

    Attributes
    ----------
    paper
        Authors and year.
    files
        The public files that it reads.
    quick
        Settings with few repetitions, for a first look.
    """

    paper: ClassVar[str]
    files: ClassVar[tuple[str, ...]]
    quick: ClassVar[Mapping[str, int]]

    @abstractmethod
    def read(self, folder: Path) -> Data:
        """Read the public files of a folder that holds them all."""

    @abstractmethod
    def measure(self, data: Data, run: Run) -> Measured:
        """Measure what was not measured yet."""

    @abstractmethod
    def tables(self, data: Data, measured: Measured) -> Sequence[Table]:
        """Put the paper's figures beside ours."""

    @abstractmethod
    def draw(self, data: Data, measured: Measured, folder: Path) -> Sequence[Path]:
        """Draw the paper's figures; return their files."""

    def further(self, measured: Measured) -> Mapping[str, float]:
        """Return figures that are in no table, by name."""
        return {}


@dataclass(frozen=True)
class Made:
    """What a result was made with.

    Attributes
    ----------
    settings, defaults, files
        The study's own, what they are unless somebody says otherwise, and the public files with their bytes.
    seconds
        How long measuring took, in all runs into the same folder.
    version, machine
        Of anonymaly, and what it ran on.
    code
        A digest of all source: what other source measured is not taken for this.
    """

    settings: Mapping[str, Any]
    defaults: Mapping[str, Any]
    files: Mapping[str, int]
    seconds: float
    version: str
    machine: str
    code: str


@dataclass(frozen=True)
class Found:
    """What a study has found: tables, the files of its pictures, and further figures by name."""

    paper: str
    made: Made
    tables: tuple[Table, ...]
    pictures: tuple[Path, ...]
    further: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "paper": self.paper,
            "made": _plain(asdict(self.made)),
            "tables": [table.to_dict() for table in self.tables],
            "pictures": [path.name for path in self.pictures],
            "further": dict(self.further),
        }


def setting(default: Any, help: str, *, least: int = 1, choices: Sequence[str] = ()) -> Any:
    """Return a field of a study that the command line may set: whole numbers, or one of some words."""
    return field(default=default, metadata={"help": help, "least": least, "choices": tuple(choices)})


def missing_files(study: type[Study[Any, Any]], folder: Path) -> list[str]:
    """Return which of the study's public files a folder lacks."""
    return [name for name in study.files if not (folder / name).is_file()]


def check_folder(folder: Path | None) -> Path:
    """Return the folder that the public files are to be in, if there is one."""
    if folder is None:
        raise InputError("no folder with the public files was given", field="data", next_step=HINT)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", field="data", next_step=HINT)
    return folder


def check_files(study: type[Study[Any, Any]], folder: Path) -> dict[str, int]:
    """Return how many bytes each of the study's public files has, or say which are missing."""
    missing = missing_files(study, folder)
    if missing:
        raise InputError(f"there is no {' and no '.join(missing)} in {folder}", field="data", next_step=HINT)
    return {name: (folder / name).stat().st_size for name in study.files}


def is_finished(study: Study[Any, Any], run: Run) -> bool:
    """Say whether an earlier run has made everything, with these settings, files and source."""
    try:
        found = json.loads((run.folder / RESULT).read_text(encoding="utf-8"))
        made, pictures = found["made"], found["pictures"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    wanted = _plain({"settings": settings_of(study), "files": run.files, "code": whole_digest()})
    same = all(made.get(name) == value for name, value in wanted.items())
    return not run.force and same and all((run.folder / name).is_file() for name in pictures)


def reproduce(study: Study[Data, Measured], data: Data, run: Run) -> Found:
    """Measure what was not measured yet, and write ``tables.json``, ``tables.md`` and pictures."""
    run.folder.mkdir(parents=True, exist_ok=True)
    with Stopwatch(run) as watch:
        measured = study.measure(data, run)
    found = Found(
        study.paper,
        _made(study, run, watch.seconds),
        tuple(study.tables(data, measured)),
        tuple(study.draw(data, measured, run.folder)),
        study.further(measured),
    )
    pages = "\n".join(table.to_markdown() for table in found.tables)
    (run.folder / "tables.md").write_text(f"# {study.paper}\n\n{pages}", encoding="utf-8")
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (run.folder / RESULT).write_text(text + "\n", encoding="utf-8")
    return found


def settings_of(study: Study[Any, Any]) -> dict[str, Any]:
    """Return the values of a study's settings."""
    return {each.name: getattr(study, each.name) for each in fields(study)}  # type: ignore[arg-type]


def _made(study: Study[Any, Any], run: Run, seconds: float) -> Made:
    defaults = settings_of(type(study)())
    return Made(settings_of(study), defaults, run.files, seconds, __version__, machine(), whole_digest())


class Stopwatch:
    """Counts the seconds of measuring, with those of earlier runs that the same measurements are from."""

    def __init__(self, run: Run) -> None:
        self._kept = run.folder / "measured" / "seconds.txt"
        self._before = 0.0
        with suppress(OSError, ValueError):
            self._before = 0.0 if run.force else float(self._kept.read_text(encoding="utf-8"))
        self.seconds = self._before

    def __enter__(self) -> Self:
        self._begun = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self._before + time.perf_counter() - self._begun
        if self._kept.parent.is_dir():  # a study that keeps no measurement has no such folder
            self._kept.write_text(f"{self.seconds:.1f}\n", encoding="utf-8")


def machine() -> str:
    """Return what the measurements ran on, in a few words."""
    cores = os.cpu_count() or 1
    system = f"{platform.system()} {platform.machine()}"
    said = f"{system}, {cores} core{'s' if cores > 1 else ''}, Python {platform.python_version()}"
    if hasattr(os, "getloadavg"):  # a busy machine is slower, and whoever reads the times must know
        said += f", load {os.getloadavg()[2]:.1f}"
    return said


@cache
def whole_digest() -> str:
    """Return a digest of all source, here and in the package."""
    return code_digest(anonymaly, studies)


def _plain(content: Any) -> Any:
    return json.loads(json.dumps(content))
