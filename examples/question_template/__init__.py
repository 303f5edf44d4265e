# SPDX-License-Identifier: Apache-2.0
"""The question ``proportion``: which part of the records matches? A small complete question, to copy."""
