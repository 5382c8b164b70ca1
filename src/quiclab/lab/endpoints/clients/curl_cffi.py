# SPDX-License-Identifier: Apache-2.0
"""libcurl with HTTP/2 (nghttp2) and HTTP/3 (ngtcp2) from the wheel `curl_cffi`: one client for both protocols."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints._address_change import address_change_job, only_reconnects
from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.lab.endpoints._ngtcp2 import DATAGRAM
from quiclab.lab.endpoints._stacks import find_python, python_argv
from quiclab.lab.endpoints._versions import Known
from quiclab.lab.endpoints.clients._libcurl import LibcurlUpload
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.project import SET_UP

_PROGRAM = Path(__file__).with_name("_curl_cffi_program.py")
_MOVING = Path(__file__).with_name("_curl_cffi_moving_program.py")
_VERSIONS = "import curl_cffi; print(curl_cffi.__version__, curl_cffi.__curl_version__)"

H2_SETTINGS = "3:100;4:10485760;2:0"
"""SETTINGS of HTTP/2: MAX_CONCURRENT_STREAMS 100, INITIAL_WINDOW_SIZE 10 MiB, ENABLE_PUSH 0. With libcurl's own
settings in this build a transfer can stall at exactly 1 MiB: no WINDOW_UPDATE is sent (tests/external proves the
cure)."""

H2_WINDOW_UPDATE = 15663105
"""First WINDOW_UPDATE of the connection: with the initial 65,535 bytes a window of 15 MiB."""


class CurlCffi(LibcurlUpload):
    """A small program of ours around libcurl: its easy interface, and for several objects its multi interface."""

    name = "curl-cffi"
    known = Known("curl-cffi", "0.16", "0.16")
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = dict.fromkeys(
        ("h2", "h3"), frozenset({"compression", "on_address_change", "reconnect_session"})
    )
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "objects", "upload"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Import the package and ask libcurl for its version."""
        python = find_python(prefix)
        text = run([*python.argv, "-c", _VERSIONS]) if python else None
        if python is None or text is None:
            return Unsupported("the Python package curl_cffi cannot be imported", SET_UP)
        wheel, _, libcurl = text.strip().partition(" ")
        return Available(f"{wheel} ({libcurl.split(' ')[0]})", python.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why an answer to a new address is not possible: the client opens a new connection."""
        return only_reconnects(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return DATAGRAM

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows decide how much a sender may have under way."""
        if protocol == "h3":
            windows = "QUIC stream window 32 KiB growing, connection window 1 GB"
            return self.known.traits(program, {"receive_window": windows})
        largest = tcp.receive_buffer[2]
        windows = f"HTTP/2 stream window 10 MiB, connection window 15 MiB, TCP buffer up to {largest}"
        return self.known.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """The job goes in a file; the program loads libcurl, then waits for the word."""
        job = context.work_dir / f"{context.output.stem}-job.json"
        settings = {
            "url": context.url,
            "other_urls": context.urls[1:],
            "concurrency": context.concurrency,
            "uploads": str(context.uploads) if context.uploads else None,
            "protocols": list(context.protocols),
            "resolve": f"{context.host}:{context.port}:{context.address}",
            "ca": str(context.ca),
            "h2_settings": H2_SETTINGS,
            "h2_window_update": H2_WINDOW_UPDATE,
            "compression": bool(context.knobs.compression),
            "address_change": address_change_job(context),
            "on_address_change": context.knobs.on_address_change,
            "reconnect_session": context.knobs.reconnect_session,
            "output": str(context.output),
            "foreign": asdict(context.foreign) if context.foreign else None,
        }
        env = {"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"}
        if context.qlog_dir is not None and "h3" in context.protocols:
            env["QLOGDIR"] = str(context.qlog_dir)
        if context.keylog is not None:
            env["SSLKEYLOGFILE"] = str(context.keylog)
        return Command(
            argv=(
                *python_argv(context.program.prefix),
                "-I",
                str(_MOVING if settings["address_change"] else _PROGRAM),
                str(job),
            ),
            env=env,
            files={job: json.dumps(settings)},
            waits_for_go=True,
            reports=True,
            is_ours=True,
        )
