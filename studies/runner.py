# SPDX-License-Identifier: Apache-2.0
"""One way through every paper: read public files, measure, make tables, draw, write."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from anonymaly.errors import InputError
from studies.journal import Journal
from studies.progress import Progress
from studies.table import Table

Data = TypeVar("Data")
Measured = TypeVar("Measured")


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
    """

    folder: Path
    force: bool = False
    progress: Progress = field(default_factory=lambda: Progress(None))

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
    """

    paper: ClassVar[str]
    files: ClassVar[tuple[str, ...]]

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
class Found:
    """What a study has found: tables, the files of its pictures, and further figures by name."""

    paper: str
    tables: tuple[Table, ...]
    pictures: tuple[Path, ...]
    further: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "paper": self.paper,
            "tables": [table.to_dict() for table in self.tables],
            "pictures": [path.name for path in self.pictures],
            **self.further,
        }


def setting(default: Any, help: str, *, least: int = 1, choices: Sequence[str] = ()) -> Any:
    """Return a field of a study that the command line may set: whole numbers, or one of some words."""
    return field(default=default, metadata={"help": help, "least": least, "choices": tuple(choices)})


def check_files(study: type[Study[Any, Any]], folder: Path | None) -> Path:
    """Return the folder if it holds the study's public files, or say which are missing."""
    hint = "Give --data DIR or set ANONYMALY_DATA to a folder with the public files."
    if folder is None:
        raise InputError("no folder with the public files was given", field="data", next_step=hint)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", field="data", next_step=hint)
    missing = [name for name in study.files if not (folder / name).is_file()]
    if missing:
        raise InputError(f"there is no {' and no '.join(missing)} in {folder}", field="data", next_step=hint)
    return folder


def reproduce(study: Study[Data, Measured], data: Data, run: Run) -> Found:
    """Measure what was not measured yet, and write ``tables.json``, ``tables.md`` and pictures."""
    run.folder.mkdir(parents=True, exist_ok=True)
    measured = study.measure(data, run)
    found = Found(
        study.paper,
        tuple(study.tables(data, measured)),
        tuple(study.draw(data, measured, run.folder)),
        study.further(measured),
    )
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (run.folder / "tables.json").write_text(text + "\n", encoding="utf-8")
    pages = "\n".join(table.to_markdown() for table in found.tables)
    (run.folder / "tables.md").write_text(f"# {study.paper}\n\n{pages}", encoding="utf-8")
    return found
