# SPDX-License-Identifier: Apache-2.0
"""What a run of all audits found, as plain data and plain words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from anonymaly.audit.report import AuditReport


@dataclass(frozen=True)
class AuditForm:
    """How much a run does, and so what it can say.

    ``power`` is the part of ε that must be seen where all of it is known to be lost, ``factor`` by how much
    noise that is too small is then caught, and ``at`` says at which ε.
    """

    name: str
    power: float
    factor: str
    at: str
    rounds: int
    most_pairs: int | None


@dataclass(frozen=True)
class Chances:
    """How the false alarms of a run are shared: by Bonferroni, whatever depends on what.

    Examples
    --------
    >>> print(Chances(1e-6, bounds=50, fits=100, of_a_fit=1e-9, of_a_fault=1e-7))
    false alarms: 50 bounds at 1.8e-08 and 100 fits at 1e-09 make at most 1e-06 in all
    """

    total: float
    bounds: int
    fits: int
    of_a_fit: float
    of_a_fault: float

    @property
    def of_a_bound(self) -> float:
        """The chance that one bound is above the truth."""
        return (self.total - self.fits * self.of_a_fit) / max(1, self.bounds)

    def to_dict(self) -> dict[str, Any]:
        """Return the arithmetic as plain data."""
        return {
            "total": self.total,
            "bounds": self.bounds,
            "of_a_bound": self.of_a_bound,
            "fits": self.fits,
            "of_a_fit": self.of_a_fit,
            "of_a_fault": self.of_a_fault,
            "words": str(self),
        }

    def __str__(self) -> str:
        return (
            f"false alarms: {self.bounds} bounds at {self.of_a_bound:.2g} and {self.fits} fits at "
            f"{self.of_a_fit:.0e} make at most {self.total:.0e} in all"
        )


@dataclass(frozen=True)
class AuditLine:
    """One case of a question, or one layer of what all questions share."""

    about: str
    report: AuditReport
    claimed: float | None = None
    tight: bool = False
    why: str = ""  # it could not be run
    seconds: float = field(default=0.0, compare=False)

    @property
    def passed(self) -> bool:
        """Whether no violation was found, and one could have been."""
        return bool(self.report.findings) and self.report.passed

    def number(self, check: str, name: str) -> float | None:
        """Return a number of a check, if it was made."""
        found = [item.numbers.get(name) for item in self.report.findings if item.check == check]
        return None if not found or found[0] is None else float(found[0])

    @property
    def at_least(self) -> float | None:
        """The measured lower bound."""
        return self.number("loss", "at_least")

    @property
    def part(self) -> float | None:
        """The lower bound as a part of what is claimed."""
        return None if self.at_least is None or not self.claimed else self.at_least / self.claimed

    @property
    def exact(self) -> float | None:
        """The largest loss on all pairs, where the law is known."""
        return self.number("exact loss", "exact")

    def of_layer(self, layer: str) -> str:
        """Say in a word what a layer found."""
        found = [item for item in self.report.findings if item.layer == layer]
        if not found:
            return "–"
        if all(item.passed for item in found):
            return "ok"
        return "VIOLATION" if any(not item.passed and not item.power for item in found) else "NO POWER"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {
            "about": self.about,
            "claimed": self.claimed,
            "at_least": self.at_least,
            "exact": self.exact,
            "tight": self.tight,
            **self.report.to_dict(),
            "passed": self.passed,
            "seconds": round(self.seconds, 2),
            **({"not_run": self.why} if self.why else {}),
        }


@dataclass(frozen=True)
class FaultLine:
    """One planted fault: whether its layer saw it; None if it was not planted in this run, and why not."""

    about: str
    name: str
    layer: str
    caught: bool | None
    why: str = ""
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        return f"{self.about}: {self.name} ({self.layer}){f': {self.why}' if self.why else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {
            "about": self.about,
            "fault": self.name,
            "layer": self.layer,
            "caught": self.caught,
            "seconds": round(self.seconds, 2),
            **({"not_run": self.why} if self.why else {}),
        }


@dataclass(frozen=True)
class AuditRun:
    """All that a run found."""

    form: AuditForm
    lines: tuple[AuditLine, ...]
    faults: tuple[FaultLine, ...]
    chances: Chances
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether no violation was found, no planted fault survived, and the audit had its power."""
        return all(line.passed or line.why for line in self.lines) and not self.survivors

    @property
    def unrun(self) -> tuple[AuditLine, ...]:
        """The lines that could not be run, because this machine lacks what they need."""
        return tuple(line for line in self.lines if line.why)

    @property
    def cases(self) -> tuple[AuditLine, ...]:
        """The lines that have a claim."""
        return tuple(line for line in self.lines if line.claimed is not None)

    @property
    def survivors(self) -> tuple[FaultLine, ...]:
        """The faults that were planted and not seen."""
        return tuple(fault for fault in self.faults if fault.caught is False)

    @property
    def figures(self) -> dict[str, Any]:
        """The numbers of the run."""
        parts = [line.part for line in self.cases if line.part is not None]
        tight = [line.part for line in self.cases if line.tight and line.part is not None]
        run = Counter(fault.caught for fault in self.faults)
        return {
            "cases": len(self.cases),
            "bounds": len(parts),
            "tight": len(tight),
            "highest_part": max(parts, default=None),
            "lowest_tight_part": min(tight, default=None),
            "faults": len(self.faults),
            "planted": run[True] + run[False],
            "caught": run[True],
            "seconds": round(self.seconds, 1),
        }

    def by_layer(self) -> dict[tuple[str, str], Counter[bool | None]]:
        """Count the faults of each question and layer by what became of them."""
        found: dict[tuple[str, str], Counter[bool | None]] = {}
        for fault in self.faults:
            found.setdefault((fault.about, fault.layer), Counter())[fault.caught] += 1
        return found

    def words(self) -> list[str]:
        """Say what was found, in plain words."""
        figures = self.figures
        broken = [
            f"{line.report.name}: {item.layer}: {item.check}: {item.words}"
            for line in self.lines
            for item in line.report.findings
            if not item.passed
        ]
        planted = f"{figures['caught']} of {figures['planted']} planted faults were caught"
        left = figures["faults"] - figures["planted"]
        said = [
            *broken,
            *(f"survived: {fault}" for fault in self.survivors),
            *(f"not run: {line.report.name}: {line.why}" for line in self.unrun),
            self.sentence(),
            f"{planted}, each by its layer{f'; {left} more are listed and were not planted' if left else ''}",
            str(self.chances),
            f"a planted fault is rejected by chance at most once in {1 / self.chances.of_a_fault:,.0f}",
        ]
        return said if self.chances.bounds else [text for text in said if text != str(self.chances)]

    def sentence(self) -> str:
        """Return what may be said of the promises after this run."""
        if not self.passed:
            return "this audit did not pass"
        if self.unrun:
            ran = replace(self, lines=tuple(line for line in self.lines if not line.why))
            names = ", ".join(line.report.name for line in self.unrun)
            return f"{ran.sentence()}; nothing is said of what did not run here: {names}"
        if not self.chances.bounds:
            return "no violation found"
        measured = [line for line in self.cases if line.part is not None]
        tight = f"noise too small by {self.form.factor}x at {self.form.at}"
        if not any(line.tight for line in measured):
            caught = "half the noise would be caught on the tested pairs"
        elif all(line.tight for line in measured):
            caught = f"{tight} would be caught on the tested pairs"
        else:
            caught = f"{tight} would be caught where a tight pair is known, and half the noise elsewhere"
        said = f"no violation found; {caught}"
        rare = [one_in for line in measured if (one_in := line.number("loss", "one_in")) is not None]
        # Of an answer that the other table never gives; against an exact law fewer may be seen, too.
        return (
            f"{said}; a violation in answers rarer than about 1 in {min(rare):,.0f} may not be"
            if rare
            else said
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "form": self.form.name,
            "passed": self.passed,
            "words": self.words(),
            "figures": self.figures,
            "false_alarms": self.chances.to_dict(),
            "cases": [line.to_dict() for line in self.cases],
            "shared": [line.to_dict() for line in self.lines if line.claimed is None],
            "faults": [fault.to_dict() for fault in self.faults],
        }
