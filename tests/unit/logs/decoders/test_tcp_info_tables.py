# SPDX-License-Identifier: Apache-2.0
"""Logs of struct tcp_info as other kernels would have written them: shorter, longer, cut off, damaged."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import pytest

from quiclab.logs.decoders import Context
from quiclab.logs.decoders.tcp_info_tables import TcpInfo, read_tcp_info_log
from quiclab.model.errors import DecodeError

LENGTH_IN_4_9, LENGTH_IN_6_1, LENGTH_IN_6_18 = 192, 232, 280
_CA_STATE_OFFSET, _RTT_OFFSET, _CWND_OFFSET, _SND_WND_OFFSET, _TOTAL_RTO_OFFSET = 1, 68, 80, 228, 240


def header(version: int = 1, *, complete: bool = True, missed: int = 0) -> bytes:
    """64 bytes."""
    return struct.pack("<8sIIQHBB4xQQq8x", b"QLTCPINF", version, 64, 10_000_000, 443, 4, complete, 7, missed, -5)


def info(length: int, *, cwnd: int = 10, ca_state: int = 0) -> bytes:
    """A struct tcp_info of a kernel that knows `length` bytes of it."""
    raw = bytearray(300)
    raw[0], raw[_CA_STATE_OFFSET], raw[7] = 1, ca_state, 1
    struct.pack_into("<I", raw, _RTT_OFFSET, 20_000)
    struct.pack_into("<I", raw, _CWND_OFFSET, cwnd)
    struct.pack_into("<I", raw, _SND_WND_OFFSET, 65_535)
    struct.pack_into("<H", raw, _TOTAL_RTO_OFFSET, 3)
    return bytes(raw[:length])


def record(before_ns: int, *messages: bytes) -> bytes:
    """One sample, which took 10 ns."""
    body = b"".join(messages)
    return struct.pack("<QQII", before_ns, before_ns + 10, len(body), 0) + body


def message(raw_info: bytes, *, remote_port: int = 50_000, extra: bytes = b"") -> bytes:
    """One socket: 10.0.0.1:443, established."""
    addresses = socket.inet_aton("10.0.0.1").ljust(16, b"\0") + socket.inet_aton("10.0.0.2").ljust(16, b"\0")
    identity = struct.pack("!HH", 443, remote_port) + addresses + bytes(12)
    body = struct.pack("<BBBB", socket.AF_INET, 1, 0, 0) + identity + bytes(20)
    body += attribute(2, raw_info) + attribute(4, b"cubic\0") + extra
    return struct.pack("<IHHII", 16 + len(body), 20, 2, 1, 0) + body


def attribute(kind: int, value: bytes) -> bytes:
    """struct nlattr."""
    return (struct.pack("<HH", 4 + len(value), kind) + value).ljust(4 + (len(value) + 3) // 4 * 4, b"\0")


def written(folder: Path, data: bytes) -> Path:
    """A file with these bytes."""
    path = folder / "server.tcpinfo"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("length", "snd_wnd", "total_rto"),
    [(LENGTH_IN_4_9, None, None), (LENGTH_IN_6_1, 65_535, None), (LENGTH_IN_6_18, 65_535, 3), (300, 65_535, 3)],
)
def test_a_field_beyond_the_kernels_struct_is_null(
    tmp_path: Path, length: int, snd_wnd: int | None, total_rto: int | None
) -> None:
    """Old kernels end before later fields, newer ones go on behind the last that has a name here."""
    log = read_tcp_info_log(written(tmp_path, header() + record(100, message(info(length)))))
    row = log.samples.row(0, named=True)
    assert (row["before_ns"], row["after_ns"]) == (100, 110)
    assert (row["local_address"], row["local_port"]) == ("10.0.0.1", 443)
    assert (row["remote_address"], row["remote_port"]) == ("10.0.0.2", 50_000)
    assert (row["state"], row["congestion_control"], row["info_length_bytes"]) == ("ESTABLISHED", "cubic", length)
    assert (row["rtt_us"], row["snd_cwnd"], row["delivery_rate_app_limited"]) == (20_000, 10, True)
    assert (row["snd_wnd_bytes"], row["total_rto"]) == (snd_wnd, total_rto)
    assert row["bbr_bw_bytes_per_s"] is None


def test_bbr_is_read_where_it_is_given(tmp_path: Path) -> None:
    """The bandwidth is 64 bits, low half first; a neighbour without it stays null."""
    bbr = struct.pack("<IIIII", 5, 1, 30_000, 739, 512)
    both = record(1, message(info(232), extra=attribute(16, bbr)), message(info(232), remote_port=2))
    rows = read_tcp_info_log(written(tmp_path, header() + both)).samples
    assert rows["bbr_bw_bytes_per_s"].to_list() == [5 + (1 << 32), None]
    assert rows["bbr_pacing_gain_256ths"].to_list() == [739, None]


def test_samples_without_a_connection_are_instants_too(tmp_path: Path) -> None:
    """They say until when there was none."""
    log = read_tcp_info_log(written(tmp_path, header(missed=4) + record(5) + record(9, message(info(232)))))
    assert log.sample_times["before_ns"].to_list() == [5, 9]
    assert log.samples["before_ns"].to_list() == [9]
    assert (log.missed, log.realtime_minus_monotonic_ns, log.complete) == (4, -5, True)


@pytest.mark.parametrize("cut", [1, 23, 24, 100])
def test_a_killed_writer_costs_its_last_record(tmp_path: Path, cut: int) -> None:
    """Whole records are kept."""
    whole = header(complete=False) + record(1, message(info(232)))
    log = read_tcp_info_log(written(tmp_path, whole + record(2, message(info(232)))[:cut]))
    assert log.samples["before_ns"].to_list() == [1]
    assert not log.complete


@pytest.mark.parametrize("length", [1_000, 2**32 - 1])
def test_samples_behind_a_damaged_one_are_told(tmp_path: Path, length: int) -> None:
    """Its length leads beyond the file: what follows cannot be found, and the writer was not killed."""
    samples = [record(each, message(info(232))) for each in (1, 2, 3)]
    samples[1] = samples[1][:16] + struct.pack("<I", length) + samples[1][20:]
    path = written(tmp_path, header() + b"".join(samples))
    assert read_tcp_info_log(path).samples["before_ns"].to_list() == [1]
    (found,) = [
        each for each in TcpInfo().decode(path, Context(vantage="server")).findings if each.severity == "data_loss"
    ]
    assert found.name == "truncated_log"
    whole = TcpInfo().decode(written(tmp_path, header() + samples[0]), Context(vantage="server"))
    assert not whole.findings


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        header()[:20],
        header(version=2),
        header() + record(1, message(info(232))[:90]),
        header() + record(1, struct.pack("<I", 4) + bytes(96)),
        header() + record(1, message(info(232), extra=struct.pack("<HH", 0, 0))),
    ],
)
def test_what_is_no_log_is_told_in_one_sentence(tmp_path: Path, data: bytes) -> None:
    """Wrong magic, unknown version, lengths that cannot be."""
    with pytest.raises(DecodeError, match="cannot decode"):
        read_tcp_info_log(written(tmp_path, data))
    with pytest.raises(DecodeError, match="cannot decode"):
        read_tcp_info_log(tmp_path / "missing")
