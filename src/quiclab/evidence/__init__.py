# SPDX-License-Identifier: Apache-2.0
"""Proof of what a trial ran and transferred: verdicts (`verify`), and metrics of what was seen (`metrics`)."""
