# SPDX-License-Identifier: Apache-2.0
"""Why the time of a transfer passes: its account, the mechanisms that take it, causes and their proof."""
