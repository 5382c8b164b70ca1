# SPDX-License-Identifier: Apache-2.0
"""Proof of a trial: facts from its packets first, then from its programs. The rest is `unproven`.

Agreement of captures with the link's own log: both have every packet's instant, written by the same process
from one clock reading.

So they differ by nothing, unless somebody changed one of them: a capture whose clock runs at another speed, or whose
packets are in another order, is not what was measured.

Check of the account of a user's own client by its packets, most of it without a key: can it be true?

An account is a claim. It must be of what was asked for, bytes that it has must have come to its end of the path, no
sooner than it says, the version of HTTP must have been offered, and nothing was sent before it began. Where keys open
all packets, these also show every URL and when the first response began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from quiclab.evidence.metrics.asked_for import asked_for, is_named_by
from quiclab.evidence.metrics.expected_bytes import may_use_several_sockets, protocol_of, when_carried
from quiclab.evidence.metrics.measured_flow import measured_tables
from quiclab.evidence.verify.competing_flows import prove_competition
from quiclab.evidence.verify.connections import captured, connections
from quiclab.evidence.verify.decrypted import ClosedError, opened_facts
from quiclab.evidence.verify.early_data_log import early_data_bytes_by_log
from quiclab.evidence.verify.handshake import Handshake, read_handshake
from quiclab.evidence.verify.http_responses import CAPTURE, closed_because, is_captured, responses
from quiclab.evidence.verify.origin_leg import origin_leg
from quiclab.evidence.verify.wire import Sender, Wire, read_wire
from quiclab.model.client_account import ClientRequest
from quiclab.model.host_findings import Host
from quiclab.model.link_account import LinkSide
from quiclab.model.proof_record import UNPROVEN, HttpResponse, Proof
from quiclab.model.trial_record import ProbeTarget, TrialRecord
from quiclab.store.record_form import as_record

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


_TOLERANCE_NS = 1000
"""The finest step of the times in a capture: none that another program wrote anew is finer than a microsecond."""


def capture_problem(trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> str | None:
    """The first capture of the client's leg that contradicts the link's log, with the largest difference; None where
    they agree, or where one of them is not there."""
    links = trial.links_of("client")
    if not links:
        return None
    ends = (("client", links[0], links[0].capture_client), ("server", links[-1], links[-1].capture_server))
    for end, link, capture in ends:
        logs = [f"raw/{link.packet_log}"]
        if trial.second_link and link is links[0]:
            logs.append(f"raw/{trial.second_link.packet_log}")
        apart_ns = _largest_difference(tables, f"raw/{capture}", end, logs)
        if apart_ns is not None and apart_ns > _TOLERANCE_NS:
            return (
                f"the capture at the {end}'s end contradicts the link's log: a packet's times differ by "
                f"{apart_ns / 1e6:.3f} ms"
            )
    return None


def _largest_difference(tables: Mapping[str, pl.DataFrame], capture: str, end: str, logs: list[str]) -> int | None:
    """Largest difference of a packet's time in the capture and in the link's logs, each of which counts from 0; None
    without a packet that both have."""
    seen = tables["ip_packets"].filter(pl.col("source") == capture, pl.col("packet_index").is_not_null())
    sent = pl.col("direction") == ("up" if end == "client" else "down")
    told = tables["link_packets"].filter(pl.col("source").is_in(logs), pl.col("action") != "outside_model")
    told = told.select(
        "direction",
        packet_index="index",
        told_ns=pl.when(sent).then("arrival_ns").otherwise(pl.col("due_ns") + pl.col("lateness_ns")),
    ).drop_nulls("told_ns")
    both = seen.select("direction", "packet_index", "number", "time_ns").join(told, on=("direction", "packet_index"))
    # The link's copy of a packet has its number, as has a packet of the client's other network.
    nearest = both.group_by("number").agg(((pl.col("time_ns") - pl.col("told_ns")).abs()).min().alias("apart_ns"))
    return None if nearest.is_empty() else int(nearest["apart_ns"].max())  # type: ignore[arg-type]


_NEEDS_KEYS = (
    "connections",
    "http_version_seen",
    "alpn",
    "handshake_round_trips",
    "early_data",
    "early_data_bytes",
    "early_data_bytes_by",
    "quic_parameters_server",
    "http_settings_client",
    "http_settings_server",
    "alt_svc",
    "address_changed",
    "path_challenges",
    "path_responses",
    "path_validated_by",
    "new_connection_id",
    "migrated",
    "new_path",
    "answers",
)
_NO_KEYS = "the client left no TLS keys (raw/keys.log)"
DECODER = "quiclab's decoders"
"""Name of what opened the packets."""


def prove(folder: Path, trial: TrialRecord, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """Transport, versions, TLS, HTTP, ECN and congestion control as they were, each a value or `unproven`.

    `tables` are those of `decoders.decode_trial`.
    """
    own = measured_tables(tables, trial)
    rows = captured(own)
    found, wire = connections(rows), read_wire(rows["ip_packets"], trial.server_port or 0)
    seen = is_captured(own)
    proof: dict[str, object] = {
        **_hellos(read_handshake(wire, found) if seen else None),
        **_on_the_wire(wire if seen else None, trial),
        **_other_facts(folder, trial),
    }
    if trial.competition is not None:
        proof["competition"] = prove_competition(tables, trial)
    proof |= {**dict.fromkeys(_NEEDS_KEYS, UNPROVEN), "decrypted_by": UNPROVEN}
    because = _because(proof["transport"], trial.probe)
    proof["unproven_because"] = because
    proof["http_responses"], closed = responses(own), closed_because(own, competes=trial.competition is not None)
    if closed is not None:
        because["http_responses"] = closed
    try:
        opened, why = opened_facts(found, closed, trial.protocol)
    except ClosedError as error:
        keys = folder / "raw" / "keys.log"
        because["decrypted_by"] = str(error) if keys.is_file() and keys.stat().st_size else _NO_KEYS
    else:
        because |= why
        _add_opened(proof, opened)
        _ask_the_log(own, proof, because)
    proven = msgspec.structs.replace(trial, proof=as_record(proof, Proof))
    proof["account_contradicted"] = account_contradiction(proven, own)
    proof["capture_contradicted"] = capture_problem(trial, tables)
    return proof


def _hellos(handshake: Handshake | None) -> dict[str, object]:
    """Facts of the handshake that can be read without keys; `handshake` is None where there is no capture."""
    return {
        "transport": handshake.transport if handshake else UNPROVEN,
        "tls_version": _known(handshake and handshake.tls_version),
        "tls_cipher": _known(handshake and handshake.cipher_suite),
        "tls_group": _known(handshake and handshake.group),
        "hello_retry_request": _known(handshake and handshake.hello_retry_request),
        "resumed": _known(handshake and handshake.resumed),
        "early_data_offered": _known(handshake and handshake.early_data_offered),
        "address_token": _known(handshake and handshake.address_token),
        "early_data_packets": _known(handshake and handshake.early_data_packets),
        "quic_version": _known(handshake and handshake.quic_version),
        "quic_retry": _known(handshake and handshake.quic_retry),
        "quic_version_negotiation": _known(handshake and handshake.quic_version_negotiation),
        "quic_parameters_client": handshake.quic_parameters_client if handshake else UNPROVEN,
        "alpn_offered": list(handshake.alpn_offered) if handshake else UNPROVEN,
        "handshake_problems": list(handshake.problems) if handshake else [],
    }


def _other_facts(folder: Path, trial: TrialRecord) -> dict[str, object]:
    """Facts from elsewhere than the measured capture: the programs, the kernel and the capture of another leg."""
    host = trial.host
    return {
        "http_version": trial.first_request.http_version or UNPROVEN,
        "tcp_congestion_control_asked": trial.tcp_congestion_control_asked,
        "tcp_congestion_control": _tcp_sender(host),
        "tcp_congestion_controls": host.tcp_congestion_controls or UNPROVEN,
        "origin_leg": _known(origin_leg(folder, trial)),
        "quic_congestion_control_asked": trial.asked.congestion_control or UNPROVEN,
        "quic_congestion_control": UNPROVEN,
        "versions": trial.client.versions if trial.client else {},
    }


def _add_opened(proof: dict[str, object], found: dict[str, object]) -> None:
    """Add what only opened packets tell."""
    for replaced in ("resumed", "tls_group"):  # the hellos tell these, except in TLS 1.2
        if proof[replaced] != UNPROVEN:
            del found[replaced]
    proof |= {name: _known(value) for name, value in found.items()}
    if proof["alt_svc_use"] == UNPROVEN and found["alt_svc"] not in (None, "none"):
        proof["alt_svc_use"] = "used" if found["http_version_seen"] != "HTTP/3" else UNPROVEN
    proof["decrypted_by"] = DECODER


def _ask_the_log(tables: Mapping[str, pl.DataFrame], proof: dict[str, object], because: dict[str, str]) -> None:
    """Fill in from the client's qlog how much was sent in 0-RTT packets that stayed closed."""
    packets = proof["early_data_packets"]
    if proof["early_data_bytes"] != UNPROVEN:
        proof["early_data_bytes_by"] = "packets"
    elif isinstance(packets, int) and not isinstance(packets, bool) and packets:
        told = early_data_bytes_by_log(tables, packets)
        if told is not None:
            proof |= {"early_data_bytes": told, "early_data_bytes_by": "client's qlog"}
            because.pop("early_data_bytes", None)


def _tcp_sender(host: Host) -> str:
    """Congestion control of the end that sends the bodies, as its socket showed it."""
    return host.client_tcp_congestion_control or host.server_tcp_congestion_control or UNPROVEN


def _because(transport: object, probe: ProbeTarget | None) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if probe is not None:
        reasons["tcp_congestion_control"] = probe.server
    if transport == "quic":
        reasons["quic_congestion_control"] = "no server names it in its log; its window over time shows it"
    return reasons


def _on_the_wire(wire: Wire | None, trial: TrialRecord) -> dict[str, object]:
    if wire is None:
        facts = ("ecn", "ecn_client", "ecn_server", "client_sockets", "client_addresses", "alt_svc_use")
        return dict.fromkeys((*facts, "payload_bytes", "payload_bytes_of_one_socket"), UNPROVEN)
    return {
        # In the client's capture packets up are before the link, and those down behind it.
        "ecn": {
            "up": _ecn(wire, "client", "sent", trial.link.up),
            "down": _ecn(wire, "server", "arrived", trial.link.down),
        },
        "ecn_client": wire.ecn_seen("client"),
        "ecn_server": wire.ecn_seen("server"),
        "client_sockets": [socket.name for socket in wire.sockets],
        "client_addresses": wire.payload_by_address(),
        "payload_bytes": wire.payload_by_protocol(),
        "payload_bytes_of_one_socket": wire.most_by_socket(),
        "alt_svc_use": _alt_svc_use(wire),
    }


def _ecn(wire: Wire, sender: Sender, seen: str, side: LinkSide) -> dict[str, object]:
    """Codepoints of the packets of one sender where they were seen, and how many the link marked by its own account."""
    return {**wire.ecn_shares(sender), "seen": seen, "marked_by_link": _known(side.marked)}


def _alt_svc_use(wire: Wire) -> str:
    """Say how the client came to QUIC: `forced` if it used QUIC from the start; after an answer over TCP, that answer
    may have offered it."""
    answered = [socket.protocol for socket in wire.sockets if socket.payload_bytes["server"]]
    if not answered:
        return UNPROVEN
    if "udp" not in answered:
        return "not_used"
    return "forced" if answered[0] == "udp" else UNPROVEN


def _known(value: Any) -> Any:
    """Replace None, which is a missing capture or packets that do not tell, by UNPROVEN."""
    return UNPROVEN if value is None else value
