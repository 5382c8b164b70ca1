# SPDX-License-Identifier: Apache-2.0
"""Explanation of a transfer's time: its account, the mechanisms that take it, causes and their proof."""
