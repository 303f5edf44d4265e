# SPDX-License-Identifier: Apache-2.0
"""Where a pool's sensors were read before both protocols had pools."""

from anonymaly.stream.protocol.pool import declared_digest

__all__ = ["declared_digest"]
