# SPDX-License-Identifier: Apache-2.0
"""``python -m studies PAPER``: a paper's experiments on public data, the paper's figures beside ours."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

import studies
from anonymaly.errors import AnonymalyError, InputError
from studies.progress import Progress
from studies.runner import Found, Run, Study, check_files, reproduce

WIDTH = 120  # a figure cut in two cannot be read: in a narrow window lines are wrapped as a whole


def papers() -> list[str]:
    """Return the names of all papers: the folders here.

    Examples
    --------
    >>> papers()
    ['grid_knn', 'one_sided', 'pcor', 'sensitive', 'sensors', 'traces']
    """
    return [module.name for module in pkgutil.iter_modules(studies.__path__) if module.ispkg]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; exit code 0 done, 2 bad input, 130 interrupted."""
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        chosen, settings = _parse(sys.argv[1:] if arguments is None else arguments)
        if chosen.paper is None:
            _list_papers()
            return 0
        return _run(chosen, settings, err)
    except AnonymalyError as error:
        err.print(f"{type(error).__name__}: {error}", markup=False)
        return error.exit_code


def _run(chosen: argparse.Namespace, settings: Mapping[str, Any], err: Console) -> int:
    kind = _study_of(chosen.paper)
    folder = check_files(kind, chosen.data)
    study = kind(**settings)
    output = chosen.output / chosen.paper
    try:
        with Progress(err if err.is_terminal else None) as progress:
            found = reproduce(study, study.read(folder), Run(output, chosen.force, progress))
    except KeyboardInterrupt:
        err.print(f"interrupted; what was measured is kept in {output}, and the same command goes on")
        return 130
    _print(found, output, as_json=chosen.json)
    return 0


def _list_papers() -> None:
    for name in papers():
        text = (importlib.import_module(f"studies.{name}").__doc__ or "").strip()
        sys.stdout.write(f"{name:12}{text}\n")
    sys.stdout.write("Run one of them: make reproduce PAPER=pcor DATA=DIR\n")


def _study_of(paper: str) -> type[Study[Any, Any]]:
    if paper not in papers():
        raise InputError(
            f"there is no paper {paper!r}", field="paper", next_step=f"Give one of {', '.join(papers())}."
        )
    found: type[Study[Any, Any]] = importlib.import_module(f"studies.{paper}.study").STUDY
    return found


def _parse(given: Sequence[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Return what every paper takes, and the chosen paper's own settings."""
    environment = os.environ.get("ANONYMALY_DATA")
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument("paper", nargs="?", metavar="PAPER", help=f"one of {', '.join(papers())}")
    common.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(environment) if environment else None,
        help="the folder with the public files (or set ANONYMALY_DATA)",
    )  # fmt: skip
    common.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("reproduced"),
        help="for measurements, tables and pictures, in a folder for each paper (%(default)s)",
    )  # fmt: skip
    common.add_argument("--force", action="store_true", help="measure again what is in the output folder")
    common.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    whole = argparse.ArgumentParser(
        "python -m studies", description=__doc__, parents=[common], allow_abbrev=False
    )
    paper = common.parse_known_args(given)[0].paper
    fields = () if paper is None else dataclasses.fields(_study_of(paper))  # type: ignore[arg-type]
    for each in fields:
        _add_setting(whole, each)
    found = whole.parse_args(given)
    values = {each.name: getattr(found, each.name) for each in fields}
    return found, {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _add_setting(parser: argparse.ArgumentParser, each: dataclasses.Field[Any]) -> None:
    about = each.metadata

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < about["least"]:
            raise argparse.ArgumentTypeError(f"give a whole number from {about['least']}, not {text!r}")
        return int(text)

    option, said = f"--{each.name.replace('_', '-')}", f"{about['help']} (%(default)s)"
    if about["choices"]:
        parser.add_argument(option, choices=about["choices"], default=each.default, help=said)
    elif isinstance(each.default, tuple):
        parser.add_argument(option, nargs="+", metavar="N", type=number, default=each.default, help=said)
    else:
        parser.add_argument(option, metavar="N", type=number, default=each.default, help=said)


def _print(found: Found, output: Path, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
        return
    out = Console(highlight=False)
    wide = Console(width=max(out.width, WIDTH), highlight=False, soft_wrap=True)
    for table in found.tables:
        wide.print(table.to_terminal())
        wide.print(f"{table.note}\n" if table.note else "", markup=False)
    wide.print(f"Tables and pictures: {output}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
