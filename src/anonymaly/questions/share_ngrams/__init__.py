# SPDX-License-Identifier: Apache-2.0
"""Which places do people go to, one after another? Counts of sequences (Kotsogiannis et al. 2020)."""
