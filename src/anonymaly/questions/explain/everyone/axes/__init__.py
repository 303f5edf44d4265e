# SPDX-License-Identifier: Apache-2.0
"""Attributes as groups see them: the sets of values that a group may choose of each."""

from __future__ import annotations

from anonymaly.questions.explain.everyone.axes.axis import GroupAxis, Steps

__all__ = ["GroupAxis", "Steps"]
