# SPDX-License-Identifier: Apache-2.0
"""The table of methods that release a histogram; ``rates.py`` says what ε buys in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from anonymaly.questions.share_histogram.methods import rates as rates_of
from anonymaly.questions.share_histogram.methods.method import HistogramMethod

METHODS: Mapping[str, HistogramMethod] = MappingProxyType(
    {
        method.name: method
        for method in (
            HistogramMethod(
                "auto", "choice",
                "hybrid or geometric, by how many records there are; two views, cells and sums",
                rates_of.auto, True, True, chooses=True,
            ),
            HistogramMethod(
                "hybrid", "one_sided",
                "the non-sensitive counts by one_sided_l1 plus the sensitive ones by smoothed",
                rates_of.hybrid, True, True, by_shape=True,
            ),
            HistogramMethod(
                "one_sided", "one_sided", "the non-sensitive counts minus one-sided noise",
                rates_of.one_sided, False, True,
            ),
            HistogramMethod(
                "one_sided_l1", "one_sided",
                "the non-sensitive counts minus one-sided noise, 0 where negative, else plus its median",
                rates_of.one_sided, False, True,
            ),
            HistogramMethod(
                "sample", "one_sided", "the histogram of a sample of the non-sensitive records",
                rates_of.sample, False, True,
            ),
            HistogramMethod(
                "geometric", "geometric", "all counts plus two-sided noise",
                rates_of.geometric, True, False,
            ),
            HistogramMethod(
                "smoothed", "geometric",
                "all counts plus two-sided noise, with neighbours levelled that noise alone tells apart",
                rates_of.geometric, True, False, by_shape=True,
            ),
            HistogramMethod(
                "dawa", "dawa", "totals of privately chosen buckets plus two-sided noise, levelled",
                rates_of.dawa, True, False,
            ),
            HistogramMethod(
                "dawaz", "dawa", "dawa, with cells set to 0 that seem to hold no non-sensitive records",
                rates_of.dawaz, True, True,
            ),
        )
    }
)  # fmt: skip
# What `auto` is by what matters to whoever asks.
CHOOSING: Mapping[str, HistogramMethod] = MappingProxyType(
    {
        "cells": METHODS["auto"],
        "totals": replace(METHODS["auto"], function="auto_totals"),
        "ranges": replace(METHODS["auto"], function="auto_ranges"),
    }
)
# What `auto` was in the first versions: charges of then are still answered by it.
BEFORE = HistogramMethod(
    "auto", "one_sided", "hybrid or one_sided_l1, by how many records are sensitive",
    rates_of.auto_before, True, True, function="auto_before",
)  # fmt: skip
