# SPDX-License-Identifier: Apache-2.0
"""``anonymaly choose``: every way through the tree ends with commands that run under the rule it names."""

from __future__ import annotations

import io
import itertools
import json
import shlex
import sys
from pathlib import Path

import pytest

from anonymaly.ask.catalogue import QUESTIONS
from anonymaly.finding.choosing import DECISIONS, advise
from tests.cli.conftest import Run

MANIFEST = """\
name: patients
source: patients.csv
columns:
  age: {type: interval, low: 0, high: 120}
  ward: {type: categories, values: [A, B, C]}
  consent: {type: flag}
budget: 100
rules:
"""
ENDS = list(itertools.product(*(decision.choices for decision in DECISIONS)))
DIFFERENT = list({(advise(asks=asks, protect=protect, leaves=leaves).commands): (asks, protect, leaves)
                  for asks, protect, leaves in ENDS}.values())  # fmt: skip


@pytest.mark.parametrize(("asks", "protect", "leaves"), ENDS)
def test_every_way_through_the_tree_ends_with_an_advice(asks: str, protect: str, leaves: str) -> None:
    advice = advise(asks=asks, protect=protect, leaves=leaves)
    assert advice.question in ("stream", *QUESTIONS)
    assert advice.promise
    assert advice.commands
    assert {"epsilon"} <= {start.name for start in advice.starts}
    assert all(start.reason for start in advice.starts)
    assert str(advice).count("type next") == len(advice.commands)
    # Who must be protected is: everyone by any of them, others only where they may be left out.
    if protect == "everyone":
        assert advice.rule is None
    # A group is named with everyone protected, whoever asks: no rule is needed.
    if leaves == "group":
        assert (advice.question, advice.rule) == ("explain", None)


@pytest.mark.parametrize(("asks", "protect", "leaves"), DIFFERENT)
def test_the_commands_of_an_advice_run_under_its_rule(
    asks: str, protect: str, leaves: str, run: Run, folder: Path
) -> None:
    shown = json.loads(
        run("choose", "--asks", asks, "--protect", protect, "--leaves", leaves, "--json").stdout
    )
    rule = "" if shown["rule"] is None else f"  {shown['rule']}\n"
    (folder / "patients.yaml").write_text((MANIFEST + rule) if rule else MANIFEST.replace("rules:\n", ""))
    for command in shown["commands"]:
        program, *arguments = shlex.split(command)
        assert program == "anonymaly"
        done = run(*arguments)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    if shown["question"] not in (None, "stream"):
        preview = json.loads(run(*arguments, "--json").stdout)
        assert preview["question"] == shown["question"]
        assert preview["cost"] == shown["start"]["epsilon"]["value"]
        everyone = preview["guarantee"]["relation"]["type"] == "everyone"
        assert everyone is (shown["rule"] is None)


class Terminal(io.StringIO):
    """Input that somebody types."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_whatever_no_flag_says_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "StringIO", Terminal)  # the input that `run` makes
    done = run("choose", "clinic.yaml", "--asks", "analyst", input="nobody\nordinary\nverdict\n")
    assert done.returncode == 0, done.stderr
    assert "Who asks?" not in done.stdout
    assert "Who must be protected?" in done.stdout
    assert "$ anonymaly plan clinic.yaml identify --model rare --for-error 0.01" in done.stdout


def test_without_a_terminal_the_missing_flag_is_named(run: Run) -> None:
    done = run("choose", "--asks", "owner")
    assert done.returncode == 2
    assert "Give --protect, one of everyone, policy, ordinary" in done.stderr
    assert json.loads(run("choose", "--json").stdout)["field"] == "asks"
    assert (
        "One of owner, analyst, public"
        in run("choose", "--asks", "me", "--protect", "x", "--leaves", "y").stderr
    )
    assert sys.stdin is not None
