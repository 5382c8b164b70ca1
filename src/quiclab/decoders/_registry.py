# SPDX-License-Identifier: Apache-2.0
"""All decoders. A new one is one file, one line here, and its test."""

from __future__ import annotations

from quiclab.decoders._api import Decoder
from quiclab.decoders.har import Har
from quiclab.decoders.looks import RunDelays, UdpDrops
from quiclab.decoders.mahimahi_log import MahimahiLog
from quiclab.decoders.mahimahi_trace import MahimahiTrace
from quiclab.decoders.netlog import NetLog
from quiclab.decoders.packet_log import PacketLog
from quiclab.decoders.pcap import Pcap
from quiclab.decoders.pcapng import Pcapng
from quiclab.decoders.player_log import PlayerLog
from quiclab.decoders.process_cost import ProcessCost
from quiclab.decoders.qlog import Qlog
from quiclab.decoders.ss import Ss
from quiclab.decoders.tcp_info_tables import TcpInfo
from quiclab.decoders.trace_events import TraceEvents
from quiclab.decoders.trial_document import TrialDocument

DECODERS: tuple[Decoder, ...] = (
    Har(),
    MahimahiLog(),
    MahimahiTrace(),
    NetLog(),
    PacketLog(),
    Pcap(),
    Pcapng(),
    PlayerLog(),
    ProcessCost(),
    Qlog(),
    RunDelays(),
    Ss(),
    TcpInfo(),
    TraceEvents(),
    TrialDocument(),
    UdpDrops(),
)
