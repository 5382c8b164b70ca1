# SPDX-License-Identifier: Apache-2.0
"""All formats that can be written. A new one is one file, one line here, and its test."""

from __future__ import annotations

from quiclab.exports._api import Export
from quiclab.exports.har import Har
from quiclab.exports.qlog import Qlog

EXPORTS: tuple[Export, ...] = (Qlog(), Har())
