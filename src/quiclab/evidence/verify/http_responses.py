# SPDX-License-Identifier: Apache-2.0
"""HTTP at the client's end by its packets: every response of the measured connections, as `trial.json` has it.

The rows are those that `decoders.decode_trial` found in the client's capture, so that verdict, metrics and report rest
on one reading of the packets.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

CAPTURE = "raw/client.pcapng"
_FACTS = ("http_version", "method", "url", "status", "content_encoding", "content_range")
_LOSES = ("data_loss", "error")
"""Severities of findings about a capture that may hide a request or a part of a body."""
_REASONS = {
    "no_keys": "the client left no TLS keys that open its connection",
    "missing_keys": "the client left no TLS keys that open all of its packets",
    "cut_packet": "the capture keeps only the headers of packets",
}


_OF_KEYS = ("no_keys", "missing_keys", "missing_early_keys", "wrong_keys")
"""Findings about packets that stayed closed."""
_WITHOUT_NUMBER = ("retry", "version_negotiation")
"""Packets of QUIC that are not sealed."""


def responses(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, object]]:
    """Return a row for each request of the measured client whose headers could be read: what was asked for, status and
    HTTP version of the answer, bytes of both bodies as sent, and whether the response came to its end."""
    rows = tables["http_requests"].filter(pl.col("source") == CAPTURE).sort("time_ns")
    told = rows.select(
        *_FACTS,
        body_bytes=pl.col("response_body_bytes").fill_null(0),
        sent_bytes=pl.col("request_body_bytes").fill_null(0),
        ended=pl.col("last_byte_ns").is_not_null(),
    )
    return told.to_dicts()


def is_captured(tables: Mapping[str, pl.DataFrame]) -> bool:
    """True if there is a capture of the client's packets that could be read."""
    of_capture = pl.col("source") == CAPTURE
    unreadable = tables["decode_stats"].filter(of_capture, pl.col("name") == "unreadable")
    return not tables["sources"].filter(of_capture).is_empty() and unreadable.is_empty()


def closed_because(tables: Mapping[str, pl.DataFrame], *, competes: bool) -> str | None:
    """Reason why the client's capture may hold requests and bytes of a body that were not read; None where all was
    read.

    `tables` are those of the measured client. In a competition the capture is that of all flows: keys that only
    another flow lacks are no reason.
    """
    if tables["sources"].filter(pl.col("source") == CAPTURE).is_empty():
        return "there is no capture of the client's packets"
    found = tables["decode_stats"].filter(pl.col("source") == CAPTURE, pl.col("severity").is_in(_LOSES))
    if competes and not _stayed_closed(tables):
        found = found.filter(~pl.col("name").is_in(_OF_KEYS))
    if found.is_empty():
        return None
    name, advice = found.select("name", "advice").row(0)
    reason = _REASONS.get(name, str(advice))
    return f"{reason} (this flow's or another's)" if competes and name not in _OF_KEYS else reason


def _stayed_closed(tables: Mapping[str, pl.DataFrame]) -> bool:
    """True if a measured connection stayed closed: packets of QUIC have no number then, and TCP shows no frames."""
    own = {name: tables[name].filter(pl.col("source") == CAPTURE) for name in ("packets", "handshake", "http_frames")}
    sealed = ~pl.col("packet_type").is_in(_WITHOUT_NUMBER) | pl.col("packet_type").is_null()
    if not own["packets"].filter(pl.col("transport") == "quic", pl.col("packet_number").is_null(), sealed).is_empty():
        return True
    hellos = own["handshake"].filter(pl.col("transport") == "tcp", pl.col("step") == "client_hello")
    return not hellos.join(own["http_frames"], on="connection", how="anti").is_empty()
