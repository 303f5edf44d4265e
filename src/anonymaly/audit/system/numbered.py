# SPDX-License-Identifier: Apache-2.0
"""One ask with an error at its n-th operation, on a table and on its neighbour; all of it from one seed."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymaly.ask.curator import Curator
from anonymaly.audit.system.call_operations import call_operations, clock_operations
from anonymaly.audit.system.database_operations import database_operations
from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.file_operations import file_operations
from anonymaly.audit.system.invariants import AskOutcome, Witness, violations
from anonymaly.audit.system.operations import ERRORS, KINDS, LASTING, Kind, NumberedFault, Operations
from anonymaly.audit.system.setting import NAME, AskSetting
from anonymaly.audit.system.sqlite_sync import sqlite_operations
from anonymaly.errors import InputError

Elsewhere = Callable[[AskSetting, Path, bool], AskOutcome]
_READS_ROWS = re.compile(r"engine/|kernels/|compiled |\w+/value\.|ask/encoding")  # calls that see rows


@dataclass(frozen=True)
class FaultRun:
    """What came of one ask with one fault."""

    outcome: AskOutcome
    operations: Sequence[str]
    phases: Sequence[str]
    hit: str | None
    log: str
    problems: Sequence[str]


def fault_of(seed: int, setting: AskSetting, kind: Kind, number: int) -> NumberedFault:
    """Return the fault that a seed makes of a number: which error, and whether it lasts."""
    draw = random.Random(f"{seed}:{setting.name}:{kind}:{number}")
    error = draw.choice(ERRORS[kind])
    return NumberedFault(kind, number, error, lasting=error in LASTING and draw.random() < 0.3)


def run(
    setting: AskSetting,
    folder: Path,
    fault: NumberedFault | None,
    *,
    kind: Kind,
    seed: int = 0,
    neighbour: bool = False,
    elsewhere: Elsewhere | None = None,
) -> FaultRun:
    """Open an account in an empty folder and ask, with one fault or none, and check all that must hold."""
    setting.prepare(folder, neighbour=neighbour)
    operations = Operations(fault)
    witness = Witness(setting, folder, operations, seed)
    operations.phase, operations.words = lambda: witness.phase, lambda name: _words(witness, kind, name)
    curator: Curator | None = None
    with witness.watching(), _temporary(folder / "temporary"):
        try:
            with _seam(kind, operations, folder):
                curator = setting.open(folder, neighbour=neighbour)
                first = witness.ask(curator)
        except BaseException as problem:
            witness.pass_on(problem)
            first = AskOutcome.of_error(problem)
    names, phases, log = list(operations.names), list(operations.phases), witness.output.getvalue()
    found = violations(witness, first, curator, neighbour=neighbour, elsewhere=elsewhere)
    return FaultRun(first, names, phases, operations.hit, log, found)


def problems_of(
    setting: AskSetting, kind: Kind, number: int, *, seed: int = 0, elsewhere: Elsewhere | None = None
) -> Iterator[str]:
    """Yield what one fault breaks, on a table or on its neighbour, and what tells the two apart."""
    fault = fault_of(seed, setting, kind, number)
    with tempfile.TemporaryDirectory() as name:
        runs = []
        # Not the same, of which some library may remember that it was there; but messages name it.
        folders = [Path(name) / "account 1", Path(name) / "account 2"]
        for neighbour, folder in enumerate(folders):
            folder.mkdir()
            runs.append(
                run(
                    setting,
                    folder,
                    fault,
                    kind=fault.kind,
                    seed=seed,
                    neighbour=bool(neighbour),
                    elsewhere=elsewhere,
                )
            )
            shutil.rmtree(folder)
    told, other = runs
    place = Place(seed, setting.name, fault.kind, fault.number)
    where = f"REPLAY={place} ({fault}, which is {told.hit})"
    for each, table in zip(runs, ("", "the neighbour: "), strict=True):
        yield from (f"{where}: {table}{problem}" for problem in each.problems)
    outcomes = [_without_names(str(each.outcome.told), folders) for each in runs]
    # Also if one table has fewer operations, so that the fault strikes in the other alone.
    if (told.hit or other.hit) and outcomes[0] != outcomes[1]:
        yield f"{where}: {outcomes[0]}, and on the neighbour {outcomes[1]}"
    if told.hit == other.hit and _without_names(told.log, folders) != _without_names(other.log, folders):
        yield f"{where}: what is logged depends on rows: {told.log!r}, {other.log!r}"


def _without_names(text: str, folders: Sequence[Path]) -> str:
    """Leave out what is another in every run: folders, the ledger's own name, and addresses in memory."""
    for folder in folders:
        text = text.replace(str(folder), "…")
    return re.sub(r"0x[0-9a-f]+|[0-9a-f]{12,}", "…", text)


def count_operations(setting: AskSetting, kind: Kind, *, seed: int = 0) -> FaultRun:
    """Ask without a fault, so that the operations are known."""
    with tempfile.TemporaryDirectory() as name:
        return run(setting, Path(name), None, kind=kind, seed=seed)


def _words(witness: Witness, kind: Kind, name: str) -> str:
    """Return what an engine may say of the rows that it reads."""
    reads = kind == "database" or (kind == "call" and _READS_ROWS.match(name) is not None)
    return f"could not convert {NAME}" if reads and witness.phase == "drawing" else ""


def _seam(kind: Kind, operations: Operations, folder: Path) -> AbstractContextManager[None]:
    match kind:
        case "file":
            return file_operations(operations, [folder])
        case "sqlite":
            return sqlite_operations(operations)
        case "database":
            return database_operations(operations)
        case "clock":
            return clock_operations(operations)
        case "call":
            return call_operations(operations)


@contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """Let temporary files be made in a folder that is looked at afterwards."""
    with replaced(tempfile, "tempdir", str(folder)):
        yield


@dataclass(frozen=True)
class Place:
    """Names one fault of all, as ``seed:setting/kind:number``, so that it can be seen again.

    Examples
    --------
    >>> Place.read("7:sqlite+csv/file:31")
    Place(seed=7, setting='sqlite+csv', kind='file', number=31)
    >>> str(Place.read("7:sqlite+csv/file:31"))
    '7:sqlite+csv/file:31'
    """

    seed: int
    setting: str
    kind: Kind
    number: int

    def __str__(self) -> str:
        return f"{self.seed}:{self.setting}/{self.kind}:{self.number}"

    @classmethod
    def read(cls, text: str) -> Place:
        """Read what ``str`` writes."""
        try:
            seed, named, number = text.split(":")
            setting, kind = named.split("/")
            return cls(int(seed), setting, KINDS[KINDS.index(kind)], int(number))
        except ValueError:
            raise InputError(
                f"{text!r} names no fault", field="REPLAY", next_step="Write seed:setting/kind:number."
            ) from None


def some_numbers(seed: int, name: str, phases: Sequence[str], most: int) -> list[int]:
    """Return at most so many numbers of the operations of each phase, evenly spread, by a seed.

    Most operations come before the charge, and those after it matter most.

    Examples
    --------
    >>> phases = ["before"] * 100 + ["drawing"] * 3
    >>> numbers = some_numbers(1, "file", phases, 5)
    >>> len(numbers), numbers[-3:]
    (8, [101, 102, 103])
    """
    chosen = []
    for phase in dict.fromkeys(phases):
        places = [number for number, found in enumerate(phases, start=1) if found == phase]
        stride = max(1, -(-len(places) // most))
        offset = random.Random(f"{seed}:{name}:{phase}").randrange(stride)
        chosen += places[offset::stride]
    return sorted(chosen)
