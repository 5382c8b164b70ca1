# SPDX-License-Identifier: Apache-2.0
"""aioquic as an HTTP/3 file server: QUIC in Python, with qlog and reno or cubic. Bound by the CPU near 50 Mbit/s.

`aioquic-faulty-implicit-ack` is wrong on purpose: when the client's first Handshake packet ends the Initial packets
(RFC 9001 section 4.9.1), it takes the last Initial packet still under way to be acknowledged at that instant, and its
age as a sample of the round-trip time. Where the path is longer than the initial PTO, that packet is a probe that left
a moment ago, and the smallest round trip of the whole connection is wrong. Its correct twin is `aioquic`. This was seen
in a production server with an initial PTO of 100 ms, which is `initial_rtt = "50 ms"` here (Yu and Benson, "Dissecting
Performance of Production QUIC", WWW 2021, section 7.2.1). There BBR suffered, which aioquic does not have: here pacing
and PTO follow the wrong sample. aioquic never sends a HelloRetryRequest either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints._aioquic import (
    ABILITIES,
    BETA,
    DEFAULT_PAYLOAD,
    KNOBS,
    KNOWN,
    library_settings,
    own_values_of_aioquic,
    probe_aioquic,
    unsupported_by_aioquic,
)
from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._stacks import python_argv
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.model.units import Duration

_PROGRAM = Path(__file__).with_name("_aioquic_program.py")


class AioquicServer:
    """A small program of ours around the aioquic library."""

    name = "aioquic"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs = KNOBS
    abilities: frozenset[Ability] = ABILITIES | {"content_type"}
    _implicit_ack_sample = False

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Import the library and ask for its version."""
        return probe_aioquic(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """HTTP/3 only; reno or cubic."""
        return unsupported_by_aioquic(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or DEFAULT_PAYLOAD

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return own_values_of_aioquic(program)

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender."""
        chosen = program.knobs.congestion_control or "reno"
        facts = {
            "congestion_control": f"aioquic {chosen}{BETA[chosen]}",
            "initial_window": "10 packets",
            "packet_size": f"UDP payload {program.knobs.max_payload or DEFAULT_PAYLOAD} bytes",
            "pacing": "paced",
            "initial_pto": str(Duration(2 * program.knobs.initial_rtt.ns) if program.knobs.initial_rtt else "200 ms"),
        }
        return KNOWN.traits(program, facts)

    def command(self, context: Context) -> Command:
        """Command with the job in a file."""
        job = context.work_dir / "aioquic-server.json"
        settings = {
            "address": context.address,
            "port": context.port,
            "root": str(context.root),
            "certificate": str(context.certificate),
            "key": str(context.key),
            "content_type": context.content_type,
            "library": library_settings(context.knobs),
            "qlog_dir": str(context.qlog_dir) if context.qlog_dir else None,
            "implicit_ack_sample": self._implicit_ack_sample,
        }
        return Command(
            argv=(*python_argv(context.program.prefix), "-I", str(_PROGRAM), str(job)),
            env={"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            files={job: json.dumps(settings)},
            sockets=("udp",),
            is_ours=True,
        )


class AioquicFaultyImplicitAck(AioquicServer):
    """aioquic that wrongly takes a sample of the round-trip time from an implicit acknowledgement. Its correct twin is
    `aioquic`."""

    name = "aioquic-faulty-implicit-ack"
    _implicit_ack_sample = True

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        fault = {"round_trip_samples": "faulty on purpose: one from a packet that nobody acknowledged"}
        return {**super().traits(program, protocol, tcp), **fault}
