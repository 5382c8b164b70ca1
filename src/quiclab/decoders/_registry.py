# SPDX-License-Identifier: Apache-2.0
"""All decoders. A new one is one file, one line here, and its test."""

from __future__ import annotations

from quiclab.decoders._api import Decoder
from quiclab.decoders.packet_log import PacketLog
from quiclab.decoders.pcapng import Pcapng
from quiclab.decoders.qlog import Qlog

DECODERS: tuple[Decoder, ...] = (PacketLog(), Pcapng(), Qlog())
