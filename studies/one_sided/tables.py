# SPDX-License-Identifier: Apache-2.0
"""The paper's tables and figures as tables: our regrets, with what the paper prints beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp
from statistics import fmean

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS
from studies.journal import Entry
from studies.one_sided.data import HISTOGRAMS, sparsity
from studies.one_sided.measure import MEASURES, SUPPRESS
from studies.one_sided.paper import EPSILONS, POLICIES, PUBLISHED_DAWA, RATIOS, RELEASED, SCALES, SIX_METHODS
from studies.table import Line, Table

FIGURE_RATIOS = RATIOS[:5]  # Figures 7 and 8 leave the smallest shares out
DATASET_RATIOS = ("0.99", "0.50", "0.25")
FORMS: dict[Adjacency, str] = {"replace": "replace", "add_remove": "add/remove"}
LEAST_RELATIVE = 0.01  # smaller percentiles count as this one; in sparse histograms they are often 0

Chosen = Callable[[Entry], bool]


class Regrets:
    """How many times as large as the best method's each method's error is.

    Examples
    --------
    >>> results = {"1": {"a": {"mre": 1.0}, "b": {"mre": 3.0}}}
    >>> Regrets([{"results": results}], ("a", "b")).mean("b", "1", "mre")
    3.0
    """

    def __init__(self, entries: Iterable[Entry], against: Sequence[str] = tuple(METHODS)) -> None:
        self.entries, self._against = list(entries), tuple(against)

    def of(self, entry: Entry, method: str, epsilon: str, measure: str) -> float:
        """Return a method's regret on one input."""
        results = entry["results"][epsilon]
        least = LEAST_RELATIVE if measure.startswith("rel") else 0.0
        best = min(max(results[name][measure], least) for name in self._against)
        return float(max(results[method][measure], least) / best)

    def mean(self, method: str, epsilon: str, measure: str, chosen: Chosen = lambda entry: True) -> float:
        """Return a method's mean regret over the chosen inputs."""
        return fmean(self.of(entry, method, epsilon, measure) for entry in self.entries if chosen(entry))


def all_tables(
    entries: Sequence[Entry], histograms: Mapping[str, Integers], runs: int, form: Adjacency
) -> list[Table]:
    """Return all tables."""
    regrets = Regrets(entries)
    return [
        released_table(histograms),
        scale_table(histograms),
        dawa_table(entries, runs, form),
        overall_table(regrets, Regrets(entries, SIX_METHODS)),
        *(ratio_table(regrets, epsilon) for epsilon in EPSILONS),
        *(policy_table(regrets, number, measure) for number, measure in ((7, "mre"), (8, "rel95"))),
        dataset_table(regrets),
        suppress_table(regrets),
    ]


def released_table(histograms: Mapping[str, Integers]) -> Table:
    """Return Table 1: the share of non-sensitive records that a sample holds."""
    name, counts = max(histograms.items(), key=lambda item: int(item[1].sum()))
    lines: list[Line] = []
    for epsilon, paper in RELEASED.items():
        method = METHODS["sample"]
        rates = method.rates(int(float(epsilon) * 10**9), adjacency="replace", bins=len(counts))
        kept = method.run(counts, counts, rates=rates, noise=Noise.seeded(1)).sum() / counts.sum()
        lines.append((epsilon, paper, 1 - exp(-float(epsilon)), float(kept)))
    note = f"Measured: all records of {name} not sensitive, one draw."
    heads = ("ε", "paper", "1 - e^-ε", "measured")
    return Table("Table 1. Share of non-sensitive records released by sample", heads, tuple(lines), note)


def scale_table(histograms: Mapping[str, Integers]) -> Table:
    """Return Table 2: the histograms."""
    found = sparsity(histograms)
    lines = tuple((name, *SCALES.get(name, ("", "")), *found[name]) for name in histograms)
    heads = ("", "paper: sparsity", "scale", "ours: sparsity", "scale")
    return Table("Table 2. The histograms", heads, lines)


def dawa_table(entries: Sequence[Entry], runs: int, form: Adjacency) -> Table:
    """Return the errors of the differentially private methods at ε = 1 beside the published code's."""
    lines: list[Line] = []
    for name in present_histograms(entries):
        chosen = [entry["results"]["1"] for entry in entries if entry["histogram"] == name]
        mean = {
            (method, measure): fmean(results[method][measure] for results in chosen)
            for method in ("dawa", "smoothed") for measure in ("mre", "l1")
        }  # fmt: skip
        published = PUBLISHED_DAWA.get(name, float("nan"))
        lines.append(
            (
                name, published, mean["dawa", "mre"], mean["dawa", "mre"] / published, mean["dawa", "l1"],
                mean["smoothed", "mre"], mean["smoothed", "mre"] / published, mean["smoothed", "l1"],
            )
        )  # fmt: skip
    heads = ("", "published, not private: MRE", "dawa: MRE", "ratio", "L1", "smoothed: MRE", "ratio", "L1")
    draws = len(chosen) * runs
    note = f"Means over {draws} draws each: these methods do not look at the policy."
    return Table(f"Errors of DAWA at ε = 1, {FORMS[form]} form", heads, tuple(lines), note)


def overall_table(regrets: Regrets, among_papers: Regrets) -> Table:
    """Return the mean regret over all inputs."""
    lines: list[Line] = []
    for method in METHODS:
        figures = [regrets.mean(method, epsilon, measure) for measure in MEASURES for epsilon in EPSILONS]
        theirs = [among_papers.mean(method, e, "mre") if method in SIX_METHODS else "" for e in EPSILONS]
        lines.append((method, *figures, *theirs))
    heads = ("", *(f"{measure} {epsilon}" for measure in MEASURES for epsilon in EPSILONS))
    heads += tuple(f"mre {epsilon}, paper's six" for epsilon in EPSILONS)
    note = (
        f"All {len(regrets.entries)} inputs: histograms, both policies, all shares. A regret is the error"
        " over the best method's. In rel50 and rel95, errors below 1 % count as 1 %. The paper says for MRE"
        " at ε = 1, among its six methods: DAWAz below 2, DAWA 6."
    )
    return Table("Mean regret over all inputs, by measure and ε", heads, tuple(lines), note)


def ratio_table(regrets: Regrets, epsilon: str) -> Table:
    """Return Figure 6: the mean regret by share of non-sensitive records."""
    lines: list[Line] = [
        (method, *(regrets.mean(method, epsilon, "mre", chosen_at(ratio=ratio)) for ratio in RATIOS))
        for method in METHODS
    ]
    return Table(
        f"Figure 6. Regret of MRE by share, both policies, ε = {epsilon}", ("", *RATIOS), tuple(lines)
    )


def policy_table(regrets: Regrets, number: int, measure: str) -> Table:
    """Return Figure 7 or 8: the mean regret by policy and share, at ε = 1."""
    lines: list[Line] = [
        (
            method,
            *(
                regrets.mean(method, "1", measure, chosen_at(ratio=ratio, policy=policy))
                for policy in POLICIES
                for ratio in FIGURE_RATIOS
            ),
        )
        for method in METHODS
    ]
    heads = ("", *(f"{policy} {ratio}" for policy in POLICIES for ratio in FIGURE_RATIOS))
    return Table(f"Figure {number}. Regret of {measure.upper()} by policy, ε = 1", heads, tuple(lines))


def dataset_table(regrets: Regrets) -> Table:
    """Return Figure 9: the regret on each histogram, Close policy, ε = 1."""
    lines: list[Line] = [
        (
            f"{name} {ratio}",
            *(
                regrets.mean(method, "1", "mre", chosen_at(ratio=ratio, policy="Close", histogram=name))
                for method in METHODS
            ),
        )
        for ratio in DATASET_RATIOS
        for name in present_histograms(regrets.entries)
    ]
    return Table("Figure 9. Regret of MRE by histogram, Close policy, ε = 1", ("", *METHODS), tuple(lines))


def suppress_table(regrets: Regrets) -> Table:
    """Return Figure 10: PDP's Suppress beside what is private."""
    methods = ("one_sided_l1", "auto", *SUPPRESS)
    lines: list[Line] = [
        (method, *(regrets.mean(method, "1", "mre", chosen_at(ratio=ratio)) for ratio in RATIOS))
        for method in methods
    ]
    note = (
        "Suppress adds noise for a threshold of 10 or 100 instead of ε = 1 and is open to exclusion attacks "
        "of that size; its regret is against the methods that are not, and may be below 1."
    )
    return Table("Figure 10. Regret of MRE beside Suppress, ε = 1", ("", *RATIOS), tuple(lines), note)


def chosen_at(**fields: str) -> Chosen:
    """Return the choice of inputs that have these fields."""
    return lambda entry: all(entry[name] == value for name, value in fields.items())


def present_histograms(entries: Sequence[Entry]) -> list[str]:
    """Return the names of the histograms, in the paper's order."""
    present = dict.fromkeys(entry["histogram"] for entry in entries)
    return sorted(present, key=lambda name: HISTOGRAMS.index(name) if name in HISTOGRAMS else len(HISTOGRAMS))
