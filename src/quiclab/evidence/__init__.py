# SPDX-License-Identifier: Apache-2.0
"""Proof of a trial: verdicts on what ran, and metrics of what was seen."""
