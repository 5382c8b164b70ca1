# SPDX-License-Identifier: Apache-2.0
"""aioquic as an HTTP/3 client: QUIC in Python, with qlog and a choice of congestion control for what it sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints._aioquic import (
    ABILITIES,
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

_PROGRAM = Path(__file__).with_name("_aioquic_program.py")


class AioquicClient:
    """A small program of ours around the aioquic library."""

    name = "aioquic"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs = KNOBS
    abilities: frozenset[Ability] = ABILITIES | {"objects"}

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
        """Receive windows as this project sets them."""
        windows = "QUIC stream window 8 MiB, connection window 16 MiB, growing"
        return KNOWN.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """The job goes in a file; the program loads aioquic, then waits for the word."""
        job = context.work_dir / f"{context.output.stem}-job.json"
        settings = {
            "url": context.url,
            "other_urls": context.urls[1:],
            "concurrency": context.concurrency,
            "address": context.address,
            "ca": str(context.ca),
            "library": library_settings(context.knobs),
            "qlog_dir": str(context.qlog_dir) if context.qlog_dir else None,
            "keylog": str(context.keylog) if context.keylog else None,
            "output": str(context.output),
        }
        return Command(
            argv=(*python_argv(context.program.prefix), "-I", str(_PROGRAM), str(job)),
            env={"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            files={job: json.dumps(settings)},
            waits_for_go=True,
            reports=True,
            is_ours=True,
        )
