# SPDX-License-Identifier: Apache-2.0
"""Who is missing? Access control and Suppress give it away, a one-sided sample does not.

    python examples/exclusion_attack.py [folder]

prints what an attacker believes after each kind of release, and draws it into the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from anonymaly.audit.exclusion import draw_attack, exclusion_attack


def main(folder: Path) -> None:
    outcomes = exclusion_attack()
    print("Bob is missing from the release. Believed before: he is in the lounge with 20.0%; after:")
    for outcome in outcomes:
        print(f"  {outcome}")
    for path in draw_attack(outcomes, folder):
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
