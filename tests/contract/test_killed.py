# SPDX-License-Identifier: Apache-2.0
"""Killed between any two steps, the next ask is right."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymaly import Curator
from anonymaly.ask.binding import Binding
from anonymaly.ask.catalogue import load
from anonymaly.ask.query import Example
from anonymaly.ask.secret import SecretFile
from anonymaly.ask.store import Store
from anonymaly.core import files
from anonymaly.ledger import Ledger

# Each step is a function on the way, and whether the process dies just before or just after it.
STEPS: list[tuple[Any, str]] = [
    (SecretFile, "begin"),
    (Ledger, "reserve"),
    (Binding, "answer"),
    (Store, "keep"),
    (files.os, "replace"),
    (files, "sync_folder"),
    (Ledger, "commit"),
    (Store, "open"),
]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _ask_and_die(form: tuple[str, int], ledger: Path, step: int, when: str) -> None:
    """Ask, and be killed at one moment: nothing of this process survives but what is on disk."""
    kind = load(form[0])
    example = kind.examples()[form[1]]
    curator = Curator(example.dataset(), budget=10, ledger=ledger)
    owner, name = STEPS[step]
    original = getattr(owner, name)

    def dying(*arguments: Any, **options: Any) -> Any:
        if when == "before":
            _die()
        result = original(*arguments, **options)
        _die()
        return result

    setattr(owner, name, dying)
    curator.ask(example.query)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", range(len(STEPS)), ids=[name for _, name in STEPS])
def test_killed_at_any_step_the_next_ask_is_right(
    form: tuple[str, int],
    example: Example,
    open_curator: Callable[..., Curator],
    tmp_path: Path,
    step: int,
    when: str,
) -> None:
    curator = open_curator()  # opens the account, so that every death is in the middle of a question
    curator.close()
    ledger = tmp_path / "ledger" / "example.ledger"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.warm"])
    process = context.Process(target=_ask_and_die, args=(form, ledger, step, when))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL

    curator = open_curator()
    charged_before = round(curator.spent * 10**9)
    uncharged = ("begin", "before"), ("begin", "after"), ("reserve", "before")
    assert charged_before == (0 if (STEPS[step][1], when) in uncharged else example.query.cost)
    answer = curator.ask(example.query)
    assert round(curator.spent * 10**9) == example.query.cost
    assert [item.number for item in curator.answers()] == [answer.number]
    assert curator.ask(example.query).receipt == answer.receipt
    assert curator.accountant.ledger.verify().ok
    reopened = open_curator()
    assert len(list(reopened.accountant.store.folder.glob("*-*"))) == 1, (
        "a draw that nobody was given was left behind"
    )
