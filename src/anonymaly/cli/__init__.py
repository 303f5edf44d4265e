# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per command; the questions' commands are generated from their fields."""
