# SPDX-License-Identifier: Apache-2.0
"""What the command line takes: options of every run, and the settings of the chosen paper."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.papers import papers, study_of

ABOUT = "The papers' experiments on public data, the papers' figures beside ours: one paper, or all of them."


def parse(given: Sequence[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Return what every run takes, and the chosen paper's own settings."""
    environment = os.environ.get("ANONYMALY_DATA")
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument(
        "paper", nargs="?", metavar="PAPER", help=f"one of {', '.join(papers())}; without it, all of them"
    )
    common.add_argument("--list", action="store_true", help="name papers, their files and times, and stop")
    common.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(environment) if environment else None,
        help="the folder with the public files (or set ANONYMALY_DATA)",
    )  # fmt: skip
    common.add_argument(
        "--output", metavar="DIR", type=Path, default=None,
        help="for measurements, tables, pictures and the report (reproduced; with --quick reproduced/quick)",
    )  # fmt: skip
    common.add_argument("--quick", action="store_true", help="few repetitions, for a first look")
    common.add_argument("--force", action="store_true", help="measure again what is in the output folder")
    common.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    whole = argparse.ArgumentParser(
        "python -m studies", description=ABOUT, parents=[common], allow_abbrev=False
    )
    first = common.parse_known_args(given)[0]
    fields: tuple[dataclasses.Field[Any], ...] = ()
    if first.paper is not None:
        kind = study_of(first.paper)
        fields = dataclasses.fields(kind)  # type: ignore[arg-type]
        for each in fields:
            quick = kind.quick.get(each.name, each.default) if first.quick else each.default
            _add_setting(whole, each, quick)
    found = whole.parse_args(given)
    if found.output is None:
        found.output = Path("reproduced", "quick") if found.quick else Path("reproduced")
    values = {each.name: getattr(found, each.name) for each in fields}
    return found, {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _add_setting(parser: argparse.ArgumentParser, each: dataclasses.Field[Any], default: Any) -> None:
    about = each.metadata

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < about["least"]:
            raise argparse.ArgumentTypeError(f"give a whole number from {about['least']}, not {text!r}")
        return int(text)

    option, said = f"--{each.name.replace('_', '-')}", f"{about['help']} (%(default)s)"
    if about["choices"]:
        parser.add_argument(option, choices=about["choices"], default=default, help=said)
    elif isinstance(each.default, tuple):
        parser.add_argument(option, nargs="+", metavar="N", type=number, default=default, help=said)
    else:
        parser.add_argument(option, metavar="N", type=number, default=default, help=said)
