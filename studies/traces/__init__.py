# SPDX-License-Identifier: Apache-2.0
"""Kotsogiannis, Doudalis, Haney, Machanavajjhala and Mehrotra 2020, Figures 1 to 5: what do traces teach?"""
