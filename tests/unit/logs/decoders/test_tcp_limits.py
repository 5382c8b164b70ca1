# SPDX-License-Identifier: Apache-2.0
"""What limited a TCP connection between two samples: differences that add up, and say no more than the kernel does."""

from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
import pytest
from unit.logs.decoders.test_tcp_info_tables import LENGTH_IN_6_18, header, info, message, record, written

from quiclab.logs.decoders import Context
from quiclab.logs.decoders.tcp_info_tables import TcpInfo

OFFSETS = {
    "unacked": ("I", 24), "sacked": ("I", 28), "lost": ("I", 32), "retrans": ("I", 36), "mss": ("I", 16),
    "acked": ("Q", 120), "notsent": ("I", 144), "rate": ("Q", 160), "busy": ("Q", 168), "receive": ("Q", 176),
    "send": ("Q", 184),
}  # fmt: skip
"""Where struct tcp_info of linux/tcp.h has them."""
TIMES = ("busy_ns", "receive_window_ns", "send_buffer_ns", "other_busy_ns")


def sample(length: int = LENGTH_IN_6_18, **values: int) -> bytes:
    """A struct tcp_info with these values, its window of ten segments."""
    raw = bytearray(info(LENGTH_IN_6_18))
    for name, value in values.items():
        code, offset = OFFSETS[name]
        struct.pack_into(f"<{code}", raw, offset, value)
    return bytes(raw[:length])


def limits(folder: Path, *records: bytes) -> pl.DataFrame:
    """Rows of the table."""
    file = TcpInfo().decode(written(folder, header() + b"".join(records)), Context(vantage="server"))
    return file.tables.get("tcp_limits", pl.DataFrame())


def test_clocks_are_told_apart_and_add_up(tmp_path: Path) -> None:
    """The kernel's busy time includes that of both limits; the rest is what neither explains."""
    rows = limits(
        tmp_path,
        record(1000, message(sample(busy=4000, acked=100))),
        record(9_000_000, message(sample(busy=12_000, receive=4000, acked=3000, rate=1000, unacked=7, mss=100))),
        record(20_000_000, message(sample(busy=24_000, receive=8000, send=4000, acked=3000, notsent=9))),
    )
    assert rows.select("since_ns", "time_ns").rows() == [(1005, 9_000_005), (9_000_005, 20_000_005)]
    assert rows.select(TIMES).rows() == [
        (8_000_000, 4_000_000, 0, 4_000_000),
        (12_000_000, 4_000_000, 4_000_000, 4_000_000),
    ]
    told = ("acked_bytes", "unacked_bytes", "notsent_bytes", "least_notsent_bytes", "delivery_rate_bit_per_s")
    assert rows.select(told).rows() == [(2900, 700, 0, 0, 8000.0), (0, 0, 9, 0, None)]
    assert rows["application_limited"].to_list() == [True, True]
    assert set(rows["connection"]) == {"10.0.0.2:50000-10.0.0.1:443"}


@pytest.mark.parametrize(
    ("flight", "full"),
    [({"unacked": 10}, True), ({"unacked": 9}, False), ({"unacked": 12, "sacked": 2, "lost": 1}, False),
     ({"unacked": 12, "sacked": 2, "lost": 1, "retrans": 1}, True), ({"lost": 3}, False)],
)  # fmt: skip
def test_a_window_is_full_by_what_the_kernel_counts_in_flight(
    flight: dict[str, int], full: bool, tmp_path: Path
) -> None:
    """At both looks; what was reported as received or is taken for lost does not fill it, what was sent again does."""
    whole = message(sample(unacked=10))
    assert limits(tmp_path, record(10, whole), record(50, message(sample(**flight))))["window_full"].to_list() == [full]
    assert limits(tmp_path, record(10, message(sample(**flight))), record(50, whole))["window_full"].to_list() == [full]


def test_no_row_spans_two_connections(tmp_path: Path) -> None:
    """Neither two at once, nor one that follows another between the same ports."""
    other = message(sample(busy=1), remote_port=50_001)
    rows = limits(
        tmp_path,
        record(100, message(sample(busy=50)), other),
        record(200, message(sample(busy=60)), other),
        record(300, message(sample(busy=8))),
        record(400, message(sample(busy=9))),
    )
    assert sorted(rows.select("connection", "since_ns", "busy_ns").rows()) == [
        ("10.0.0.2:50000-10.0.0.1:443", 105, 10_000),
        ("10.0.0.2:50000-10.0.0.1:443", 305, 1_000),
        ("10.0.0.2:50001-10.0.0.1:443", 105, 0),
    ]


def test_an_old_kernel_tells_nothing_of_it(tmp_path: Path) -> None:
    """Its struct ends before the clocks: null, never zero."""
    old = message(sample(length=140, busy=5))
    rows = limits(tmp_path, record(10, old), record(50, old))
    assert rows.height == 1
    unknown = rows.select(*TIMES, "notsent_bytes", "least_notsent_bytes", "delivery_rate_bit_per_s")
    assert unknown.null_count().row(0) == (1,) * unknown.width
    assert rows["acked_bytes"].to_list() == [0]


def test_one_sample_is_no_span(tmp_path: Path) -> None:
    """Nothing is known between a sample and none."""
    assert limits(tmp_path, record(10, message(sample(busy=5)))).is_empty()
