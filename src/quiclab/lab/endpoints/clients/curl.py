# SPDX-License-Identifier: Apache-2.0
"""curl, the command, with HTTP/2 by nghttp2 and HTTP/3 by ngtcp2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.lab.endpoints._ngtcp2 import DATAGRAM
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints._tcp import OPENSSL_GROUPS
from quiclab.lab.endpoints._versions import Known
from quiclab.lab.endpoints.clients._cli import cli_command, log_environment, probe_cli
from quiclab.lab.endpoints.clients._libcurl import LibcurlUpload
from quiclab.model.study import Program, Protocol, Tcp, Workload

_VERSIONS = {"h1": "--http1.1", "h2": "--http2", "h3": "--http3-only"}

_MOST_STREAMS = 100


class Curl(LibcurlUpload):
    """curl as one process per trial; a single body goes through a pipe, several go to files in memory."""

    name = "curl"
    known = Known("curl", "8.21", "8.21")
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h1": frozenset({"groups", "tls_version", "verify", "compression"}),
        "h2": frozenset({"groups", "tls_version", "verify", "compression"}),
        "h3": frozenset({"groups", "verify", "compression"}),
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "objects", "upload"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Look for a curl with HTTP/3 by ngtcp2; many builds have none, or another one."""
        return probe_cli(run, find_program("curl", prefix), "curl", ("--version",), "ngtcp2")

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs is possible."""
        return None

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why more objects at once are not possible: libcurl bounds the streams of a connection, and the command
        cannot change that."""
        if workload.at_once <= _MOST_STREAMS:
            return None
        told = f"curl has at most {_MOST_STREAMS} objects at once on a connection, and opens another for more"
        return f"{told}: give {workload.name} a concurrency of at most {_MOST_STREAMS}"

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return DATAGRAM

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows by its SETTINGS and transport parameters."""
        if protocol == "h3":
            windows = "QUIC stream window 32 KiB growing, connection window 1 GB"
            return self.known.traits(program, {"receive_window": windows})
        if protocol == "h1":
            return {"receive_window": f"TCP buffer up to {tcp.receive_buffer[2]}"}
        largest = tcp.receive_buffer[2]
        windows = f"HTTP/2 stream window 64 KiB growing, TCP buffer up to {largest}"
        return self.known.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """Command with options only: no configuration file, no proxy, one address."""
        knobs = context.knobs
        options = ["-q", "--silent", "--show-error", "--noproxy", "*", _VERSIONS[context.protocol]]
        options += ["--resolve", f"{context.host}:{context.port}:{context.address}"]
        options += ["--cacert", str(context.ca)] if knobs.verify is not False else ["--insecure"]
        options += ["--compressed"] if knobs.compression else []
        if knobs.groups is not None:
            options += ["--curves", ":".join(OPENSSL_GROUPS[group] for group in knobs.groups)]
        if knobs.tls_version is not None:
            options += [f"--tlsv{knobs.tls_version}", "--tls-max", knobs.tls_version]
        if context.other_objects:
            return self._several(context, options)
        options += ["--output", "-", "--write-out", "%{stderr}%{json}\\n", *_upload(context, context.object_name)]
        options.append(context.url)
        return cli_command(context, "curl", options, env=log_environment(context), writes_json=True)

    def _several(self, context: Context, options: list[str]) -> Command:
        """Command for several objects. All but the first wait until its connection can be shared (CURLOPT_PIPEWAIT,
        which `--parallel` sets unless `--parallel-immediate` is given)."""
        folder = context.work_dir / f"{context.output.stem}-bodies"
        bodies = [folder / str(number) for number in range(len(context.urls))]
        options += ["--parallel", "--parallel-max", str(context.concurrency), "--no-progress-meter"]
        options += ["--write-out", "%time{%s.%f} %{json}\\n"]
        names = (context.object_name, *context.other_objects)
        for name, url, body in zip(names, context.urls, bodies, strict=True):
            options += ["--output", str(body), *_upload(context, name), url]
        files = {folder / ".made": ""}
        return cli_command(context, "curl", options, env=log_environment(context), files=files, bodies=bodies)


def _upload(context: Context, name: str) -> list[str]:
    """Options that send a file by PUT to the URL that follows."""
    return [] if context.uploads is None else ["--upload-file", str(context.uploads / name)]
