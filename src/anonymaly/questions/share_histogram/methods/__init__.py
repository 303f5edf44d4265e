# SPDX-License-Identifier: Apache-2.0
"""The ways in which a histogram is released: ``table.py`` names them, ``rates.py`` says what ε buys."""
