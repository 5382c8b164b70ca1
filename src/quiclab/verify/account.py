# SPDX-License-Identifier: Apache-2.0
"""Whether the account of a user's own client can be true, by what is seen of its packets without any key.

An account is a claim. Bytes that it has must have come to its end of the path, no sooner than it says, the version of
HTTP must have been offered, and nothing was sent before it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quiclab.metrics.moved import protocol_of
from quiclab.verify.responses import CAPTURE

_ALPN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""Identifiers of RFC 7301's registry by the protocol of an arm."""
_GRACE_NS = 1_000_000
"""What the program's clock readings may lie beside its packets: it notes an instant before or after the system call."""


def account_contradiction(
    document: Mapping[str, Any], proof: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]
) -> str | None:
    """The first claim of a user's own client that its packets contradict; None without such a client or claim.

    `tables` are those of the measured client.
    """
    if not document.get("own_client"):
        return None
    wanted, offered = _ALPN[document["protocol"]], proof["alpn_offered"]
    if isinstance(offered, list) and offered and wanted not in offered:
        return f"asked for {wanted}, but the client's ClientHello offers {' and '.join(offered)} alone"
    if document["expected"].get("direction") != "download" or document.get("content") != "random":
        return None  # what was uploaded the server has; of what can be compressed fewer bytes may come
    packets = _of_arm(tables["ip_packets"].filter(pl.col("source") == CAPTURE).sort("time_ns"), document)
    requests = (document["client"] or {}).get("requests") or []
    kept = document.get("client_body")
    got = sum(each["body_bytes"] for each in requests) or (kept["body_bytes"] if kept else 0)
    return _too_few(packets, got) or (_too_soon(packets, requests, got) if requests else None)


def _of_arm(packets: pl.DataFrame, document: Mapping[str, Any]) -> pl.DataFrame:
    """Packets to and from the server over the arm's own transport: nothing else can have brought the body."""
    port = document["server_port"]
    of_server = (pl.col("src_port") == port) | (pl.col("dst_port") == port)
    return packets.filter(pl.col("protocol") == protocol_of(document), of_server)


def _too_few(packets: pl.DataFrame, got: int) -> str | None:
    came = int(packets.filter(pl.col("direction") == "down")["payload_bytes"].sum())
    return None if came >= got else f"the client says that it got {got} bytes, but only {came} came to it"


def _too_soon(packets: pl.DataFrame, requests: list[dict[str, Any]], got: int) -> str | None:
    sent = packets.filter(pl.col("direction") == "up")["time_ns"]
    start_ns = min(each["start_ns"] for each in requests)
    if not sent.is_empty() and start_ns > sent[0] + _GRACE_NS:
        return f"the client's account begins {(start_ns - sent[0]) / 1e6:.1f} ms after its first packet"
    down = packets.filter(pl.col("direction") == "down")
    enough = down.filter(pl.col("payload_bytes").cast(pl.Int64).cum_sum() >= got)["time_ns"]
    end_ns = max(each["last_byte_ns"] for each in requests)
    if not enough.is_empty() and end_ns < enough[0] - _GRACE_NS:
        return f"the client says that it had all bytes {(enough[0] - end_ns) / 1e6:.1f} ms before so many had come"
    return None
