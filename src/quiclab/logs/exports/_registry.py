# SPDX-License-Identifier: Apache-2.0
"""All formats that can be written. A new one is one file, one line here, and its test."""

from __future__ import annotations

from quiclab.logs.exports._api import Export
from quiclab.logs.exports.har import Har
from quiclab.logs.exports.qlog import Qlog

EXPORTS: tuple[Export, ...] = (Qlog(), Har())
