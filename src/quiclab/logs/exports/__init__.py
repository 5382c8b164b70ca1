# SPDX-License-Identifier: Apache-2.0
"""Tables to formats that other tools open: one format a file (`qlog.py`, `har.py`), a line each in `_registry.py`."""

from __future__ import annotations

from quiclab.logs.exports._api import Choice, Export, Tables, Written
from quiclab.logs.exports._registry import EXPORTS
from quiclab.logs.exports._tables import open_tables

__all__ = ["EXPORTS", "Choice", "Export", "Tables", "Written", "open_tables"]
