# SPDX-License-Identifier: Apache-2.0
"""What smoothing takes a run of cells to cost: public numbers, which previews name.

The row of released counts is cut into runs so that the cost of all runs is smallest: minus the
log-likelihood of each run's level, plus a price for the run. Counts of several columns are cut into boxes, at
the same prices.

- A run of zeros costs ln(n)/10, a run of another level ln(n) + ln(1/(2r)), the latter at least ln(n). Of n
  cells of noise alone, n·e^-(ln n + c) = e^-c would else be taken for counts of about 1/r; the price grows
  with 1/r so that falsely reported mass stays as small as at r = 1/2.
- A level below 2/r is reported as 0. Levels that low cannot be told from a few large counts among zeros, and
  spreading those over zeros is worse than leaving them out, in mean relative error and in total error.
- In `auto` a run that is likelier than zeros by as much as its price costs 1 only, so that dense counts are
  hardly levelled.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

ZEROS_PRICE = 0.1  # of ln n
LEAST_LEVEL = 2.0  # over the rate
PLAIN_PRICE = 1.0  # in auto, of a run that no noise among zeros looks like
PLAIN_RATE = 0.5  # down to this rate a run costs ln n


def run_price(cells: int, rate: float) -> float:
    """Return what a run of another level than 0 costs.

    Examples
    --------
    >>> round(run_price(4096, 1.0), 1), round(run_price(4096, 0.05), 1)
    (8.3, 10.6)
    """
    return log(cells) + max(0.0, log(PLAIN_RATE / rate))


def lone_count(cells: int, rate: Fraction) -> float:
    """Return about how large a count among zeros must be for smoothing to leave it standing.

    Examples
    --------
    >>> round(lone_count(4096, Fraction(1)), 1)
    8.3
    """
    return max(LEAST_LEVEL, run_price(cells, float(rate))) / float(rate)
