# SPDX-License-Identifier: Apache-2.0
"""What everything else stands on: values, ε, progress and compiled loops."""
