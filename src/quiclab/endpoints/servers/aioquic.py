# SPDX-License-Identifier: Apache-2.0
"""aioquic as an HTTP/3 file server: QUIC in Python, with qlog and reno or cubic. Bound by the CPU near 50 Mbit/s."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from quiclab.endpoints._aioquic import (
    ABILITIES,
    DEFAULT_PAYLOAD,
    KNOBS,
    library_settings,
    probe_aioquic,
    unsupported_by_aioquic,
)
from quiclab.endpoints._api import Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.endpoints._stacks import python_argv
from quiclab.spec.model import Program, Protocol, Tcp

_PROGRAM = Path(__file__).with_name("_aioquic_program.py")


class AioquicServer:
    """A small program of ours around the aioquic library."""

    name = "aioquic"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs = KNOBS
    abilities = ABILITIES

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Import it."""
        return probe_aioquic(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """HTTP/3 only; reno or cubic."""
        return unsupported_by_aioquic(program)

    def facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """As in aioquic 1.7."""
        return {
            "congestion_control": f"aioquic {program.knobs.congestion_control or 'reno'}",
            "initial_window": "10 packets",
            "packet_size": f"UDP payload {program.knobs.max_payload or DEFAULT_PAYLOAD} bytes",
            "pacing": "paced",
        }

    def command(self, context: Context) -> Command:
        """The job goes in a file."""
        job = context.work_dir / "aioquic-server.json"
        settings = {
            "address": context.address,
            "port": context.port,
            "root": str(context.root),
            "certificate": str(context.certificate),
            "key": str(context.key),
            "library": library_settings(context.knobs),
            "qlog_dir": str(context.qlog_dir) if context.qlog_dir else None,
        }
        return Command(
            argv=(*python_argv(context.program.prefix), "-I", str(_PROGRAM), str(job)),
            env={"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            files={job: json.dumps(settings)},
            sockets=("udp",),
        )
