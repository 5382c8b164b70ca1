# SPDX-License-Identifier: Apache-2.0
"""Words for what keeps a file from being read as JSON."""

from __future__ import annotations

import json


def json_trouble(error: Exception) -> str:
    """Reason, as a sentence has it after a colon, for an OSError, ValueError or RecursionError that reading JSON
    raised."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON from line {error.lineno}, column {error.colno} on"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if "integer string conversion" in str(error):  # sys.get_int_max_str_digits()
        return "it holds a number with too many digits"
    return str(error)
