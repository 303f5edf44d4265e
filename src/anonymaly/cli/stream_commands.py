# SPDX-License-Identifier: Apache-2.0
"""All commands of ``anonymaly stream``: each module adds its own to the first one's."""

from __future__ import annotations

from anonymaly.cli import stream_fetch, stream_operate, stream_pool, stream_watch
from anonymaly.cli.stream import app

__all__ = ["app", "stream_fetch", "stream_operate", "stream_pool", "stream_watch"]
