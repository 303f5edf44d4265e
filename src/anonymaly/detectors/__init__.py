# SPDX-License-Identifier: Apache-2.0
"""Detectors by name: deterministic rules that say whether one value stands out among others.

A new detector is one file in this folder: a frozen dataclass that derives from `Detector`. It is found by its
name, and works for every question that tries it group by group. A file in ``questions/explain/kernels``
called like that name makes it fast.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from anonymaly.detectors.detector import Detector, decimal
from anonymaly.detectors.grubbs import Grubbs
from anonymaly.detectors.histogram import Histogram
from anonymaly.detectors.local_outlier_factor import LocalOutlierFactor
from anonymaly.detectors.median_absolute_deviation import MedianAbsoluteDeviation

__all__ = [
    "DETECTORS",
    "Detector",
    "Grubbs",
    "Histogram",
    "LocalOutlierFactor",
    "MedianAbsoluteDeviation",
    "decimal",
]


def _found() -> dict[str, Detector]:
    """Return one detector of every class in this folder, with its default parameters."""
    detectors: dict[str, Detector] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for kind in vars(import_module(module.name)).values():
            if not isinstance(kind, type) or kind is Detector or kind.__module__ != module.name:
                continue
            if issubclass(kind, Detector):
                detectors[kind.name] = kind()
    return dict(sorted(detectors.items()))


DETECTORS: dict[str, Detector] = _found()
