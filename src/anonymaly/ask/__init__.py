# SPDX-License-Identifier: Apache-2.0
"""The way from a question to its answer: catalogue, query, curator, store and simulation."""
