# SPDX-License-Identifier: Apache-2.0
"""Asif, Vaidya and Papakonstantinou 2021, sections 5 and 9: is this record an anomaly?"""
