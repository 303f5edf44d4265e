# SPDX-License-Identifier: Apache-2.0
"""Access to tables: sources, frames and files, the engines that run statements, typed views, cells."""
