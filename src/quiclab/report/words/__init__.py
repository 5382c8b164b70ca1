# SPDX-License-Identifier: Apache-2.0
"""Results as text: for the terminal, and as tables for the page."""
