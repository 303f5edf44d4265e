# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments again, with the papers' figures beside ours. Only public data, no budget.

Each folder is a paper: ``data.py`` reads the public files, ``measure.py`` measures, ``paper.py`` holds what
the paper prints, ``exhibits.py`` lists its tables and figures, ``tables.py`` and ``charts.py`` put ours
beside them, and ``study.py`` joins these steps. A further paper is a further folder.

``runner.py`` is the way through one paper, ``__main__.py`` through all, and ``report.py`` makes one page of
what they found. ``results/`` keeps the summaries of one run, which ``docs/results.py`` writes a page from.
"""
