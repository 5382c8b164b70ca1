# SPDX-License-Identifier: Apache-2.0
"""Check of the account of a user's own client by its packets, most of it without a key: can it be true?

An account is a claim. It must be of what was asked for, bytes that it has must have come to its end of the path, no
sooner than it says, the version of HTTP must have been offered, and nothing was sent before it began. Where keys open
all packets, these also show every URL and when the first response began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from quiclab.evidence.metrics.asked_for import asked_for, is_named_by
from quiclab.evidence.metrics.expected_bytes import may_use_several_sockets, protocol_of, when_carried
from quiclab.evidence.verify.http_responses import CAPTURE
from quiclab.model.client_account import ClientRequest
from quiclab.model.proof_record import UNPROVEN, HttpResponse, Proof
from quiclab.model.trial_record import TrialRecord

_ALPN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""Identifiers of RFC 7301's registry by the protocol of an arm."""
_LONGEST_URL = 200
_GRACE_NS = 1_000_000
"""Tolerance between the program's clock readings and its packets: it notes an instant before or after the system
call."""


def account_contradiction(trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> str | None:
    """The first claim of a user's own client that its packets contradict; None without such a client or claim.

    `tables` are those of the measured client.
    """
    if not trial.own_client:
        return None
    wanted, offered = _ALPN[trial.protocol or ""], trial.proof.alpn_offered
    if offered != UNPROVEN and offered and wanted not in offered:
        return f"asked for {wanted}, but the client's ClientHello offers {' and '.join(offered)} alone"
    requests = trial.requests
    told = _other_url(trial)
    # What was uploaded the server has; of what can be compressed fewer bytes may come.
    if told is None and trial.expected.direction == "download" and trial.content == "random":
        packets, kept = _packets_of_arm(tables, trial), trial.client_body
        got = sum(each.body_bytes or 0 for each in requests) or (kept.body_bytes if kept else 0)
        apart = not may_use_several_sockets(trial)
        told = _too_few(packets, got) or (_too_soon(packets, requests, got, apart=apart) if requests else None)
    return told or _before_http(trial, tables)


def _other_url(trial: TrialRecord) -> str | None:
    """Problem of a request of the account that is not for what was asked for, or is not among opened packets."""
    names, requests = asked_for(trial), trial.requests
    for url in (each.url for each in requests if each.url is not None):
        if names is not None and not any(is_named_by(url, name) for name in names):
            return f"the client's account is of {_readable(url)}, and not of {' and '.join(names)}"
    if not _shows_all(trial.proof) or trial.probe:
        return None
    seen = {each.url and _authority_and_path(each.url, trial) for each in _responses(trial.proof)}
    other = (each.url for each in requests if each.url and _authority_and_path(each.url, trial) not in seen)
    unseen = None if None in seen else next(other, None)
    return (
        None if unseen is None else f"no request for {_readable(unseen)} of the client's account is among its packets"
    )


def _responses(proof: Proof) -> Sequence[HttpResponse]:
    return () if proof.http_responses == UNPROVEN else proof.http_responses


def _shows_all(proof: Proof) -> bool:
    """True if the packets show every request."""
    return "http_responses" not in proof.unproven_because


def _authority_and_path(url: str, trial: TrialRecord) -> tuple[str, str]:
    """Authority and path, the same however the port is written."""
    authority, _, path = url.partition("://")[2].partition("/")
    return authority.lower().removesuffix(f":{trial.server_port}"), path


def _readable(url: str) -> str:
    """Return the part of a URL that a sentence has room for, in ASCII, as every URL is."""
    return url[:_LONGEST_URL].encode("ascii", "backslashreplace").decode()


def _before_http(trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> str | None:
    """Problem of an account with a first byte before the head of a response, or, where that is closed, before
    anything."""
    told = [each.first_byte_ns for each in trial.requests if each.first_byte_ns is not None]
    packets = _packets_of_arm(tables, trial).filter(pl.col("direction") == "down", pl.col("payload_bytes") > 0)[
        "time_ns"
    ]
    heads = tables["http_requests"].filter(pl.col("source") == CAPTURE)["headers_ns"].drop_nulls()
    bound, what = (
        (heads, "the head of a response") if _shows_all(trial.proof) and len(heads) else (packets, "any payload")
    )
    first_ns = bound.min()
    if not told or not isinstance(first_ns, int) or min(told) >= first_ns - _GRACE_NS:
        return None
    return f"the client says that it had a first byte {(first_ns - min(told)) / 1e6:.1f} ms before {what} had come"


def _packets_of_arm(tables: Mapping[str, pl.DataFrame], trial: TrialRecord) -> pl.DataFrame:
    """Packets to and from the server over the arm's own transport: nothing else can have brought the body."""
    port, packets = trial.server_port, tables["ip_packets"].filter(pl.col("source") == CAPTURE).sort("time_ns")
    of_server = (pl.col("src_port") == port) | (pl.col("dst_port") == port)
    return packets.filter(pl.col("protocol") == protocol_of(trial), of_server)


def _too_few(packets: pl.DataFrame, got: int) -> str | None:
    came = int(packets.filter(pl.col("direction") == "down")["payload_bytes"].sum())
    return None if came >= got else f"the client says that it got {got} bytes, but only {came} came to it"


def _too_soon(packets: pl.DataFrame, requests: Sequence[ClientRequest], got: int, *, apart: bool) -> str | None:
    """Reason to refuse an account that starts after the client's first packet, or ends too early; with `apart`, on
    one connection."""
    sent = packets.filter(pl.col("direction") == "up")["time_ns"]
    start_ns = min(each.start_ns or 0 for each in requests)
    if not sent.is_empty() and start_ns > sent[0] + _GRACE_NS:
        return f"the client's account begins {(start_ns - sent[0]) / 1e6:.1f} ms after its first packet"
    down = packets.filter(pl.col("direction") == "down")
    enough_ns = when_carried(down, up=False, size_bytes=got, apart=apart)
    end_ns = max(each.last_byte_ns or 0 for each in requests)
    if enough_ns is None or end_ns >= enough_ns - _GRACE_NS:
        return None
    together_ns = when_carried(down, up=False, size_bytes=got, apart=False)
    where = " on one connection" if together_ns is not None and end_ns >= together_ns - _GRACE_NS else ""
    return f"the client says that it had all bytes {(enough_ns - end_ns) / 1e6:.1f} ms before so many had come{where}"
