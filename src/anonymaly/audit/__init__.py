# SPDX-License-Identifier: Apache-2.0
"""Does a mechanism keep its promise? Testers that try to break it, and mutants that test the testers."""
