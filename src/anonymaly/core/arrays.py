# SPDX-License-Identifier: Apache-2.0
"""Short names for the types of arrays that the package passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words64 = npt.NDArray[np.uint64]
