# SPDX-License-Identifier: Apache-2.0
"""Waits of programs and their connections, as the kernel counts them between two looks."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table
from quiclab.model.tables._common import CONNECTION, TIME, VANTAGE

_UNTIL = replace(
    TIME, doc="The later of two looks: all columns are about the time from `since_ns` to here. " + TIME.doc
)
_SINCE = Column("since_ns", pl.Int64, "ns", NEVER, "The look before.", instant=True)
_OLD_LOG = "an earlier version's log"
_OLD_KERNEL = "this kernel's struct ends before it"

TCP_LIMITS = log_table(
    "tcp_limits",
    "What limited the sending of one TCP connection between two samples of tcp_info, by the kernel's own clocks. They "
    "go by its tick (mostly 4 ms, or 1 ms): single steps are rounded to it, sums are not. At any instant one clock "
    "runs at most: that of the send buffer goes before that of the receive window.",
    VANTAGE,
    CONNECTION,
    _UNTIL,
    _SINCE,
    Column("busy_ns", pl.Int64, "ns", _OLD_KERNEL, "Time with data to send or in flight; the rest had none."),
    Column(
        "receive_window_ns", pl.Int64, "ns", _OLD_KERNEL,
        "Time of `busy_ns` in which the peer's receive window was full (`tcpi_rwnd_limited`).",
    ),
    Column(
        "send_buffer_ns", pl.Int64, "ns", _OLD_KERNEL,
        "Time of `busy_ns` in which the congestion window had room, everything written had been sent, and the program "
        "wanted to write more than the send buffer holds (`tcpi_sndbuf_limited`).",
    ),
    Column(
        "other_busy_ns", pl.Int64, "ns", _OLD_KERNEL,
        "The rest of `busy_ns`: held back by the congestion window or by pacing, or all was in flight. The kernel does "
        "not tell these apart.",
    ),
    Column(
        "window_full", pl.Boolean, "", _OLD_KERNEL,
        "Whether at both looks as many segments were in flight as the congestion window allows.",
    ),
    Column("least_notsent_bytes", pl.UInt32, "bytes", _OLD_KERNEL, "Written and not sent yet: the less of both looks."),
    Column("notsent_bytes", pl.UInt32, "bytes", _OLD_KERNEL, "Written and not sent yet, at the later look."),
    Column("unacked_bytes", pl.UInt64, "bytes", _OLD_KERNEL, "Sent and not acknowledged: whole segments, later look."),
    Column("acked_bytes", pl.UInt64, "bytes", _OLD_KERNEL, "Acknowledged between the looks."),
    Column("delivery_rate_bit_per_s", pl.Float64, "bit/s", "no sample", "Latest sample of the delivery rate."),
    Column(
        "application_limited", pl.Boolean, "", _OLD_KERNEL,
        "Whether that sample was bounded by the program, which had written too little.",
    ),
)  # fmt: skip

RUN_DELAYS = log_table(
    "run_delays",
    "Time that threads of one program were ready to run and had no processor, as the scheduler counts it when each "
    "wait ends, between two looks some 50 ms apart (100 ms for a program of 32 threads or more). No row: none ended. "
    "Processes that a program starts are looked at from 100 ms after their start at the latest.",
    _UNTIL,
    replace(_SINCE, doc="The look before; a wait that ended since may have begun earlier."),
    Column("role", pl.String, "", NEVER, "`client`, `server` or `proxy`."),
    Column(
        "ran_ns",
        pl.Int64,
        "ns",
        _OLD_LOG,
        "Time on a processor of all its threads together, with those that have ended.",
    ),
    Column("waited_ns", pl.Int64, "ns", NEVER, "Waits of all its threads together."),
    Column("longest_ns", pl.Int64, "ns", NEVER, "Waits of the thread that waited longest."),
    Column(
        "held_ns",
        pl.Int64,
        "ns",
        _OLD_LOG,
        "Part of `waited_ns` that the program itself does not explain: at most what it lacked of one whole processor.",
    ),
    Column("longest_held_ns", pl.Int64, "ns", _OLD_LOG, "Most of such waits of one thread."),
    Column("threads", pl.UInt32, "", NEVER, "Number of threads that were looked at."),
)

UDP_DROPS = log_table(
    "udp_drops",
    "Datagrams that had arrived and that the kernel did not hand to one UDP socket between two looks some 50 ms apart, "
    "because its receive buffer was full or the checksum wrong. What a socket dropped between the last look and its "
    "end is missing; the sum of the namespace is in trial.json.",
    VANTAGE,
    _UNTIL,
    _SINCE,
    Column("port", pl.UInt16, "", NEVER, "Local port of the socket."),
    Column("inode", pl.UInt64, "", NEVER, "Inode number, which tells two sockets with one port apart."),
    Column("drops", pl.UInt32, "packets", NEVER, "Datagrams that were dropped."),
)
