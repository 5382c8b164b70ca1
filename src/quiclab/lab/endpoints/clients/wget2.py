# SPDX-License-Identifier: Apache-2.0
"""GNU Wget2: HTTP/1.1 and HTTP/2."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints._versions import Known
from quiclab.lab.endpoints.clients._cli import cli_command, log_environment, probe_cli
from quiclab.model.study import Program, Protocol, Tcp

KNOWN = Known("wget2", "2.2", "2.2")
"""Seen in its SETTINGS."""
_EXIT_CODES = {5: "the certificate could not be verified", 8: "the server issued an error response"}
"""Meaning of exit codes, from the manual: with --quiet the program says nothing else."""


class Wget2:
    """wget2 as one process per transfer; the body goes through a pipe."""

    name = "wget2"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h1", "h2"})
    knobs: Mapping[Protocol, frozenset[str]] = dict.fromkeys(("h1", "h2"), frozenset({"verify"}))
    abilities: frozenset[Ability] = frozenset({"keylog"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Look for a Wget2 with HTTP/2, which some builds lack."""
        return probe_cli(run, find_program("wget2", prefix), "wget2", ("--version",), "+http2")

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs is possible."""
        return None

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows from its SETTINGS frame."""
        window = "HTTP/2 stream window 1 GiB, " if protocol == "h2" else ""
        return KNOWN.traits(program, {"receive_window": f"{window}TCP buffer up to {tcp.receive_buffer[2]}"})

    def command(self, context: Context) -> Command:
        """Command with options only: the name from a file, no second try, no stored HSTS or OCSP state."""
        names = context.work_dir / f"{context.output.stem}-names"
        options = ["--no-config", "--quiet", "--tries=1", "--no-proxy", "--no-hsts", "--no-ocsp", "--no-robots"]
        options += [f"--dns-cache-preload={names}", f"--inet{context.ip_version}-only"]
        options += ["--http2" if context.protocol == "h2" else "--no-http2", "--output-document=-"]
        verified = [f"--ca-certificate={context.ca}"]
        options += verified if context.knobs.verify is not False else ["--no-check-certificate"]
        files = {names: f"{context.address} {context.host}\n"}
        env = log_environment(context)
        return cli_command(context, "wget2", [*options, context.url], env=env, files=files, exit_codes=_EXIT_CODES)
