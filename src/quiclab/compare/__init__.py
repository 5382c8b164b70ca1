# SPDX-License-Identifier: Apache-2.0
"""Comparison of a study's arms: differences, effects, costs, and how far they can be trusted."""
