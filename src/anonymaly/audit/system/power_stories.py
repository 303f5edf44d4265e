# SPDX-License-Identifier: Apache-2.0
"""A power cut after every step of each question, of what is released to a file, and of what an owner does.

What was reported before the cut is there after it, whole; what was not may be there or not.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anonymaly.ask.answer import Answer
from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Example
from anonymaly.ask.reader import Reader
from anonymaly.ask.table import Table
from anonymaly.audit.system.disk import Disk, Image, watched
from anonymaly.audit.system.fault import Problems, replaced
from anonymaly.audit.system.power import SEED, Place, anchored_at, head_of
from anonymaly.core.files import sync_folder
from anonymaly.declare.domain import Interval
from anonymaly.errors import AnonymalyError, BudgetExceeded, LedgerBehindAnchor, Refused
from anonymaly.ledger import Ledger
from anonymaly.questions.count.query import Count

_PARTS = ("ledger", "anchor", "answers", "released")


@dataclass(frozen=True)
class _Asked:
    """How a question was asked, and how many declarations the account had then."""

    options: Mapping[str, Any]
    declarations: int


@dataclass(frozen=True)
class _Cut:
    """A moment at which the power may fail, and what was reported by then."""

    after: str
    image: Image
    entries: frozenset[str]  # hashes
    draws: int
    told: Mapping[tuple[str, str | None], _Asked]  # by keys and digests of answers
    released: Mapping[str, str]  # file → digest
    epoch: int
    head: Place  # of the ledger, when something was last reported
    partly: Image  # what may be left instead


@dataclass
class Teller:
    """Tells a story in a folder, and writes down what is reported, and an image of the disk at every step."""

    folder: Path
    example: Example
    disk: Disk | None = None
    entries: set[str] = field(default_factory=set)
    told: dict[tuple[str, str | None], _Asked] = field(default_factory=dict)
    released: dict[str, str] = field(default_factory=dict)
    draws: int = 0
    epoch: int = 0
    head: Place = (0, 0)
    cuts: list[_Cut] = field(default_factory=list)

    def step(self, what: str) -> None:
        """Take an image of the disk."""
        if self.disk is not None:
            seen = frozenset(self.entries), self.draws, dict(self.told), dict(self.released), self.epoch
            partly = self.disk.image(random.Random(f"{SEED}:{len(self.cuts)}"))
            self.cuts.append(_Cut(what, self.disk.image(), *seen, self.head, partly))

    def open(self, **options: Any) -> Curator:
        """Open the account."""
        return _open(self.folder, self.example, **options)

    def done(self, curator: Curator, what: str) -> None:
        """Write down that something was reported: every entry of the ledger stands from now on."""
        self.entries |= {entry.hash for entry in curator.accountant.ledger.entries()}
        self.head = head_of(curator.accountant.ledger)
        self.step(what)

    def ask(self, curator: Curator, **options: Any) -> Answer:
        """Ask the example's question."""
        answer = curator.ask(self.example.query, **options)
        declarations = len(curator.accountant.ledger.declarations(curator.dataset.name))
        self.told[answer.receipt.key, answer.receipt.digest] = _Asked(options, declarations)
        self.done(curator, "handed over an answer")
        return answer

    def release(self, name: str, write: Callable[[Path], None]) -> None:
        """Write a file for others."""
        path = self.folder / "released" / name
        write(path)
        self.released[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        self.step(f"released {name}")


Story = Callable[[Teller], None]


def _ask(teller: Teller) -> None:
    with closing(teller.open()) as curator:
        value = teller.ask(curator).value
        if isinstance(value, Table):
            for ending in ("parquet", "csv", "arrow"):
                teller.release(f"sample.{ending}", value.write)
        elif hasattr(value, "save"):
            teller.release("model.anonymaly", value.save)
            teller.release("model.anonymaly", value.save)  # in the place of the first


def _amend(teller: Teller) -> None:
    with closing(teller.open()) as curator:
        teller.ask(curator)
        curator.amend(_amended(teller.example), reason="the bounds were too narrow")
        teller.done(curator, "amended")
        teller.ask(curator, repeat=1)


def _raise(teller: Teller) -> None:
    with closing(teller.open()) as curator:
        teller.ask(curator)
        curator.raise_budget(to=200)
        teller.done(curator, "raised")
        teller.ask(curator, repeat=1)


def _grants(teller: Teller) -> None:
    said: dict[str, Any] = {"by": "owner", "reason": "a test"}
    with closing(teller.open()) as curator:
        ledger, name = curator.accountant.ledger, curator.dataset.name
        teller.ask(curator)
        ledger.grant(name, "ada", limit=10**10, **said)
        teller.done(curator, "granted")
        teller.ask(curator, analyst="ada", repeat=1)
        for act in (ledger.pause, ledger.resume):
            act(name, **said)
            teller.done(curator, act.__name__)
        ledger.revoke(name, "ada", **said)
        teller.done(curator, "revoked")


def _epoch(teller: Teller) -> None:
    with closing(teller.open()) as curator:
        teller.ask(curator)
    teller.head = (0, 0)
    (teller.folder / "anchor" / "example.anchor").unlink()  # lost, and the disk knows it
    sync_folder(teller.folder / "anchor")
    with Ledger.open_epoch(
        _ledger(teller.folder), anchor=teller.folder / "anchor" / "example.anchor"
    ) as ledger:
        teller.epoch, teller.head = ledger.head().epoch, head_of(ledger)
        teller.entries |= {entry.hash for entry in ledger.entries()}
        teller.step("began an epoch")


def stories() -> dict[str, tuple[Story, Example]]:
    """Return every story by its name: one for each question's first form, and those of the owner."""
    asked = {f"ask {name}": (_ask, load(name).example()) for name in QUESTIONS}
    acts = {"amend": _amend, "raise": _raise, "grants": _grants, "epoch": _epoch}
    return {**asked, **{name: (story, Count.example()) for name, story in acts.items()}}


def story_cuts(name: str, folder: Path) -> Sequence[_Cut]:
    """Tell a story in an empty folder, and return every moment at which the disk or the world changed."""
    story, example = stories()[name]
    teller, draw = Teller(folder, example), Reader._draw

    def drawn(*arguments: Any) -> Any:
        teller.draws += 1
        teller.step("began to read rows")
        return draw(*arguments)

    for part in _PARTS:
        (folder / part).mkdir()
    with watched(folder, teller.step) as teller.disk:
        for existing in (folder, *folder.iterdir()):
            sync_folder(existing)
        with replaced(Reader, "_draw", drawn):
            story(teller)
    return tuple(teller.cuts)


def story_problems(name: str, *, first: int = 0, stride: int = 1) -> Problems:
    """Cut the power in a story, open what is left, and yield what must not be.

    Parameters
    ----------
    name : str
        Of the story.
    first, stride : int
        Which cuts are tried: all of them, unless told otherwise.
    """
    example = stories()[name][1]
    with TemporaryDirectory() as place:
        cuts = story_cuts(name, Path(place))
    for cut in cuts[first::stride]:
        for image in (cut.image, cut.partly):
            with TemporaryDirectory() as place:
                image.restore(Path(place))
                for problem in _problems(cut, Path(place), example):
                    saved = "" if image is cut.image else ", with a part saved"
                    yield f"{name}, after it {cut.after}{saved}: {problem}"


def _problems(cut: _Cut, folder: Path, example: Example) -> Iterator[str]:
    for name, digest in cut.released.items():
        path = folder / "released" / name
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield f"{name} was released, and is lost or changed"
    if anchored_at(folder / "anchor" / "example.anchor") < cut.head:
        yield "the anchor is behind what was reported"
    try:
        curator = _open_in_any_epoch(cut, folder, example)
    except AnonymalyError as problem:
        yield f"the account does not open: {problem}"
        return
    ledger = curator.accountant.ledger
    try:
        yield from curator.accountant.verify().problems
        if not cut.entries <= {entry.hash for entry in ledger.entries()}:
            yield "an entry that was reported is gone"
        if curator.dataset.name not in ledger.accounts():
            charges = 0
        else:
            charges = len(ledger.reservations(curator.dataset.name))
            answers = {(answer.receipt.key, answer.receipt.digest) for answer in curator.answers()}
            if not cut.told.keys() <= answers:
                yield "an answer that was handed over is gone"
            yield from _asked_again(cut, curator, example)
        if cut.draws > charges:
            yield f"rows were read {cut.draws} times, and {charges} charges are left"
        if ledger.head().epoch < cut.epoch:
            yield "an epoch that was begun is gone"
    except AnonymalyError as problem:
        yield str(problem)
    finally:
        curator.close()


def _asked_again(cut: _Cut, curator: Curator, example: Example) -> Iterator[str]:
    """Ask everything that was answered again, unless whoever asked may not do so any more."""
    declarations = len(curator.accountant.ledger.declarations(curator.dataset.name))
    for told, asked in cut.told.items():
        if asked.declarations != declarations:
            continue  # under another declaration it is another question
        spent = curator.accountant.account.spent
        try:
            receipt = curator.ask(example.query, **asked.options).receipt
        except BudgetExceeded:
            raise
        except Refused:  # a pause, or an analyst whose grant was revoked
            continue
        if (receipt.key, receipt.digest) != told or curator.accountant.account.spent != spent:
            yield "whoever asks again gets another answer than the one that was handed over, or pays again"


def _open_in_any_epoch(cut: _Cut, folder: Path, example: Example) -> Curator:
    """Open the account under the declaration that is in force; a lost anchor needs a new epoch."""
    try:
        ledger = Ledger.open(_ledger(folder), anchor=folder / "anchor" / "example.anchor")
    except LedgerBehindAnchor:
        if cut.epoch:
            raise
        ledger = Ledger.open_epoch(_ledger(folder), anchor=folder / "anchor" / "example.anchor")
    with ledger:
        amended = "example" in ledger.accounts() and len(ledger.declarations("example")) > 1
        limit = ledger.account("example").limit if "example" in ledger.accounts() else None
    return _open(folder, example, amended=amended, budget=100 if limit is None else None)


def _open(folder: Path, example: Example, *, amended: bool = False, budget: int | None = 100) -> Curator:
    return Curator(
        _amended(example) if amended else example.dataset(),
        budget=budget,
        ledger=_ledger(folder),
        anchor=folder / "anchor" / "example.anchor",
        store=folder / "answers",
    )


def _amended(example: Example) -> Any:
    """Return the example's table with a correction in its declaration."""
    return example.dataset(columns={**example.columns, "age": Interval(0, 130)})


def _ledger(folder: Path) -> Path:
    return folder / "ledger" / "example.ledger"
