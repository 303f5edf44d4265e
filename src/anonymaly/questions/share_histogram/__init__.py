# SPDX-License-Identifier: Apache-2.0
"""How many records are there of each kind, when only some are sensitive? (Kotsogiannis et al. 2020)"""
