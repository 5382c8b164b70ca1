# SPDX-License-Identifier: Apache-2.0
"""Output of `ss -tinm`, taken repeatedly with the time before it: `date +%s.%N; ss -tinm` in a loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Clock, Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import lines_of, refuse
from quiclab.model.tables import TABLES

_STATES = (
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT", "LAST-ACK"),
    *("CLOSING", "LISTEN", "UNCONN"),
)
_SOCKET = re.compile(rf"(?:tcp\s+)?({'|'.join(_STATES)})\s+(\d+)\s+(\d+)\s+(\S+):(\d+)\s+(\S+):(\d+)(.*)", re.ASCII)
_TITLE = re.compile(r"(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\s+Local Address", re.ASCII)
_EPOCH = re.compile(r"\W*(\d{1,10})(?:[.,](\d{1,9}))?\W*", re.ASCII)
_SINCE_EPOCH = 100_000_000
"""Least number of seconds that is taken for a recent date."""
_VALUE = re.compile(r"(\w+):(\([^)]*\)|\S+)", re.ASCII)
_RATE = re.compile(r"\b(pacing_rate|delivery_rate) ([\d.]+)([KMGT]?)bps", re.ASCII)
_BBR = re.compile(r"bw:([\d.]+)([KMGT]?)bps", re.ASCII)
_FACTORS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NO_SSTHRESH = 0x7FFFFFFF
_PORTION = 1 << 14


@dataclass
class _Socket:
    """One socket in one sample."""

    time_ns: int
    addresses: tuple[str, str]
    """Local and peer address."""
    ports: tuple[int, int]
    text: str = field(default="")


class Ss:
    """Samples of the connections of one end."""

    format = "ss"
    versions = ("iproute2: ss -tinm, ss -tinmO",)
    tables = ("transport_metrics",)
    clock = "CLOCK_REALTIME of the machine, as a line before each sample tells it."

    def sniff(self, head: bytes) -> bool:
        """True if a title line or a line of a socket comes first, perhaps after a line with the time."""
        lines = [line for line in head[:4096].decode("utf-8", "replace").splitlines()[:4] if line.strip()]
        for at, line in enumerate(lines):
            if _TITLE.match(line) or _SOCKET.match(line):
                return at == 0 or _time_of(lines[0]) is not None
        return False

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode into one row per connection and sample, about this end as the sender. Raises DecodeError if no line is
        ss's."""
        counts = {"rows": 0, "untimed": 0, "malformed": 0, "by_port": 0}
        schema = TABLES["transport_metrics"].decoder_schema
        parts: list[pl.DataFrame] = []
        rows: list[dict[str, object]] = []
        clock: Clock = "own_start"

        def hand_on() -> None:
            part = pl.DataFrame(rows, schema=schema)
            rows.clear()
            if take is None:
                parts.append(part)
            else:
                take("transport_metrics", part)

        offset_ns = context.realtime_minus_monotonic_ns
        with lines_of(path) as lines:
            for socket in _sockets(lines, counts):
                if socket.time_ns >= _SINCE_EPOCH * 10**9:
                    clock = "realtime" if offset_ns is None else "monotonic"
                    socket.time_ns -= offset_ns or 0
                rows.append(_row(socket, context, counts))
                counts["rows"] += 1
                if len(rows) == _PORTION:
                    hand_on()
        if rows:
            hand_on()
        if counts["malformed"] and not counts["rows"]:
            raise refuse(path, "a socket's as ss prints it")
        found = (
            Finding("no_time", "notice", counts["untimed"], "a socket before any line with a time: it stands at 0"),
            Finding("malformed_line", "data_loss", counts["malformed"], "a line that ss does not print"),
            Finding("end_by_port", "notice", counts["by_port"], "the end is not known: the lower port is the server's"),
        )
        return FileTables(
            {"transport_metrics": pl.concat(parts)} if parts else {},
            tuple(each for each in found if each.count),
            dialect="ss",
            clock=clock,
            # The time is taken before ss runs, which takes some milliseconds.
            resolution_ns=10_000_000,
        )


def _sockets(lines: Iterator[str], counts: dict[str, int]) -> Iterator[_Socket]:
    socket: _Socket | None = None
    now: int | None = None
    for line in lines:
        if line[:1] in (" ", "\t") and socket is not None:
            socket.text = f"{socket.text} {line}"[: 1 << 14]
            continue
        if socket is not None:
            yield socket
            socket = None
        if match := _SOCKET.match(line):
            counts["untimed"] += now is None
            ports = min(int(match[5]), 65535), min(int(match[7]), 65535)
            socket = _Socket(now or 0, (match[4], match[6]), ports, match[8])
        elif (time := _time_of(line)) is not None:
            now = time
        else:
            counts["malformed"] += bool(line.strip()) and _TITLE.match(line) is None
    if socket is not None:
        yield socket


def _time_of(line: str) -> int | None:
    """Nanoseconds of a line with the time: seconds with a fraction, as by `date +%s.%N`, or ISO 8601, as by `date
    -Ins`."""
    if match := _EPOCH.fullmatch(line):
        return int(match[1]) * 10**9 + int((match[2] or "").ljust(9, "0"))
    text = line.strip(" \t#[]").replace(",", ".")
    fraction = re.search(r"\.(\d{1,9})", text, re.ASCII)
    try:
        # Python knows microseconds only.
        instant = datetime.fromisoformat(text.replace(fraction[0], "") if fraction else text)
    except ValueError:
        return None
    return int(instant.timestamp()) * 10**9 + (int(fraction[1].ljust(9, "0")) if fraction else 0)


def _row(socket: _Socket, context: Context, counts: dict[str, int]) -> dict[str, object]:
    values = dict(_VALUE.findall(socket.text))
    rates = {name: float(number) * _FACTORS[unit] for name, number, unit in _RATE.findall(socket.text) if _is(number)}
    bandwidth = _BBR.search(values.get("bbr", ""))
    mss = _number(values, "mss")
    rtt, _, variance = values.get("rtt", "").partition("/")
    in_flight = None
    if mss is not None and "cwnd" in values:
        # As the kernel counts: segments that SACK reported or that are considered lost are not in flight, those sent
        # again are.
        out = [int(_number(values, name) or 0) for name in ("unacked", "sacked", "lost")]
        in_flight = max(0, out[0] - out[1] - out[2] + int(_float(values.get("retrans", "0").partition("/")[0]) or 0))
    return {
        "vantage": context.vantage,
        "connection": _connection(socket, context, counts),
        "time_ns": socket.time_ns,
        "transport": "tcp",
        "cwnd_bytes": _segments(values, "cwnd", mss),
        "bytes_in_flight": None if in_flight is None or mss is None else int(in_flight * mss),
        "ssthresh_bytes": _segments(values, "ssthresh", mss),
        "smoothed_rtt_ms": _float(rtt),
        "min_rtt_ms": _float(values.get("minrtt", "")),
        "rtt_variance_ms": _float(variance),
        "pacing_rate_bit_per_s": rates.get("pacing_rate"),
        "bandwidth_bit_per_s": _float(bandwidth[1] if bandwidth else "", _FACTORS[bandwidth[2] if bandwidth else ""]),
        "pto_count": int(min(_number(values, "backoff") or 0, 255)),
        "estimate": False,
    }


def _connection(socket: _Socket, context: Context, counts: dict[str, int]) -> str:
    local, peer = (_address(*each) for each in zip(socket.addresses, socket.ports, strict=True))
    if context.vantage is None:
        counts["by_port"] += 1
    is_server = context.vantage == "server" or (context.vantage is None and socket.ports[0] < socket.ports[1])
    return f"{peer}-{local}" if is_server else f"{local}-{peer}"


def _address(address: str, port: int) -> str:
    """Address and port without the interface; an IPv4 address inside an IPv6 one becomes IPv4."""
    bare = address.partition("%")[0].strip("[]").removeprefix("::ffff:")
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def _segments(values: dict[str, str], name: str, mss: float | None) -> int | None:
    number = _number(values, name)
    if number is None or mss is None or number >= _NO_SSTHRESH:
        return None
    return int(number * mss)


def _number(values: dict[str, str], name: str) -> float | None:
    number = _float(values.get(name, ""))
    return None if number is None or number > 2**32 else number


def _is(number: str) -> bool:
    return _float(number) is not None


def _float(text: str, factor: int = 1) -> float | None:
    return float(text) * factor if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", text, re.ASCII) else None
