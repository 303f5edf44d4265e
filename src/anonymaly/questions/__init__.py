# SPDX-License-Identifier: Apache-2.0
"""One folder for each question; `anonymaly.ask.catalogue` lists them."""
