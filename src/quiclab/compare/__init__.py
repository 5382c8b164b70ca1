# SPDX-License-Identifier: Apache-2.0
"""What can be said of a study's arms: comparisons, effects, costs, and how far they can be trusted."""
