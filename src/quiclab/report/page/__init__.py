# SPDX-License-Identifier: Apache-2.0
"""The page of a report, its tables and drawings, and the pages of single pairs."""
