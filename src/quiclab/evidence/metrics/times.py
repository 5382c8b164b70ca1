# SPDX-License-Identifier: Apache-2.0
"""Times of a transfer: from the client's first packet, lost or not, to handshake, first byte and last byte."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import quic, tcp
from quiclab.evidence.metrics._api import Metric, Noted
from quiclab.evidence.metrics.connection_times import closed_ns
from quiclab.evidence.metrics.evidence import CAPTURES, End, Evidence, Unknown
from quiclab.evidence.metrics.expected_bytes import may_use_several_sockets, moved_bytes, when_carried
from quiclab.evidence.metrics.responses import BY_ACCOUNT, response_rows, those_asked_for

_FIN = 1
"""The bit of TCP's flags (RFC 9293 section 3.1)."""

_CLOSED_BY_PACKET = "until the packet with which the client closed, as it did not say when it did"


def setup_ms(evidence: Evidence) -> float:
    """Departure of the first packet with which the client can send application data."""
    if evidence.quic:
        sent = quic.stream_frames(evidence, "client", "sent")
        packet = next((frame.packet for frame in sent if frame.packet[1] in ("1RTT", "0RTT")), None)
        departure = quic.departures(evidence, "client").get(packet) if packet else None
        if departure is None:
            raise Unknown("no packet with a STREAM frame that the client sent is found in its capture")
        return evidence.since_zero_ms(departure[0])
    packets = tcp.application_data(evidence, "up")
    if packets.is_empty():
        raise Unknown("the client's capture shows no TLS application data")
    return evidence.since_zero_ms(int(packets["time_ns"][0]))


def ttfb_ms(evidence: Evidence) -> float | Noted:
    """Arrival of the packet with which the first byte of a body could be read."""
    if evidence.upload:
        raise Unknown("an upload's response has no body")
    try:
        first = response_rows(evidence)["first_byte_ns"].drop_nulls()
    except Unknown:
        if not evidence.has_account:
            raise
        return Noted(evidence.since_zero_ms(_told_first_ns(evidence)), BY_ACCOUNT)
    if first.is_empty():  # of several objects some may be empty
        raise Unknown("no response has a body")
    return evidence.since_zero_ms(int(first.min()))  # type: ignore[arg-type]


def _told_first_ns(evidence: Evidence) -> int:
    """Arrival of the last packet with new data of the response before the client program had the first byte."""
    first_byte_ns = _account_of_first_ns(evidence)
    if not evidence.quic:
        return _last_in_order(evidence, first_byte_ns)
    before = [time_ns for time_ns, _ in quic.in_order(evidence) if time_ns <= first_byte_ns]
    if not before:
        raise Unknown("no packet of the response is found in the client's capture before the client saw its first byte")
    return max(before)


def ttlb_ms(evidence: Evidence) -> float | Noted:
    """Arrival of the packet that completes the (last) response. Raises Unknown if the bodies had not passed by then."""
    last_ns, note = _last_ns(evidence)
    _check_passed(evidence, "client", last_ns)
    last_ms = evidence.since_zero_ms(last_ns)
    return Noted(last_ms, note) if note else last_ms


def last_byte_ns(evidence: Evidence) -> int:
    """Instant at which the packet arrived that completes the (last) response. Raises Unknown where nothing tells."""
    return _last_ns(evidence)[0]


def _last_ns(evidence: Evidence) -> tuple[int, str]:
    """Return the instant of the last byte, with a note where the packets alone do not tell it."""
    if evidence.quic:
        arrivals = quic.arrivals(evidence)
        return max(_arrival(arrivals, packet) for packet in quic.completing_packets(evidence)), ""
    try:
        return int(response_rows(evidence)["last_byte_ns"].max()), ""  # type: ignore[arg-type]
    except Unknown:
        if not evidence.has_account:
            raise
    return _last_in_order(evidence, max(evidence.client_instant("last_byte_ns"))), BY_ACCOUNT


def _check_passed(evidence: Evidence, end: End, by_ns: int) -> None:
    """Raise Unknown where fewer bytes than the bodies have had passed one end, on one socket of the client: the instant
    is of something else."""
    size_bytes = moved_bytes(evidence.trial)
    if size_bytes is None:
        return
    packets, apart = evidence.packets(end, evidence.way), not may_use_several_sockets(evidence.trial)
    passed_ns = when_carried(packets, up=evidence.upload, size_bytes=size_bytes, apart=apart)
    if passed_ns is not None and passed_ns <= by_ns:
        return
    before = packets.filter(pl.col("time_ns") <= by_ns)
    passed, where = int(before["payload_bytes"].sum()), ""
    if passed >= size_bytes:
        sockets = ["src", "src_port"] if evidence.upload else ["dst", "dst_port"]
        most = before.group_by(sockets).agg(pl.col("payload_bytes").sum())["payload_bytes"].max()
        passed, where = int(most or 0), " on one connection"  # type: ignore[arg-type]
    raise Unknown(
        f"what was asked for had not ended at {evidence.since_zero_ms(by_ns):.1f} ms, which the {end}'s end tells: "
        f"only {passed} of {size_bytes} bytes were there{where}"
    )


def ttlb_client_ms(evidence: Evidence) -> float:
    """The client program's own view: first request's start to last request's last byte."""
    return (max(evidence.client_instant("last_byte_ns")) - min(evidence.client_instant("start_ns"))) / 1e6


def ttfb_client_ms(evidence: Evidence) -> float:
    """The client program's own view: first request's start to the first byte of a body."""
    return (_account_of_first_ns(evidence) - min(evidence.client_instant("start_ns"))) / 1e6


def _account_of_first_ns(evidence: Evidence) -> int:
    """Instant at which the client program had the first byte of a body; some of several objects may be empty."""
    told = [each.first_byte_ns for each in evidence.requests if each.first_byte_ns is not None]
    return min(told or evidence.client_instant("first_byte_ns"))


def to_last_packet_ms(evidence: Evidence) -> float | Noted:
    """Arrival of the last packet before the client closes."""
    told_ns = evidence.trial.client_close_ns
    close_ns = closed_ns(evidence) if told_ns is None else told_ns
    if close_ns is None:
        raise Unknown("no packet shows that the client closed, and the client did not say when")
    came = evidence.packets("client", "down").filter(pl.col("time_ns") <= close_ns)
    # Of TCP without what answers the client's FIN: over a short path it is there before the client is gone.
    fins = _fins(evidence).rename({"src_port": "dst_port"})
    before = came.join(fins, on="dst_port", how="left").filter(
        pl.col("fin_ns").is_null() | (pl.col("time_ns") <= pl.col("fin_ns"))
    )
    if before.is_empty():
        raise Unknown("the client's capture holds no packet from the server")
    last_ms = evidence.since_zero_ms(int(before["time_ns"].max()))  # type: ignore[arg-type]
    return last_ms if told_ns is not None else Noted(last_ms, _CLOSED_BY_PACKET)


def upload_ms(evidence: Evidence) -> float:
    """Arrival at the server's end of the last byte of the (last) body, with all before it."""
    if not evidence.upload:
        raise Unknown("the trial uploads nothing")
    last_ns = max(_received_ns(evidence))
    _check_passed(evidence, "server", last_ns)
    return evidence.since_zero_ms(last_ns)


def _received_ns(evidence: Evidence) -> list[int]:
    """Instants at which the uploads had arrived. Raises Unknown if the capture does not show the end of each."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "server")
    seen = evidence.table("http_requests").filter(
        pl.col("source").is_in(captures["source"].to_list()), pl.col("method") == "PUT"
    )
    ends = those_asked_for(evidence, seen)["send_end_ns"].drop_nulls().to_list()
    objects = len(evidence.trial.expected.listed)
    if len(ends) < objects:
        raise Unknown(f"the server's decrypted capture shows the end of {len(ends)} of {objects} uploads")
    return ends


def goodput_bit_per_s(evidence: Evidence) -> float | Noted:
    """Body bits over the time to the last byte of a body."""
    if evidence.upload:
        return (evidence.trial.expected.body_bytes or 0) * 8 / (upload_ms(evidence) / 1e3)
    if evidence.has_account:
        size_bytes = sum(evidence.client_instant("body_bytes"))
    else:
        size_bytes = int(response_rows(evidence)["response_body_bytes"].sum())
    took = ttlb_ms(evidence)
    if isinstance(took, Noted):
        return Noted(size_bytes * 8 / (took.value / 1e3), took.note)
    return size_bytes * 8 / (took / 1e3)


def _arrival(arrivals: dict[quic.PacketKey, int], packet: quic.PacketKey) -> int:
    if packet not in arrivals:
        raise Unknown("a packet that the client received is not found in its capture")
    return arrivals[packet]


def _last_in_order(evidence: Evidence, until_ns: int) -> int:
    """Arrival of the last segment up to an instant that moved on what the client could read.

    A program may tell of it late, after its FIN and the server's answer to that (TLS's close_notify).
    """
    fins = dict(_fins(evidence).iter_rows())
    times = (
        time_ns
        for each in tcp.sent_segments(evidence, "client", "down")
        for time_ns, _ in each.in_order()
        if time_ns <= min(until_ns, fins.get(each.client_port, until_ns))
    )
    last = max(times, default=None)
    if last is None:
        raise Unknown("the client's capture holds no payload from the server before the client saw it")
    return last


def _fins(evidence: Evidence) -> pl.DataFrame:
    """`src_port` and `fin_ns`: when the client closed its side of each TCP connection."""
    sent = evidence.packets("client", "up", ("tcp",)).filter(pl.col("tcp_flags") & _FIN > 0)
    return sent.group_by("src_port").agg(pl.col("time_ns").min().alias("fin_ns"))


TIMES = (
    Metric(
        "setup_ms",
        "handshake time",
        "ms",
        "lower",
        "First packet of the client to its first packet that can carry application data. QUIC: the first 1-RTT or "
        "0-RTT packet with a STREAM frame. TCP: the first segment with a TLS application_data record, which in TLS 1.3 "
        "is the client's Finished, behind which data can follow at once, and in TLS 1.2 the request itself.",
        setup_ms,
        heading="handshake",
    ),
    Metric(
        "ttfb_ms",
        "time to first byte",
        "ms",
        "lower",
        "First packet of the client to the arrival at the client's end of the packet with which the first byte of a "
        "body could be read, by its decrypted capture: with all before it, and over TCP with the whole of its TLS "
        "record. Where the capture does not show each response, by the client's account, which the note says: the last "
        "packet that moved on the in-order end of the response before the client program had that byte. It is never "
        "the earlier one, and later where the program came to the byte late: what that makes is in "
        "[two sources](../explanation/two-sources.md).",
        ttfb_ms,
        heading="first byte",
    ),
    Metric(
        "ttlb_ms",
        "time to last byte",
        "ms",
        "lower",
        "First packet of the client, lost or not, to the arrival at the client's end of the packet that completes the "
        "response. QUIC: the packet that completes the stream, its end included, by the decrypted capture or by the "
        "client's qlog. TCP: the same by the decrypted capture; where that does not show each response, by the "
        "client's account, which the note says: the last segment that moved on the in-order sequence number before the "
        "client program had its last byte and before its FIN. Of an upload it is the server's answer to the last body. "
        "A client that tells nothing of itself needs a capture that can be decrypted. How the sources differ: "
        "[two sources](../explanation/two-sources.md). No value if fewer bytes than all bodies have had come by then.",
        ttlb_ms,
        heading="last byte",
    ),
    Metric(
        "ttfb_client_ms",
        "time to first byte (client's own view)",
        "ms",
        "lower",
        "Start of the request to the first byte of a body, both as the client program saw them. A library that gives "
        "no part of an HTTP/2 frame, or of a buffer, before all of it is there makes it longer than ttfb_ms.",
        ttfb_client_ms,
        heading="first byte, client",
    ),
    Metric(
        "ttlb_client_ms",
        "time to last byte (client's own view)",
        "ms",
        "lower",
        "Start of the request to the last byte of the body, both as the client program saw them.",
        ttlb_client_ms,
        heading="last byte, client",
    ),
    Metric(
        "to_last_packet_ms",
        "time to last packet",
        "ms",
        "lower",
        "First packet of the client to the arrival of the last packet from the server before the client closes "
        "(Yu and Benson 2021, section 3): what answers its FIN does not count, wherever it is when the client ends. "
        "Where it did not say when it closed, its first FIN, RST or CONNECTION_CLOSE says so, and the note.",
        to_last_packet_ms,
        heading="last packet",
    ),
    Metric(
        "upload_ms",
        "time to the last byte of the upload",
        "ms",
        "lower",
        "First packet of the client, lost or not, to the arrival at the server's end of the last byte of the last "
        "body, with all before it (HTTP/2: of its TLS record), by the server's decrypted capture. What the server does "
        "with it, and its answer's way back, are in ttlb_ms only.",
        upload_ms,
    ),
    Metric(
        "goodput_bit_per_s",
        "goodput",
        "bit/s",
        "higher",
        "Body bits of all responses over ttlb_ms; of uploads, of all requests over upload_ms.",
        goodput_bit_per_s,
        heading="goodput",
    ),
)
