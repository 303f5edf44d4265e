# SPDX-License-Identifier: Apache-2.0
"""Böhler, Bernau and Kerschbaum 2017, section 7: which readings of a sensor are faults?"""
