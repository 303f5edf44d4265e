# SPDX-License-Identifier: Apache-2.0
"""Where `OpenWindows` was before both protocols had pools."""

from anonymaly.stream.protocol.open_windows import OpenWindows

__all__ = ["OpenWindows"]
