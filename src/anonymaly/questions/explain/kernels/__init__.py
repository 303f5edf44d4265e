# SPDX-License-Identifier: Apache-2.0
"""What judges a record in every context: a kernel for each detector that has one, and one for the others."""
