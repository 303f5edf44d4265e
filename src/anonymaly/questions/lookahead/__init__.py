# SPDX-License-Identifier: Apache-2.0
"""How many records have each value, exactly where nobody is protected?"""
