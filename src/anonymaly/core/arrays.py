# SPDX-License-Identifier: Apache-2.0
"""The names of the kinds of arrays that everything here passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words64 = npt.NDArray[np.uint64]
