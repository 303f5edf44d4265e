# SPDX-License-Identifier: Apache-2.0
"""What must hold however an ask ended: one checker for every fault.

Never an answer without its charge, a second draw under one charge, a row's value in any output, a ledger that
does not verify, or a lock that is held; what is told does not depend on rows.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from anonymaly.ask import reader
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import Binding
from anonymaly.ask.curator import Curator
from anonymaly.ask.reader import Reader
from anonymaly.audit.system.fault import replaced
from anonymaly.audit.system.operations import Operations
from anonymaly.audit.system.setting import CANARIES, AskSetting
from anonymaly.errors import AnonymalyError
from anonymaly.ledger import Ledger
from anonymaly.noise import Noise

Phase = Literal["before", "charging", "drawing", "ending"]
# A thread that works uses the processor, however busy that is; one that waits for a lock does not.
IDLE_SECONDS, AT_WORK = 10, 0.01


@dataclass(frozen=True)
class AskOutcome:
    """How an ask ended, as its caller sees it."""

    kind: str  # "an answer", or the class of the error
    words: str  # the value, or the error's message
    printed: str = ""  # all that the error holds, with whatever led to it
    ours: bool = True  # whether the error says in our own words what happened, or that nothing could go on

    @classmethod
    def of(cls, answer: Answer) -> AskOutcome:
        """Return the outcome of an ask that was answered."""
        return cls("an answer", json.dumps(answer.to_dict()["value"], sort_keys=True), str(answer))

    @classmethod
    def of_error(cls, problem: BaseException) -> AskOutcome:
        """Return the outcome of an ask that raised an error."""
        ours = isinstance(problem, AnonymalyError | KeyboardInterrupt | MemoryError)
        return cls(type(problem).__name__, str(problem), everything_in(problem), ours)

    @property
    def told(self) -> tuple[str, str]:
        """What must not depend on rows."""
        return (self.kind, "" if self.kind == "an answer" else self.words)


def everything_in(problem: BaseException | None) -> str:
    """Return an error as it is printed, and everything that led to it, printed or not."""
    texts: list[str] = []
    waiting, seen = [problem], set[int]()
    while waiting:
        error = waiting.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            texts += [*traceback.format_exception(error), repr(error)]
            waiting += [error.__cause__, error.__context__]
    return "".join(texts)


@dataclass
class Witness:
    """Looks on from outside while a question is asked, and writes down what must not happen."""

    setting: AskSetting
    folder: Path
    operations: Operations
    seed: int = 0
    phase: Phase = "before"
    draws: int = 0  # how often rows were read
    answers: int = 0  # how often a question went through its stages
    sources: int = 0  # of noise that were made
    values: set[str] = field(default_factory=set)  # that were handed over
    problems: list[str] = field(default_factory=list)
    output: io.StringIO = field(default_factory=io.StringIO)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look on while the block runs."""
        draw, answer = Reader._draw, Binding.answer
        reserve, commit, fail = Ledger.reserve, Ledger.commit, Ledger.fail

        def drawn(*arguments: Any) -> Any:
            self.phase = "drawing"
            self._note_draw()
            return draw(*arguments)

        def answered(*arguments: Any) -> Any:
            self.answers += 1
            return answer(*arguments)

        def beginning(phase: Phase, really: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                self.phase = phase
                return really(*arguments, **named)

            return call

        log = logging.StreamHandler(self.output)
        loggers = [logging.getLogger(name) for name in ("anonymaly", "sqlalchemy")]
        with ExitStack() as stack:
            for owner, name, new in (
                (Reader, "_draw", drawn),
                (Binding, "answer", answered),
                (Ledger, "reserve", beginning("charging", reserve)),
                (Ledger, "commit", beginning("ending", commit)),
                (Ledger, "fail", beginning("ending", fail)),
                (reader, "Noise", _Seeded(self)),
                (sys, "unraisablehook", self._note_unraisable),
            ):
                stack.enter_context(replaced(owner, name, new))
            stack.enter_context(redirect_stdout(self.output))
            stack.enter_context(redirect_stderr(self.output))
            for logger in loggers:
                logger.addHandler(log)
                stack.callback(logger.removeHandler, log)
                # Others may keep an error, and with it connections that must be closed before the next run.
                stack.enter_context(replaced(logger, "propagate", False))
            yield

    def ask(self, curator: Curator) -> AskOutcome:
        """Ask, and compare an answer with the ledger as it stands when the answer is handed over."""
        self.phase = "before"
        before = self._made()
        try:
            answer = curator.ask(self.setting.query)
        except BaseException as problem:
            self.pass_on(problem)
            return AskOutcome.of_error(problem)
        finally:
            made = [now - then for now, then in zip(self._made(), before, strict=True)]
            if max(made) > 1:
                read, answered, drawn = made
                self.problems.append(
                    f"one ask read rows {read} times, went through its stages {answered} times, "
                    f"and made noise {drawn} times"
                )
        outcome = AskOutcome.of(answer)
        self.values.add(outcome.words)
        with self.operations.unheard():
            _, charges = self.setting.reservations(self.folder)
        if [state for _, state, _ in charges] != ["committed"]:
            self.problems.append(f"an answer was handed over, and the charges are {charges}")
        if len(self.values) > 1:
            self.problems.append(f"{len(self.values)} answers were handed over under one charge")
        return outcome

    def _made(self) -> tuple[int, int, int]:
        return self.draws, self.answers, self.sources

    def pass_on(self, problem: BaseException) -> None:
        """Raise what stops the audit itself: an interrupt that nobody planted."""
        if isinstance(problem, KeyboardInterrupt) and self.operations.hit is None:
            raise problem

    def _note_unraisable(self, found: sys.UnraisableHookArgs) -> None:
        """Write what Python prints of an error that nobody can catch."""
        self.output.write(everything_in(found.exc_value))

    def _note_draw(self) -> None:
        self.draws += 1
        with self.operations.unheard():
            _, charges = self.setting.reservations(self.folder)
        if not charges:
            self.problems.append("rows were read before the charge was in the ledger")
        elif all(state != "reserved" for _, state, _ in charges):
            self.problems.append(f"noise was drawn for a question that was {charges[0][1]}")


class _Seeded:
    """Noise for a run that can be repeated: every draw of it has its own."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def system(self) -> Noise:
        self._witness.sources += 1
        return Noise.seeded(1000 * self._witness.seed + self._witness.draws)


def violations(
    witness: Witness,
    first: AskOutcome,
    curator: Curator | None,
    *,
    neighbour: bool = False,
    elsewhere: Callable[[AskSetting, Path, bool], AskOutcome] | None = None,
) -> list[str]:
    """Say what does not hold after an ask ended, whatever happened to it.

    Parameters
    ----------
    witness : Witness
        Who saw it; nothing fails any more.
    first : AskOutcome
        How it ended.
    curator : Curator, optional
        The one that was asked, if it came to that.
    neighbour : bool
        Whether the table is the neighbour.
    elsewhere : callable, optional
        Asks the same in another process.
    """
    return list(_violations(witness, first, curator, neighbour, elsewhere))


def _violations(
    witness: Witness,
    first: AskOutcome,
    curator: Curator | None,
    neighbour: bool,
    elsewhere: Callable[[AskSetting, Path, bool], AskOutcome] | None,
) -> Iterator[str]:
    setting, folder, draws = witness.setting, witness.folder, witness.draws
    yield from _at_once(witness, first)
    witness.operations.fault = None
    later = []
    unverified: list[str] = []
    with witness.watching():
        # In another thread: the one that saw the fault goes through its own locks.
        waiting = curator
        if waiting is not None:
            asked = _in_another_thread(lambda: witness.ask(waiting))
            if asked is None:
                yield "a lock is held: another thread that asks waits for ever"
                return
            later.append(("in the same process", asked))
            waiting.close()
        opened = _in_another_thread(lambda: _open_and_ask(witness, neighbour, unverified))
        if opened is None:
            yield "a lock is held: another thread that opens the account and asks waits for ever"
            return
        later.append(("after opening again", opened))
    # A draw that failed is not made again, so nobody has tried yet whether it let go of the engine.
    if (
        witness.draws == draws
        and first.kind != "an answer"
        and _in_another_thread(_of_another_account) is None
    ):
        yield "a lock is held: another thread that asks about another table waits for ever"
        return
    if elsewhere is not None:
        later.append(("in another process", elsewhere(setting, folder, neighbour)))
    for place, outcome in later:
        if outcome.kind not in ("an answer", "AnswerFailed"):
            yield f"a later ask {place} does not work: {outcome.kind}: {outcome.words}"
    outcomes = {(outcome.kind, outcome.words) for _, outcome in later}
    if first.kind in ("an answer", "AnswerFailed"):
        outcomes.add((first.kind, first.words))
    if len(outcomes) > 1:
        yield f"one charge, {len(outcomes)} outcomes: {sorted(outcomes)}"
    if witness.draws > draws + 1 or (first.kind == "an answer" and witness.draws > draws):
        yield f"rows were read {witness.draws} times under one charge"
    yield from witness.problems
    spent, charges = setting.reservations(folder)
    if len(charges) > 1 or spent != sum(cost for _, _, cost in charges):
        yield f"{len(charges)} charges for one question, {spent} spent"
    elif witness.draws and spent != setting.query.cost:
        yield f"rows were read {witness.draws} times, and {spent} is spent"
    yield from unverified
    yield from _leaks(witness, first)


def _of_another_account() -> AskOutcome:
    setting = AskSetting()
    with TemporaryDirectory() as folder:
        setting.prepare(Path(folder))
        return asked_again(setting, Path(folder), neighbour=False)


def _in_another_thread(work: Callable[[], AskOutcome]) -> AskOutcome | None:
    """Return the outcome of some work in a thread of its own; None if it waits and nothing happens."""
    found: list[AskOutcome] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    idle, used = 0, time.process_time()
    while thread.is_alive() and idle < IDLE_SECONDS:
        thread.join(1)
        now = time.process_time()
        idle, used = (idle + 1 if now - used < AT_WORK else 0), now
    return found[0] if found else None


def _at_once(witness: Witness, first: AskOutcome) -> Iterator[str]:
    """Yield what does not hold as soon as an ask has ended."""
    yield from _leaks(witness, first)
    fault, (_, charges) = witness.operations.fault, witness.setting.reservations(witness.folder)
    if charges and not first.ours:
        yield f"after the charge, {first.kind} is told: {first.words}"
    # On a disk that is gone, nothing can be written any more, and the failure neither.
    gone = fault is None or fault.error == "interrupt" or (fault.lasting and fault.error != "no space")
    if gone or witness.operations.hit_in != "drawing":
        return
    # Whoever sees which draws fail could otherwise learn from as many of them as they like.
    if [state for _, state, _ in charges] == ["reserved"]:
        yield f"a draw failed ({first.kind}), and can be made again under its charge"
    if first.kind not in ("an answer", "AnswerFailed", "LedgerError"):
        yield f"the failure of a draw is told as {first.kind}"


def _open_and_ask(witness: Witness, neighbour: bool, unverified: list[str]) -> AskOutcome:
    """Open the account again, ask, and add what does not verify."""
    try:
        curator = witness.setting.open(witness.folder, neighbour=neighbour)
    except AnonymalyError as problem:
        return AskOutcome.of_error(problem)
    try:
        outcome = witness.ask(curator)
        unverified += [f"does not verify: {text}" for text in curator.accountant.verify().problems]
        left = [path.name for path in curator.accountant.store.folder.glob("partial.*")]
        unverified += [f"unfinished answers are left: {left}"] if left else []
    finally:
        curator.close()
    return outcome


def _leaks(witness: Witness, first: AskOutcome) -> Iterator[str]:
    """Yield where a value of a row is seen by others than the owner."""
    setting, folder = witness.setting, witness.folder
    places = {
        "the outcome": f"{first.words}{first.printed}".encode(),
        "what was printed or logged": witness.output.getvalue().encode(),
        "the ledger": setting.ledger_texts(folder),
    }
    for path in folder.rglob("*"):
        if path.is_file() and "source" not in path.relative_to(folder).parts:
            places[str(path.relative_to(folder))] = path.read_bytes()
    for place, content in places.items():
        if any(canary in content for canary in CANARIES):
            yield f"a row's value is in {place}"


def asked_again(setting: AskSetting, folder: Path, neighbour: bool) -> AskOutcome:
    """Ask in a process that saw nothing of the fault: what it gets is stored, or drawn under the charge."""
    try:
        curator = setting.open(folder, neighbour=neighbour)
    except AnonymalyError as problem:
        return AskOutcome.of_error(problem)
    try:
        return AskOutcome.of(curator.ask(setting.query))
    except Exception as problem:
        return AskOutcome.of_error(problem)
    finally:
        curator.close()
