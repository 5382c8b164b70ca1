# SPDX-License-Identifier: Apache-2.0
"""Real programs as endpoints: one file a program, behind one small Protocol."""

from quiclab.endpoints._api import Available, Command, Context, Endpoint, Unsupported
from quiclab.endpoints._registry import ENDPOINTS, find

__all__ = ["ENDPOINTS", "Available", "Command", "Context", "Endpoint", "Unsupported", "find"]
