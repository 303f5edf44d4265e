# SPDX-License-Identifier: Apache-2.0
"""What each question claims, written from its GUARANTEE.md, and the faults that must be found in it."""
