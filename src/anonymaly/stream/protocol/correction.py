# SPDX-License-Identifier: Apache-2.0
"""The correction of Böhler et al. 2017 (Figure 2), on whole windows at once.

Which suspects are kept, and which readings may have been missed, is decided by how far each reading moved
from the centre (ddiff in the paper, here ``shifts``). Where the paper leaves a case open:

- no suspects, or fewer than the declared number: there is no distance to look beyond, so the second and
  third layer are empty; the first layer needs neither and stays as it is. All suspects are confirmed,
  whatever their shifts are: what is told of so few must not depend on them;
- one suspect, if one is enough, or all with the same shift: all are confirmed, because there is no gap to
  divide them;
- the gap: as printed, it may lie among readings that moved inward; one suspect that moved far inward, alone,
  then makes all others false, and nearly every outlier is lost (a recall of 0.1 % was measured). A false
  suspect is an ordinary reading that was moved outward, so by default moves inward count as none when gaps
  are measured (``outward``); ``any`` is the printed rule;
- several gaps of the largest size: the last of them divides, so that fewer suspects are taken for false. The
  paper wants to "not remove true positives under any circumstances";
- a negative smallest shift of the confirmed: the second layer is empty, as its two conditions say, and the
  third may share readings with the first. Layers may overlap; what counts is their union.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.stream.protocol.encoding import LARGEST_NUMBER

Gap = Literal["outward", "any"]


@dataclass(frozen=True)
class Split:
    """The suspects that are confirmed, and the smallest shift among them (TP and d_TP in the paper)."""

    confirmed: Booleans
    least: int | None

    def beyond(self, width: int) -> int | None:
        """Return the farther of the two distances (d_TP + w in the paper)."""
        # No larger than a message may hold: sensors that lie say what they like, and must hold up nobody.
        return None if self.least is None else min(self.least + width, LARGEST_NUMBER)


@dataclass(frozen=True)
class Layers:
    """The readings that may be missed outliers (FNL1, FNL2 and FNL3 in the paper)."""

    inward: Booleans
    covered: Booleans
    covered_far: Booleans


def split_suspects(
    shifts: Integers, suspects: Booleans, gap: Gap = "outward", least_suspects: int = 1
) -> Split:
    """Divide the suspects at the largest gap between their sorted shifts (Figure 2, step 3).

    Parameters
    ----------
    shifts
        How far each reading moved from the centre.
    suspects
        Which of them look like outliers after that (O' in the paper).
    gap
        Which gaps count: between moves ``outward``, or ``any``, as printed.
    least_suspects
        With fewer suspects all of them are confirmed and no shift is told; as printed, one is enough.

    Examples
    --------
    >>> split = split_suspects(np.array([5, 90, 7, 0]), np.array([True, True, True, False]))
    >>> split.confirmed.tolist(), split.least
    ([True, False, True, False], 5)
    """
    ordered = np.sort(shifts[suspects])
    if len(ordered) < max(1, least_suspects):
        return Split(suspects.copy(), None)
    # The paper gives the last suspect a gap of 0. Of equal gaps the last one divides.
    compared = np.maximum(ordered, 0) if gap == "outward" else ordered
    gaps = np.append(np.diff(compared), 0)
    threshold = ordered[np.flatnonzero(gaps == gaps.max())[-1]]
    return Split(suspects & (shifts <= threshold), int(ordered[0]))


def missed_layers(
    shifts: Integers, suspects: Booleans, near: Booleans, far: Booleans, least: int | None, width: int
) -> Layers:
    """Return the layers in which missed outliers may lie (Figure 2, step 5).

    Parameters
    ----------
    shifts, suspects
        As for `split_suspects`.
    near, far
        Which readings are no suspects and were perturbed to beyond ``least`` and ``least + width`` of the
        centre (I2 and I3 in the paper).
    least, width
        d_TP and w_O in the paper.

    Examples
    --------
    >>> shifts, no, yes = np.array([-1, 2, 6]), np.zeros(3, bool), np.ones(3, bool)
    >>> layers = missed_layers(shifts, no, yes, yes, least=5, width=3)
    >>> layers.inward.tolist(), layers.covered.tolist(), layers.covered_far.tolist()
    ([True, False, False], [False, True, False], [False, False, True])
    """
    inward = ~suspects & (shifts < 0)
    if least is None:
        nobody = np.zeros(len(shifts), np.bool_)
        return Layers(inward, nobody, nobody.copy())
    covered = near & (shifts >= 0) & (shifts <= least)
    return Layers(inward, covered, far & (shifts >= least) & (shifts <= least + width))
