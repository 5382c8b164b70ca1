# SPDX-License-Identifier: Apache-2.0
"""Traffic that is not HTTP: the commands of a program of ours (`_program.py`), which is a source or a sink."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints._api import Command
from quiclab.model.study import Background

_PROGRAM = Path(__file__).with_name("_program.py")
_SOCKETS: Mapping[str, Literal["tcp", "udp"]] = {"udp": "udp", "on_off": "udp", "short_flows": "tcp"}


@dataclass(frozen=True)
class FlowSource:
    """Source of one flow of background traffic, and what the flow is made from."""

    ip_version: Literal[4, 6]
    address: str
    """Address of the source."""
    port: int
    seed: int
    home: Path
    """Folder for the flow's files."""


def background_commands(background: Background, place: FlowSource) -> dict[Literal["server", "client"], Command]:
    """Commands of the source, which is the server, and the sink, which waits for "go" and then requests the traffic."""
    ready = place.home / "ready"
    job = {
        "kind": background.kind,
        "ip_version": place.ip_version,
        "address": place.address,
        "port": place.port,
        "ready_file": str(ready),
        "seed": place.seed,
        "bit_per_s": background.rate.bit_per_s,
        "packet_bytes": background.packet.bytes,
        "on_ns": background.on.ns,
        "off_ns": background.off.ns if background.kind == "on_off" else 0,
        "flow_bytes": background.flow_size.bytes,
    }
    file = place.home / "background.json"
    env = {"HOME": str(place.home), "TMPDIR": str(place.home), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = (sys.executable, "-I", str(_PROGRAM))
    files = {file: json.dumps(job)}
    return {
        "server": Command((*argv, "source", str(file)), env, files, sockets=(_SOCKETS[background.kind],)),
        "client": Command((*argv, "sink", str(file)), env, waits_for_go=True, ready_file=ready),
    }
