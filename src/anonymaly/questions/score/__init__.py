# SPDX-License-Identifier: Apache-2.0
"""How unusual is this new record, against our reference data? A released model scores records offline."""
