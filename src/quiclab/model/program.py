# SPDX-License-Identifier: Apache-2.0
"""A program in a role, and the knobs, which have the same names for every program."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Literal

from quiclab.model.units import ByteCount, Duration, Share

PLACEHOLDERS = (
    *("address", "port", "host", "url", "object", "protocol", "ip_version"),
    *("cert", "key", "ca", "root", "work", "output", "qlog_dir", "keylog", "origin"),
)
"""Placeholders that argv and env of a user's own program may have in braces."""

TLS_GROUPS = ("x25519", "secp256r1", "secp384r1", "x25519mlkem768")
"""Names of TLS's key exchange groups (RFC 8446 section 4.2.7, in lower case)."""

BROWSERS = frozenset({"chromium", "firefox"})
"""Clients that are several programs: each starts others."""


def is_version(found: str, asked: str) -> bool:
    """True if a version begins with the numbers that are asked for: 1.30.4 is of 1.30, and 1.30 is not of 1.3."""
    return re.match(re.escape(asked) + r"(?![0-9])", found) is not None


@dataclass(frozen=True)
class Knobs:
    """Settings of a program. A knob that is not set keeps the program's own value, which tables and reports then name.

    A knob that a program does not have is refused when the plan is made; docs/reference/endpoints.md lists which
    program has which.
    """

    congestion_control: str | None = None
    """QUIC's congestion control: `reno`, `cubic`, `bbr` or `bbr2`, if the program has it. TCP's is the arm's
    `tcp.congestion_control`."""
    initial_window: int | None = None
    """QUIC's initial congestion window in packets. TCP's is the arm's `tcp.initial_window`."""
    max_window: ByteCount | None = None
    """Largest congestion window of QUIC."""
    pacing: bool | None = None
    """Spread QUIC's packets over the round trip. TCP's is the arm's `tcp.pacing`."""
    hystart: bool | None = None
    """Leave slow start when the RTT rises (HyStart++, RFC 9406)."""
    connection_window: ByteCount | None = None
    """Flow control: bytes that the peer may send on the whole connection before this end has read them."""
    stream_window: ByteCount | None = None
    """Flow control: bytes that the peer may send on one stream before this end has read them."""
    upload_window: ByteCount | None = None
    """Servers and proxies whose `stream_window` is another one: bytes of a request's body that the client may send over
    HTTP/2 before they are asked for. nginx announces it as SETTINGS_INITIAL_WINDOW_SIZE; as a server it opens the
    window once it reads the body, as a proxy that passes bodies on it does not."""
    max_streams: int | None = None
    """Number of request streams that the peer may have open at once (MSPC)."""
    groups: tuple[str, ...] | None = None
    """TLS key exchange groups in order of preference; a client whose first group the server lacks causes a
    HelloRetryRequest."""
    tls_version: Literal["1.2", "1.3"] | None = None
    """Clients: version of TLS over TCP; QUIC always has TLS 1.3. Servers and proxies accept both."""
    session: Literal["fresh", "resumed", "early_data"] | None = None
    """Clients: a first visit, a resumed session (one round trip less on TCP with 1.2, no certificate), or the request
    in 0-RTT data. The ticket is fetched before the trial, over the server's own loopback. Chromium has this knob on
    pages only: it makes that visit itself, over the path's links without what impairs them; with `fresh` it does so
    too, but in another profile."""
    http_cache: bool | None = None
    """Clients that load pages and resume a session: keep what the first visit left in the HTTP cache, which is emptied
    otherwise. The servers then let all resources of a page be kept for a day (`Cache-Control: max-age=86400`), but not
    its document, which is asked for again."""
    address_token: bool | None = None
    """Clients over HTTP/3 that resume a session: bring the address token that the first visit was given (NEW_TOKEN,
    RFC 9000 section 8.1.3), so that the server may send more than three times what has come. That visit is made from
    the client's own address, over the path's links without what impairs them. Without this knob the address is one
    that the server does not know, as after a change of network."""
    early_data: bool | None = None
    """Servers: accept 0-RTT data."""
    ack_delay: Duration | None = None
    """Longest time that this end holds an acknowledgement back (max_ack_delay, RFC 9000 section 18.2), below 16.384 s.
    Without `ack_frequency` it waits that long whatever the number of packets."""
    ack_frequency: int | None = None
    """Number of ack-eliciting packets after which this end acknowledges at once."""
    peer_ack_frequency: int | None = None
    """Number of ack-eliciting packets after which the other end is to acknowledge at once. It is asked by ACK_FREQUENCY
    frames (draft-ietf-quic-ack-frequency): both ends must know the extension."""
    peer_ack_delay: Duration | None = None
    """Longest time that the other end is to hold an acknowledgement back, asked by ACK_FREQUENCY frames. quinn asks for
    no more than a round trip or 25 ms, whichever is longer."""
    packet_threshold: int | None = None
    """Number of later packets acknowledged before a packet is declared lost (RFC 9002 section 6.1.1: 3)."""
    time_threshold: float | None = None
    """Round-trip times after which a packet before an acknowledged one is declared lost (RFC 9002 section 6.1.2:
    9/8)."""
    initial_rtt: Duration | None = None
    """Round-trip time that is assumed before the first sample (RFC 9002 section 6.2.2: 333 ms); the initial PTO is
    three times that."""
    gso: bool | None = None
    """Hand several datagrams to the kernel at once (UDP_SEGMENT)."""
    ecn: bool | None = None
    """Mark QUIC packets as ECN-capable (RFC 9000 section 13.4). docs/reference/endpoints.md says what each program does
    by default, over all paths. TCP's is the arm's `tcp.ecn`."""
    max_payload: int | None = None
    """Largest UDP payload that this end sends, in bytes."""
    path_mtu_discovery: bool | None = None
    """Probe for packets larger than the first ones (RFC 9000 section 14.3)."""
    scheduler: Literal["fifo", "round_robin"] | None = None
    """Servers: send one response after the other, or all responses in turns."""
    priorities: bool | None = None
    """Servers: send more urgent responses first, by the request's Priority field (RFC 9218). Among equally urgent ones
    `scheduler` decides, whether they are marked incremental or not."""
    retry: bool | None = None
    """Servers and proxies: have the client show its address by a Retry packet (RFC 9000 section 8.1.2), which costs a
    round trip."""
    udp_receive_buffer: ByteCount | None = None
    """Servers and proxies: size that is asked for of the receive buffer of the sockets of QUIC (SO_RCVBUF). Linux gives
    at most `net.core.rmem_max`."""
    compression: bool | None = None
    """Servers and proxies: compress bodies (gzip) for clients that ask for it. Clients: ask for it. Both ends need the
    knob; the body is judged as it was before compression. Random content does not get smaller."""
    origin_connection: Literal["warm", "cold"] | None = None
    """Proxies: use the connection to the origin that the warm-up request opened (`warm`), or open a new one for the
    transfer (`cold`)."""
    verify: bool | None = None
    """Clients: verify the server's certificate, which is the default and costs time; false switches it off."""
    migration: Literal["active", "rebinding"] | None = None
    """Clients: change the address in mid-transfer, with path validation or as a NAT does it."""
    migrate_at: ByteCount | None = None
    """Clients: body bytes after which the address changes."""
    on_address_change: Literal["migrate", "rebind", "restart", "resume"] | None = None
    """Clients: what to do when a workload changes their address. `migrate`: validate a path from the new one and move
    the connection (RFC 9000 section 9.2). `rebind`: only send from the new address, as behind a NAT. `restart`: request
    the object again on a new connection. `resume`: request the rest of it on a new connection (Range, with If-Range if
    the server gave a tag)."""
    reconnect_session: Literal["fresh", "resumed"] | None = None
    """Clients: TLS session of the connection that `restart` or `resume` opens."""

    def asked(self) -> tuple[str, ...]:
        """Names of the knobs that are set."""
        return tuple(field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None)


@dataclass(frozen=True)
class Program:
    """A program in a role: an endpoint of the registry by name, or the user's own by a command template."""

    name: str
    """Name of the endpoint as `quiclab doctor` lists it, or `command` for the user's own."""
    argv: tuple[str, ...] = ()
    """Command template of the user's own program, with placeholders such as `{port}`: see `PLACEHOLDERS`."""
    env: tuple[tuple[str, str], ...] = ()
    """Environment of the user's own program, in addition to HOME and TMPDIR; values are templates too."""
    ready: Literal["udp", "tcp", "both", "none"] = "both"
    """Sockets in /proc/net that tell that a server is ready."""
    prefix: str | None = None
    """Folder below which another version of the program lies (in `bin`, `sbin`, `usr/bin`, …). Two arms with two
    prefixes compare yesterday's build with today's."""
    version: str | None = None
    """Beginning of the version that is required, as `quiclab doctor` prints it: `1.30` accepts 1.30.4 but neither 1.3
    nor 1.31. An arm whose programs have another version fails with that reason. A release that docs/how-to/stacks.md
    lists, given in full and without `prefix`, is that release, which `quiclab doctor --install NAME@VERSION`
    installs."""
    knobs: Knobs = Knobs()
    """Knobs of the program; in a spec they are keys of the same table."""
    cpu: Share | None = None
    """Share of one core that the program gets, as on a slow machine: 100 % is a whole core. None is no limit."""
    cpu_by: Literal["quota", "competitor", "emulator"] = "quota"
    """Means that makes the program's machine slow: a quota of the cgroup, which lets the program run and stops it in
    turns, or a competitor on the same core, which leave it the share `cpu`; or, without `cpu`, a user-mode emulator
    (qemu-user), in which the program's own code takes several times as long, and the kernel's work for it does not."""

    @property
    def is_slow(self) -> bool:
        """True on a slow processor, by whatever means."""
        return self.cpu is not None or self.cpu_by == "emulator"
