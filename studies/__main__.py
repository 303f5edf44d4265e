# SPDX-License-Identifier: Apache-2.0
"""``python -m studies [PAPER]``: one paper's experiments or all papers', and one report of what there is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from anonymaly.errors import AnonymalyError, InputError
from studies.options import parse
from studies.page import settings_text
from studies.papers import about, papers, study_of
from studies.progress import Progress
from studies.report import kept_result, write_report
from studies.runner import Found, Run, check_files, check_folder, is_finished, missing_files, reproduce
from studies.table import duration

WIDTH = 120  # a figure cut in two cannot be read: in a narrow window lines are wrapped as a whole
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; exit code 0 done, 2 bad input or files missing, 130 interrupted."""
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        chosen, settings = parse(sys.argv[1:] if arguments is None else arguments)
        if chosen.list:
            _list_papers()
            return 0
        folder = check_folder(chosen.data)
        with Progress(err if err.is_terminal else None) as progress:
            if chosen.paper is None:
                return _run_all(chosen, folder, progress, err)
            return _run_one(chosen, settings, folder, progress, err)
    except AnonymalyError as error:
        err.print(f"{type(error).__name__}: {error}", markup=False)
        return error.exit_code


def _run_one(
    chosen: argparse.Namespace, settings: Mapping[str, Any], folder: Path, progress: Progress, err: Console
) -> int:
    kind = study_of(chosen.paper)
    run = Run(chosen.output / chosen.paper, chosen.force, progress, check_files(kind, folder))
    study = kind(**settings)
    try:
        found = reproduce(study, study.read(folder), run)
    except KeyboardInterrupt:
        return _interrupted(run.folder, err)
    write_report(chosen.output)
    _print(found, chosen.output, as_json=chosen.json)
    return 0


def _run_all(chosen: argparse.Namespace, folder: Path, progress: Progress, err: Console) -> int:
    """Run one paper after another; one that cannot run is named, and the others go on."""
    names = papers()
    left_out = 0
    try:
        for done, name in enumerate(names):
            progress.papers(name, done, len(names))
            err.print(f"{name} ({done + 1} of {len(names)}): begins{_expected(name, chosen)}", markup=False)
            try:
                said = _one_of_all(chosen, name, folder, progress)
            except InputError as error:
                left_out += 1
                missing = missing_files(study_of(name), folder)
                said = f"left out: {error}"
                if missing:  # without advice, which would be the same for every paper
                    said = f"left out: there is no {' and no '.join(missing)} in {folder}"
            err.print(f"{name} ({done + 1} of {len(names)}): {said}", markup=False)
            write_report(chosen.output)
    except KeyboardInterrupt:
        write_report(chosen.output)
        return _interrupted(chosen.output, err)
    page = write_report(chosen.output)
    if page is not None and chosen.json:
        sys.stdout.write(page.with_suffix(".json").read_text(encoding="utf-8"))
    elif page is not None:
        sys.stdout.write(f"Report: {page}\n")
    return InputError.exit_code if left_out else 0


def _expected(name: str, chosen: argparse.Namespace) -> str:
    """Say how long measuring took in the kept run, and with which settings."""
    kept = None if chosen.quick else kept_result(name)
    if kept is None:
        return ""
    made = kept["made"]
    return f"; in the kept run measuring took {duration(made['seconds'])} with {settings_text(made)}"


def _one_of_all(chosen: argparse.Namespace, name: str, folder: Path, progress: Progress) -> str:
    """Run a paper, unless an earlier run has finished it; return what to say of it."""
    kind = study_of(name)
    run = Run(chosen.output / name, chosen.force, progress, check_files(kind, folder))
    study = kind(**(kind.quick if chosen.quick else {}))
    if is_finished(study, run):
        return "finished before"
    found = reproduce(study, study.read(folder), run)
    pictures = sum(path.suffix == ".svg" for path in found.pictures)
    return f"{len(found.tables)} tables, {pictures} pictures; measured in {duration(found.made.seconds)}"


def _interrupted(place: Path, err: Console) -> int:
    err.print(f"interrupted; what was measured is kept in {place}, and the same command goes on")
    return INTERRUPTED


def _list_papers() -> None:
    """Name the papers with what the kept run says of them, which is quicker than to import them all."""
    for name in papers():
        sys.stdout.write(f"{name:12}{about(name)}\n")
        kept = kept_result(name)
        if kept is not None:
            made = kept["made"]
            took = f"{duration(made['seconds'])} on one machine ({made['machine']})"
            sys.stdout.write(f"{'':12}reads {', '.join(made['files'])}\n")
            sys.stdout.write(f"{'':12}measuring took {took} with {settings_text(made)}\n")
    sys.stdout.write("Run all of them: make reproduce DATA=DIR; one: make reproduce PAPER=pcor DATA=DIR\n")


def _print(found: Found, output: Path, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
        return
    out = Console(highlight=False)
    wide = Console(width=max(out.width, WIDTH), highlight=False, soft_wrap=True)
    for table in found.tables:
        wide.print(table.to_terminal())
        wide.print(f"{table.note}\n" if table.note else "", markup=False)
    wide.print(f"Tables, pictures and report.html: {output}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
