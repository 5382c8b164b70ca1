# SPDX-License-Identifier: Apache-2.0
"""What a trial proves: verdicts on what ran, and metrics of what was seen."""
