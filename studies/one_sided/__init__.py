# SPDX-License-Identifier: Apache-2.0
"""Kotsogiannis, Doudalis, Haney, Machanavajjhala and Mehrotra 2020, section 6: what may be published?"""
