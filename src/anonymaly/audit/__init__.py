# SPDX-License-Identifier: Apache-2.0
"""Does a mechanism keep its promise? Testers that try to break it, and broken variants that test the testers."""
