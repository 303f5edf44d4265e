# SPDX-License-Identifier: Apache-2.0
"""Does a mechanism keep its promise? Testers that try to break it, and mutants that test the testers."""

from anonymaly.audit.mechanism import MechanismLoss, lower_bound

__all__ = ["MechanismLoss", "lower_bound"]
