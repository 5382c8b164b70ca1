# SPDX-License-Identifier: Apache-2.0
"""How long it took: from the client's first packet, lost or not, to set-up, first byte and last byte."""

from __future__ import annotations

import polars as pl

from quiclab.metrics import quic, tcp
from quiclab.metrics._api import Metric
from quiclab.metrics.evidence import CAPTURES, Evidence, Unknown

_FIN = 1
"""The bit of TCP's flags (RFC 9293 section 3.1)."""


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


def ttfb_ms(evidence: Evidence) -> float:
    """Arrival of the packet that let the client program have the first byte of a body."""
    if evidence.upload:
        raise Unknown("an upload's response has no body")
    if not evidence.has_account:
        return evidence.since_zero_ms(min(_answered(evidence, "first_byte_ns")))
    # Of several objects one may be empty.
    told = [each["first_byte_ns"] for each in evidence.requests if each.get("first_byte_ns") is not None]
    first_byte_ns = min(told or evidence.client_instant("first_byte_ns"))
    if not evidence.quic:
        return evidence.since_zero_ms(_last_in_order(evidence, first_byte_ns))
    before = [time_ns for time_ns, _ in quic.in_order(evidence) if time_ns <= first_byte_ns]
    if not before:
        raise Unknown("no packet of the response is found in the client's capture before the client saw its first byte")
    return evidence.since_zero_ms(max(before))


def ttlb_ms(evidence: Evidence) -> float:
    """Arrival of the packet that completes the (last) response."""
    if evidence.quic:
        arrivals = quic.arrivals(evidence)
        return evidence.since_zero_ms(max(_arrival(arrivals, packet) for packet in quic.completing_packets(evidence)))
    if not evidence.has_account:
        return evidence.since_zero_ms(max(_answered(evidence, "last_byte_ns")))
    until_ns = max(evidence.client_instant("last_byte_ns"))
    # What came whole to an address that was gone ended nothing.
    ends = _responses_end(evidence) if evidence.for_nobody.is_empty() else []
    last_ns = max(ends) if len(ends) >= len(evidence.requests) else _last_in_order(evidence, until_ns)
    return evidence.since_zero_ms(last_ns)


def ttlb_client_ms(evidence: Evidence) -> float:
    """The client program's own view: first request's start to last request's last byte."""
    return (max(evidence.client_instant("last_byte_ns")) - min(evidence.client_instant("start_ns"))) / 1e6


def to_last_packet_ms(evidence: Evidence) -> float:
    """Arrival of the last packet before the client closes."""
    close_ns = (evidence.trial.get("client") or {}).get("close_ns")
    if close_ns is None:
        raise Unknown("the client did not say when it closed")
    came = evidence.packets("client", "down").filter(pl.col("time_ns") <= close_ns)
    # Of TCP without what answers the client's FIN: over a short path it is there before the client is gone.
    fins = _fins(evidence).rename({"src_port": "dst_port"})
    before = came.join(fins, on="dst_port", how="left").filter(
        pl.col("fin_ns").is_null() | (pl.col("time_ns") <= pl.col("fin_ns"))
    )
    if before.is_empty():
        raise Unknown("the client's capture holds no packet from the server")
    return evidence.since_zero_ms(int(before["time_ns"].max()))  # type: ignore[arg-type]


def upload_ms(evidence: Evidence) -> float:
    """Arrival at the server's end of the last byte of the (last) body, with all before it."""
    if not evidence.upload:
        raise Unknown("the trial uploads nothing")
    return evidence.since_zero_ms(max(_received_ns(evidence)))


def _received_ns(evidence: Evidence) -> list[int]:
    """When each upload had arrived. Raises Unknown if the capture does not show the end of each."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "server")
    seen = evidence.table("http_requests").filter(
        pl.col("source").is_in(captures["source"].to_list()), pl.col("method") == "PUT"
    )
    ends = seen["send_end_ns"].drop_nulls().to_list()
    if len(ends) < len(evidence.requests):
        raise Unknown(
            f"the server's decrypted capture shows the end of {len(ends)} of {len(evidence.requests)} uploads"
        )
    return ends


def goodput_bit_per_s(evidence: Evidence) -> float:
    """Body bits over the time to the last byte of a body."""
    if evidence.upload:
        return int(evidence.trial["expected"]["body_bytes"]) * 8 / (upload_ms(evidence) / 1e3)
    if evidence.has_account:
        sizes = evidence.client_instant("body_bytes")
    else:
        sizes = _answered(evidence, "response_body_bytes")
    return sum(sizes) * 8 / (ttlb_ms(evidence) / 1e3)


def _answered(evidence: Evidence, column: str) -> list[int]:
    """A column of every response, by the client's decrypted capture where its program told nothing.

    Raises Unknown where that does not show all that was to be fetched, or where an answer came for nobody.
    """
    objects = len((evidence.trial.get("expected") or {}).get("objects") or [None])
    found = evidence.responses[column].drop_nulls().to_list()
    if len(found) < objects or evidence.responses["last_byte_ns"].null_count() or not evidence.for_nobody.is_empty():
        raise Unknown(
            "the client left no account of its requests, and its capture does not show each response to its end"
        )
    return found


def _arrival(arrivals: dict[quic.PacketKey, int], packet: quic.PacketKey) -> int:
    if packet not in arrivals:
        raise Unknown("a packet that the client received is not found in its capture")
    return arrivals[packet]


def _responses_end(evidence: Evidence) -> list[int]:
    """When each response was whole, as the client's capture shows where it was decrypted."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "client")
    seen = evidence.table("http_requests").filter(
        pl.col("source").is_in(captures["source"].to_list()),
        # Not of a visit before the measured one.
        pl.col("last_byte_ns") >= min(evidence.client_instant("start_ns")),
    )
    return seen["last_byte_ns"].to_list()


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
        "set-up time",
        "ms",
        "lower",
        "First packet of the client to its first packet that can carry application data. QUIC: the first 1-RTT or "
        "0-RTT packet with a STREAM frame. TCP: the first segment with a TLS application_data record, which in TLS 1.3 "
        "is the client's Finished, behind which data can follow at once, and in TLS 1.2 the request itself.",
        setup_ms,
        heading="set-up",
    ),
    Metric(
        "ttfb_ms",
        "time to first byte",
        "ms",
        "lower",
        "First packet of the client to the arrival of the packet that let the client program have the first byte of a "
        "body: the last one before that instant that moved on the in-order end of the response (QUIC: of a request "
        "stream). Over TCP a whole TLS record must be there, so this says more than when the first bytes came. Of a "
        "client that tells nothing of itself: of the packet with which that byte could be read in its decrypted "
        "capture.",
        ttfb_ms,
        heading="first byte",
    ),
    Metric(
        "ttlb_ms",
        "time to last byte",
        "ms",
        "lower",
        "First packet of the client, lost or not, to the arrival at the client's end of the packet that completes the "
        "response. QUIC: the packet that completes the stream, its end included, by the client's qlog. TCP: the same "
        "by its decrypted capture; where that was not decrypted, the last segment that moved on the in-order sequence "
        "number before the client program had its last byte and before its FIN. Of an upload it is the server's answer "
        "to the last body. A client that tells nothing of itself needs a capture that can be decrypted.",
        ttlb_ms,
        heading="last byte",
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
        "(Yu and Benson 2021, section 3): what answers its FIN does not count, wherever it is when the client ends.",
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
