# SPDX-License-Identifier: Apache-2.0
"""All decoders. A new one is one file, one line here, and its test."""

from __future__ import annotations

from quiclab.logs.decoders._api import Decoder
from quiclab.logs.decoders.har import Har
from quiclab.logs.decoders.held_up import RunDelays, UdpDrops
from quiclab.logs.decoders.mahimahi_log import MahimahiLog
from quiclab.logs.decoders.mahimahi_trace import MahimahiTrace
from quiclab.logs.decoders.netlog import NetLog
from quiclab.logs.decoders.packet_log import PacketLog
from quiclab.logs.decoders.pcap import Pcap
from quiclab.logs.decoders.pcapng import Pcapng
from quiclab.logs.decoders.player_log import PlayerLog
from quiclab.logs.decoders.process_cost import ProcessCost
from quiclab.logs.decoders.qlog import Qlog
from quiclab.logs.decoders.ss import Ss
from quiclab.logs.decoders.tcp_info_tables import TcpInfo
from quiclab.logs.decoders.trace_events import TraceEvents
from quiclab.logs.decoders.trial_document import TrialDocument

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
