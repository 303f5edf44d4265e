# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments again, with the papers' figures beside ours. Only public data, no budget.

Each folder is a paper: ``data.py`` reads the public files, ``measure.py`` measures, ``paper.py`` holds what
the paper prints, ``tables.py`` and ``charts.py`` put both side by side, and ``study.py`` joins these steps.
A further paper is a further folder.
"""
