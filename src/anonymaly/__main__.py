# SPDX-License-Identifier: Apache-2.0
"""``python -m anonymaly``: the same program as the command ``anonymaly``."""

from __future__ import annotations

from anonymaly.cli.main import run

if __name__ == "__main__":
    run()
