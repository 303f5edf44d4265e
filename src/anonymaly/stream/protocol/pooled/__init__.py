# SPDX-License-Identifier: Apache-2.0
"""``correction`` over many sensors: a window holds one perturbed reading of each, by time."""
