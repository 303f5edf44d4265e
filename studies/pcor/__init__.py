# SPDX-License-Identifier: Apache-2.0
"""Shafieinejad, Kerschbaum and Ilyas 2021 (PCOR), section 6: in which group does a record stand out?"""
