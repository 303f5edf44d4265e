# SPDX-License-Identifier: Apache-2.0
"""How many records have each value, with noise only where somebody may be protected?"""
