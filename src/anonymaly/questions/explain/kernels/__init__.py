# SPDX-License-Identifier: Apache-2.0
"""Kernels: each judges one record in every context at once, as one detector would.

A detector's kernel is the file of this folder that has the detector's name, with one class that derives from
`Kernel`. A detector without such a file is tried on each context in turn, by `generic`. So a kernel for a
further detector is one new file: nothing else names it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from anonymaly.detectors import Detector
from anonymaly.questions.explain.kernels.kernel import Kernel

# Free bits: 16,777,216 contexts, a few seconds and 200 MB on two cores.
MOST_BITS_COMPILED = 24
MOST_BITS_GENERIC = 16  # 65,536 contexts, some minutes on a large table


def has_kernel(detector: Detector) -> bool:
    """Return whether a detector has a kernel of its own. Imports none: a preview compiles nothing.

    Examples
    --------
    >>> from anonymaly.detectors import DETECTORS
    >>> has_kernel(DETECTORS["lof"]), has_kernel(DETECTORS["mad"])
    (True, False)
    """
    return find_spec(f"{__name__}.{detector.name}") is not None


def most_free_bits(detector: Detector) -> int:
    """Return up to how many free bits all contexts can be judged."""
    return MOST_BITS_COMPILED if has_kernel(detector) else MOST_BITS_GENERIC


def kernel_type(detector: Detector) -> type[Kernel[Any, Any]]:
    """Return the kernel that judges as a detector does."""
    name = f"{__name__}.{detector.name if has_kernel(detector) else 'generic'}"
    # Imported here, when rows are read, because most kernels are compiled.
    kinds = [
        kind
        for kind in vars(import_module(name)).values()
        if isinstance(kind, type) and issubclass(kind, Kernel) and kind.__module__ == name
    ]
    if len(kinds) != 1:
        raise AssertionError(f"{name} should define one class that derives from Kernel, not {len(kinds)}")
    return kinds[0]
