# SPDX-License-Identifier: Apache-2.0
"""The command line: a file per command, question commands generated from the questions' fields."""
