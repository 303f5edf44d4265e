# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per command; the questions' commands are generated from their fields."""

import gc

# Imports make many objects and no garbage: looking for some took an eighth of what `anonymaly ledger` takes.
gc.set_threshold(50_000, 20, 20)
