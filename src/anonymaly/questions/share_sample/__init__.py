# SPDX-License-Identifier: Apache-2.0
"""Which records may be published as they are? One-sided privacy (Kotsogiannis et al. 2020)."""
