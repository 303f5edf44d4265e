# SPDX-License-Identifier: Apache-2.0
"""A declaration from historical data, by one rule; Böhler et al. 2017 ask for it and do not say how.

A history is public, or the owner's own, and its outliers are known. Nothing protects it, so it must not hold
readings that are to be protected. Ranges are percentiles as in formula (1) of the paper. The model's
parameters are tried on the history itself, perturbed as a sensor would: of those settings that find the known
outliers without perturbation, if there are any, the one that finds most of them after perturbation and
correction while it shows at most 18 % of the readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Booleans, Floats
from anonymaly.core.epsilon import Number
from anonymaly.core.progress import tell
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream.protocol.correction import Gap, Layers, Split, missed_layers, split_suspects
from anonymaly.stream.protocol.declaration import Column, PerturbedColumns, StreamDeclaration
from anonymaly.stream.protocol.perturb import Perturbed, perturb

RADII = (0.1, 0.3, 1.0, 2.0)  # times the noise's scale, which is 1/ε of the range
SHARES = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2)  # of the window
LARGEST_TRIED = 20_000  # readings of the history that settings are tried on
MOST_SHOWN = 0.18  # a little less than a fifth, so that other windows stay below a fifth
FOUND = 0.99


@dataclass(frozen=True)
class Corrected:
    """What the protocol finds in one window, computed without messages: for public data only."""

    suspects: Booleans
    split: Split
    layers: Layers

    @property
    def found(self) -> Booleans:
        """All readings that the owner would look at."""
        layers = self.layers
        return self.split.confirmed | layers.inward | layers.covered | layers.covered_far


def correct(declaration: PerturbedColumns, perturbed: Perturbed, gap: Gap | None = None) -> Corrected:
    """Do what the detector and the corrector do with one window."""
    suspects = declaration.make_model().suspects(declaration.places(perturbed.values))
    split = split_suspects(perturbed.shifts, suspects, gap or declaration.gap, declaration.least_suspects)
    near = far = np.zeros(len(suspects), np.bool_)
    if split.least is not None:
        distances = declaration.distances(perturbed.values)
        near = ~suspects & (distances >= split.least * declaration.precision)
        far = ~suspects & (distances >= (split.least + declaration.layer_steps) * declaration.precision)
    layers = missed_layers(perturbed.shifts, suspects, near, far, split.least, declaration.layer_steps)
    return Corrected(suspects, split, layers)


def suggest(
    history: Floats,
    outliers: Booleans,
    *,
    names: Sequence[str],
    outer: Sequence[Interval],
    epsilon: Number,
    window: int,
    share: float = 0.1,
    noise: Noise | None = None,
) -> StreamDeclaration:
    """Return a declaration that suits the history.

    Parameters
    ----------
    history : array
        Past readings, one row each; nothing in them is protected.
    outliers : array of bool
        Which of them are known to be outliers.
    names : list of str
        The columns.
    outer : list of Interval
        The widest that each column's sensor can show.
    epsilon : number
        The loss per column.
    window : int
        How many readings are to be judged together.
    share : float
        The share of outliers to expect (p_o in the paper): ranges leave half of it out on each side.
    noise : Noise, optional
        For trials that can be repeated: ``Noise.seeded(1)``.

    Examples
    --------
    >>> places = np.concatenate([np.linspace(-3, 3, 900), np.linspace(60, 63, 100)])[:, np.newaxis]
    >>> found = suggest(places, places[:, 0] > 50, names=["volt"], outer=[Interval(-10, 100)], epsilon=1,
    ...                 window=1000, share=0.3, noise=Noise.seeded(1))
    >>> found.columns[0].range.describe(), found.model
    ('-2 to 2.67', 'dbscan')
    """
    if history.ndim != 2 or history.shape != (len(outliers), len(names)) or len(outer) != len(names):
        raise InputError(
            "must have a column for each name and a row for each outlier flag",
            field="history",
            next_step="Give rows of len(names) numbers, and one flag for each row.",
        )
    if not outliers.any() or outliers.all():
        raise InputError(
            "must hold both outliers and others", field="outliers", next_step="Mark past outliers."
        )
    columns = [_column(name, history[:, index], outer[index], share) for index, name in enumerate(names)]
    tried = Noise.system() if noise is None else noise
    return _Trials(columns, history, outliers, epsilon, window, tried).best()


def _column(name: str, values: Floats, outer: Interval, share: float) -> Column:
    low, high = np.percentile(values, [50 * share, 100 - 50 * share])
    # Ends with few digits, so that both lie on a grid with few digits.
    step = float(10.0 ** np.floor(np.log10((high - low) / 100)))
    ends = [
        float(np.round(np.floor(low / step) * step, 12)),
        float(np.round(np.ceil(high / step) * step, 12)),
    ]
    fine = float(np.round(step / 100, 14))
    inside = Interval(max(ends[0], outer.low), min(ends[1], outer.high))
    return Column(name, range=inside, outer=outer, step=fine)


@dataclass(frozen=True)
class _Trials:
    """Settings, tried on the history."""

    columns: list[Column]
    history: Floats
    outliers: Booleans
    epsilon: Number
    window: int
    noise: Noise

    def best(self) -> StreamDeclaration:
        """Return the declaration with the best of the settings."""
        stride = -(-len(self.history) // LARGEST_TRIED)
        rows, known = self.history[::stride], self.outliers[::stride]
        base = self._declare(1.0, 1)
        grid = np.column_stack([column.to_grid(rows[:, i]) for i, column in enumerate(self.columns)])
        perturbed = perturb(base, rows, self.noise)
        plain = Perturbed(grid, np.zeros(len(grid), np.int64))
        settings = [(radius, part) for radius in RADII for part in SHARES]
        ranked = []
        for number, (radius, part) in enumerate(settings):
            trial = self._declare(radius, max(2, round(part * len(rows))))
            tell("settings", number, len(settings))
            before = correct(trial, plain).suspects
            after = correct(trial, perturbed).found
            finds = before[known].mean() >= FOUND and before[~known].mean() <= 1 - FOUND
            shown, recall = after.mean(), after[known].mean()
            fits = shown <= MOST_SHOWN
            # Recall counts in per cents, so that chance does not choose between settings that are equal.
            ranked.append((fits, finds, round(recall, 2) if fits else -shown, -shown, radius, part))
        *_, radius, part = max(ranked)
        return self._declare(radius, max(2, round(part * self.window)))

    def _declare(self, radius: float, neighbours: int) -> StreamDeclaration:
        noise_scale = 1 / float(self.epsilon)
        declared = StreamDeclaration(
            columns=self.columns,
            epsilon=self.epsilon,
            window=self.window,
            layer=0,
            parameters={"radius": float(f"{radius * noise_scale:.6g}"), "neighbours": neighbours},
        )
        grid = np.column_stack([column.to_grid(self.history[:, i]) for i, column in enumerate(self.columns)])
        distances = declared.distances(grid[self.outliers])
        layer = float(f"{np.ptp(distances):.4g}")
        return StreamDeclaration.read({**declared.to_dict(), "layer": layer})
