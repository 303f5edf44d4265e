# SPDX-License-Identifier: Apache-2.0
"""Rauch, Olatunji and Khosla 2021, section 5: how unusual is a new record?"""
