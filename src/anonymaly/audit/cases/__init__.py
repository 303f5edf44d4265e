# SPDX-License-Identifier: Apache-2.0
"""What each question claims, and the broken variants of it that an audit must reject."""
