# SPDX-License-Identifier: Apache-2.0
"""Releases of one program as the axis of a study, and the search for those that changed its time."""
