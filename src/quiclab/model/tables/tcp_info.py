# SPDX-License-Identifier: Apache-2.0
"""Linux's report about its TCP connections: `struct tcp_info`, field by field."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import NEVER, Column, DataType, log_table
from quiclab.model.tables._common import CONNECTION, TIME, VANTAGE

_OLD_KERNEL = "this kernel's struct ends before it, or the socket is closed (`FIN_WAIT_2` alone)"
_NO_BBR = "not BBR"
_NO_MEMORY = "not asked for"
_NO_INFO = "a closed socket, of which the kernel tells the state alone (`FIN_WAIT_2`)"

_INFO: tuple[tuple[str, DataType, str], ...] = (
    ("retransmits", pl.UInt8, "Retransmission timeouts in a row."),
    ("probes", pl.UInt8, "Unanswered window or keepalive probes."),
    ("backoff", pl.UInt8, "How often the timeout was doubled."),
    ("options", pl.UInt8, "Bits: timestamps, SACK, window scale, ECN, ECN seen, SYN data."),
    ("rto_us", pl.UInt32, "Retransmission timeout."),
    ("ato_us", pl.UInt32, "Timeout of delayed acknowledgments."),
    ("snd_mss_bytes", pl.UInt32, "Maximum segment size for sending."),
    ("rcv_mss_bytes", pl.UInt32, "Maximum segment size as seen from the peer."),
    ("unacked", pl.UInt32, "Segments sent and not acknowledged."),
    ("sacked", pl.UInt32, "Segments of these that SACK reported."),
    ("lost", pl.UInt32, "Segments of these that are considered lost."),
    ("retrans", pl.UInt32, "Retransmitted segments of these."),
    ("fackets", pl.UInt32, "No longer used."),
    ("last_data_sent_ms", pl.UInt32, "Time since data was last sent."),
    ("last_ack_sent_ms", pl.UInt32, "No longer used."),
    ("last_data_recv_ms", pl.UInt32, "Time since data last arrived."),
    ("last_ack_recv_ms", pl.UInt32, "Time since an acknowledgment last arrived."),
    ("pmtu_bytes", pl.UInt32, "Path MTU."),
    ("rcv_ssthresh_bytes", pl.UInt32, "Bound on the receive window offered."),
    ("rtt_us", pl.UInt32, "Smoothed round-trip time."),
    ("rttvar_us", pl.UInt32, "Mean deviation of the round-trip time."),
    ("snd_ssthresh", pl.UInt32, "Slow start threshold in segments; 2147483647 before it is set."),
    ("snd_cwnd", pl.UInt32, "Congestion window in segments."),
    ("advmss_bytes", pl.UInt32, "Maximum segment size that was announced."),
    ("reordering", pl.UInt32, "By how many segments reordering is tolerated."),
    ("rcv_rtt_us", pl.UInt32, "Round-trip time as the receiver estimates it."),
    ("rcv_space_bytes", pl.UInt32, "Bytes read per round trip, for tuning the buffer."),
    ("total_retrans", pl.UInt32, "Segments retransmitted so far."),
    ("pacing_rate_bytes_per_s", pl.UInt64, "Pacing rate; all ones without a bound."),
    ("max_pacing_rate_bytes_per_s", pl.UInt64, "Bound of the pacing rate; all ones without one."),
    ("bytes_acked", pl.UInt64, "Bytes acknowledged so far."),
    ("bytes_received", pl.UInt64, "Bytes received in order so far."),
    ("segs_out", pl.UInt32, "Segments sent so far."),
    ("segs_in", pl.UInt32, "Segments received so far."),
    ("notsent_bytes", pl.UInt32, "Bytes in the send buffer that were not sent yet."),
    ("min_rtt_us", pl.UInt32, "Lowest recent round-trip time; all ones without a sample."),
    ("data_segs_in", pl.UInt32, "Segments with data received so far."),
    ("data_segs_out", pl.UInt32, "Segments with data sent so far."),
    ("delivery_rate_bytes_per_s", pl.UInt64, "Latest sample of the delivery rate."),
    ("busy_time_us", pl.UInt64, "Time with data to send or in flight."),
    ("rwnd_limited_us", pl.UInt64, "Time of that held back by the receive window."),
    ("sndbuf_limited_us", pl.UInt64, "Time of that held back by the send buffer."),
    ("delivered", pl.UInt32, "Segments delivered so far, retransmissions included."),
    ("delivered_ce", pl.UInt32, "Segments of these that were marked Congestion Experienced."),
    ("bytes_sent", pl.UInt64, "Bytes sent so far, retransmissions included."),
    ("bytes_retrans", pl.UInt64, "Bytes retransmitted so far."),
    ("dsack_dups", pl.UInt32, "Duplicates that DSACK reported so far."),
    ("reord_seen", pl.UInt32, "Reordering events so far."),
    ("rcv_ooopack", pl.UInt32, "Segments received out of order so far."),
    ("snd_wnd_bytes", pl.UInt32, "The peer's receive window."),
    ("rcv_wnd_bytes", pl.UInt32, "This end's receive window."),
    ("rehash", pl.UInt32, "Path changes after a timeout so far."),
    ("total_rto", pl.UInt16, "Retransmission timeouts so far."),
    ("total_rto_recoveries", pl.UInt16, "Recoveries after timeouts so far."),
    ("total_rto_time_ms", pl.UInt32, "Time spent in recoveries after timeouts."),
    ("received_ce", pl.UInt32, "Segments received with Congestion Experienced."),
    ("delivered_e1_bytes", pl.UInt32, "Bytes delivered with ECT(1) (Accurate ECN)."),
    ("delivered_e0_bytes", pl.UInt32, "Bytes delivered with ECT(0) (Accurate ECN)."),
    ("delivered_ce_bytes", pl.UInt32, "Bytes delivered with CE (Accurate ECN)."),
    ("received_e1_bytes", pl.UInt32, "Bytes received with ECT(1) (Accurate ECN)."),
    ("received_e0_bytes", pl.UInt32, "Bytes received with ECT(0) (Accurate ECN)."),
    ("received_ce_bytes", pl.UInt32, "Bytes received with CE (Accurate ECN)."),
)
_BBR: tuple[tuple[str, DataType, str], ...] = (
    ("bbr_bw_bytes_per_s", pl.UInt64, "BBR's estimate of bandwidth."),
    ("bbr_min_rtt_us", pl.UInt32, "BBR's lowest round-trip time."),
    ("bbr_pacing_gain_256ths", pl.UInt32, "BBR's pacing gain, times 256."),
    ("bbr_cwnd_gain_256ths", pl.UInt32, "BBR's gain of the congestion window, times 256."),
)
_MEMORY: tuple[tuple[str, DataType, str], ...] = (
    ("rmem_bytes", pl.UInt32, "Memory of the receive queue."),
    ("rcvbuf_bytes", pl.UInt32, "Its bound."),
    ("wmem_bytes", pl.UInt32, "Memory of what was handed to lower layers."),
    ("sndbuf_bytes", pl.UInt32, "Bound of the send buffer."),
    ("fwd_alloc_bytes", pl.UInt32, "Memory reserved and not in use."),
    ("wmem_queued_bytes", pl.UInt32, "Memory of the send queue."),
    ("optmem_bytes", pl.UInt32, "Memory of options."),
    ("backlog_bytes", pl.UInt32, "Memory of the backlog."),
    ("drops", pl.UInt32, "Packets that the socket dropped."),
)
_UNITS = {
    "_bytes": "bytes",
    "_us": "us",
    "_ms": "ms",
    "_bytes_per_s": "bytes/s",
    "bytes_acked": "bytes",
    "bytes_received": "bytes",
    "bytes_sent": "bytes",
    "bytes_retrans": "bytes",
}


def _columns(fields: tuple[tuple[str, DataType, str], ...], null: str) -> tuple[Column, ...]:
    def unit(name: str) -> str:
        return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")

    return tuple(Column(name, dtype, unit(name), null, doc) for name, dtype, doc in fields)


TCP_INFO = log_table(
    "tcp_info",
    "One connection in one sample of the kernel's own account (`struct tcp_info` of linux/tcp.h).",
    VANTAGE,
    CONNECTION,
    replace(TIME, doc="Midway between `before_ns` and `after_ns`. " + TIME.doc),
    Column("before_ns", pl.Int64, "ns", NEVER, "Just before the kernel was asked.", instant=True),
    Column("after_ns", pl.Int64, "ns", NEVER, "Just after it had answered.", instant=True),
    Column("state", pl.String, "", "a state of no name", "RFC 9293 section 3.3.2."),
    Column("congestion_control", pl.String, "", _NO_INFO, "Name of the congestion control."),
    Column("info_length_bytes", pl.UInt16, "bytes", _NO_INFO, "Length of this kernel's struct."),
    Column("ca_state", pl.String, "", _OLD_KERNEL, "`open`, `disorder`, `cwr`, `recovery` or `loss`."),
    Column(
        "delivery_rate_app_limited", pl.Boolean, "", _OLD_KERNEL,
        "Whether the sample of the delivery rate was bounded by the application.",
    ),
    *_columns(_INFO, _OLD_KERNEL),
    *_columns(_BBR, _NO_BBR),
    *_columns(_MEMORY, _NO_MEMORY),
)  # fmt: skip
