# SPDX-License-Identifier: Apache-2.0
"""A program in a role, and the knobs that every program is asked by the same names."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from quiclab.units import ByteCount, Duration, Share

PLACEHOLDERS = (
    *("address", "port", "host", "url", "object", "protocol", "ip_version"),
    *("cert", "key", "ca", "root", "work", "output", "qlog_dir", "keylog", "origin"),
)
"""What the argv and env of a user's own program may name in braces."""

TLS_GROUPS = ("x25519", "secp256r1", "secp384r1", "x25519mlkem768")
"""Names of TLS's key exchange groups (RFC 8446 section 4.2.7, in lower case)."""


@dataclass(frozen=True)
class Knobs:
    """What can be set on a program. What is not set stays the program's own, which tables and reports then name.

    A program that cannot set a knob says so when the plan is made; docs/reference/endpoints.md lists who can what.
    """

    congestion_control: str | None = None
    """QUIC's: `reno`, `cubic`, `bbr` or `bbr2`, as the program can. TCP's is the arm's `tcp.congestion_control`."""
    initial_window: int | None = None
    """QUIC's initial congestion window in packets. TCP's is the arm's `tcp.initial_window`."""
    max_window: ByteCount | None = None
    """Most that QUIC's congestion window may grow to."""
    pacing: bool | None = None
    """Spread QUIC's packets over the round trip. TCP's is the arm's `tcp.pacing`."""
    hystart: bool | None = None
    """Leave slow start when the RTT rises (HyStart++, RFC 9406)."""
    connection_window: ByteCount | None = None
    """Flow control: bytes that the peer may send on the whole connection before this end has read them."""
    stream_window: ByteCount | None = None
    """Flow control: the same for one stream."""
    max_streams: int | None = None
    """Request streams that the peer may have open at once (MSPC)."""
    groups: tuple[str, ...] | None = None
    """TLS key exchange groups in order of preference; a client whose first group the server lacks causes a
    HelloRetryRequest."""
    tls_version: Literal["1.2", "1.3"] | None = None
    """Clients: of TLS over TCP; QUIC is TLS 1.3 always. Servers and proxies take both."""
    session: Literal["fresh", "resumed", "early_data"] | None = None
    """Clients: a first visit, a resumed session (one round trip less on TCP with 1.2, no certificate), or the request
    in 0-RTT data. The ticket is fetched before the trial, over the server's own loopback. Chromium, on pages only,
    makes that visit itself, over the path's links without what impairs them; with `fresh`, too, in another profile."""
    early_data: bool | None = None
    """Servers: whether 0-RTT data are accepted."""
    ack_delay: Duration | None = None
    """Longest time that this end holds an acknowledgement back (max_ack_delay, RFC 9000 section 18.2), below 16.384 s.
    Without `ack_frequency` it waits as long for any number of packets."""
    ack_frequency: int | None = None
    """Ack-eliciting packets that this end receives before it acknowledges at once."""
    peer_ack_frequency: int | None = None
    """The same of the other end, which is asked by ACK_FREQUENCY frames (draft-ietf-quic-ack-frequency): both ends must
    know the extension."""
    peer_ack_delay: Duration | None = None
    """Longest time that the other end is asked, likewise, to hold an acknowledgement back. quinn asks for no more than
    a round trip or 25 ms, whichever is longer."""
    packet_threshold: int | None = None
    """Later packets acknowledged before one is declared lost (RFC 9002 section 6.1.1: 3)."""
    time_threshold: float | None = None
    """The same in round-trip times (RFC 9002 section 6.1.2: 9/8)."""
    initial_rtt: Duration | None = None
    """Assumed before the first sample (RFC 9002 section 6.2.2: 333 ms); the initial PTO is three times that."""
    gso: bool | None = None
    """Hand several datagrams to the kernel at once (UDP_SEGMENT)."""
    ecn: bool | None = None
    """Mark QUIC packets as able to carry ECN (RFC 9000 section 13.4). What a program does by itself, which is the same
    over all paths, stands in docs/reference/endpoints.md. TCP's is the arm's `tcp.ecn`."""
    max_payload: int | None = None
    """Most bytes of UDP payload that this end sends."""
    path_mtu_discovery: bool | None = None
    """Look for packets larger than the first ones (RFC 9000 section 14.3)."""
    scheduler: Literal["fifo", "round_robin"] | None = None
    """Servers: one response after the other, or all responses in turns."""
    priorities: bool | None = None
    """Servers: whether more urgent responses go first, by the request's Priority field (RFC 9218). Among equally urgent
    ones `scheduler` decides, whether they say that they are incremental or not."""
    compression: bool | None = None
    """Servers and proxies: compress bodies (gzip) for clients that ask for it. Clients: ask for it. Both ends must be
    told; the body is judged as it was before. Of random content it makes nothing smaller."""
    origin_connection: Literal["warm", "cold"] | None = None
    """Proxies: whether the connection to the origin is there before the transfer (`warm`, from the warm-up request), or
    the transfer opens one of its own."""
    verify: bool | None = None
    """Clients: check the server's certificate, which is the default and costs time; false switches it off."""
    migration: Literal["active", "rebinding"] | None = None
    """Clients: change the address in mid-transfer, with path validation or as a NAT does it."""
    migrate_at: ByteCount | None = None
    """Clients: body bytes after which the address changes."""
    on_address_change: Literal["migrate", "rebind", "restart", "resume"] | None = None
    """Clients: what they do where a workload changes their address. `migrate`: validate a path from the new one and
    move the connection (RFC 9000 section 9.2). `rebind`: only send from there, as behind a NAT. `restart`: ask for the
    object again on a new connection. `resume`: ask there for the rest (Range, with If-Range where the server gave a
    tag)."""
    reconnect_session: Literal["fresh", "resumed"] | None = None
    """Clients: the TLS handshake of that new connection."""

    def asked(self) -> tuple[str, ...]:
        """Names of the knobs that are set."""
        return tuple(field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None)


@dataclass(frozen=True)
class Program:
    """Which endpoint plays a role: one of the registry by name, or the user's own by a command template."""

    name: str
    """Name in `quiclab doctor`, or `command` for the user's own."""
    argv: tuple[str, ...] = ()
    """Template of the user's own, with placeholders such as `{port}`: see `PLACEHOLDERS`."""
    env: tuple[tuple[str, str], ...] = ()
    """Environment of the user's own, beside HOME and TMPDIR; values are templates too."""
    ready: Literal["udp", "tcp", "both", "none"] = "both"
    """How to know that a server is ready: its sockets in /proc/net."""
    prefix: str | None = None
    """Another version of the program: the folder below which it lies (`bin`, `sbin`, `usr/bin`, …). Two arms with
    two prefixes compare yesterday's build with today's."""
    version: str | None = None
    """What its version, as `quiclab doctor` tells it, must begin with: `1.30` takes 1.30.4 but neither 1.3 nor 1.31. An
    arm whose programs are of another version fails with that reason."""
    knobs: Knobs = Knobs()
    """What is set on it; in a spec these are keys of the same table."""
    cpu: Share | None = None
    """Share of one core that it gets, as if its machine were slow: 100 % is a whole core. None is all it can have."""
    cpu_by: Literal["quota", "competitor"] = "quota"
    """How: by a quota of its cgroup, which lets it run and stops it in turns, or by a competitor on the same core."""
