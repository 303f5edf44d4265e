# SPDX-License-Identifier: Apache-2.0
"""In which group does this record stand out? After Shafieinejad et al. 2021."""
