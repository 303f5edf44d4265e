# SPDX-License-Identifier: Apache-2.0
"""One server for all tests of the console that leave it as it is."""

from __future__ import annotations

from tests.server.web.conftest import served

__all__ = ["served"]
