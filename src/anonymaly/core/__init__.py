# SPDX-License-Identifier: Apache-2.0
"""What everything else is built on: values, ε, noise rates, files, progress, threads, compiled functions."""
