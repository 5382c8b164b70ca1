# SPDX-License-Identifier: Apache-2.0
"""nghttp, the HTTP/2 client of nghttp2."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints.clients._cli import cli_command, log_environment, probe_cli
from quiclab.model.study import Program, Protocol, Tcp

_WINDOW_BITS = {(1 << bits) - 1: bits for bits in range(1, 31)}


class Nghttp:
    """nghttp as one process per transfer; the body goes through a pipe. It cannot be given a CA: it warns and goes
    on."""

    name = "nghttp"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h2"})
    knobs: Mapping[Protocol, frozenset[str]] = {"h2": frozenset({"connection_window", "stream_window", "verify"})}
    abilities: frozenset[Ability] = frozenset({"keylog"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask for its version."""
        return probe_cli(run, find_program("nghttp", prefix), "nghttp", ("--version",), "nghttp2/")

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible: windows are powers of two less one, and nghttp cannot refuse a
        certificate."""
        if program.knobs.verify:
            return "nghttp verifies no certificate: verify = true is not possible"
        for window in (program.knobs.connection_window, program.knobs.stream_window):
            if window is not None and window.bytes not in _WINDOW_BITS:
                return f"nghttp's windows are a power of two less one byte (65535 B, 1048575 B, …), not {window}"
        return None

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Windows that it has without --window-bits and --connection-window-bits: HTTP/2's initial ones."""
        return {"stream_window": "65535 B", "connection_window": "65535 B"}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows: HTTP/2's initial ones (RFC 9113 section 6.9.2), which nghttp does not change."""
        knobs = program.knobs
        stream, connection = knobs.stream_window or "65,535 B", knobs.connection_window or "65,535 B"
        windows = f"HTTP/2 stream window {stream}, connection window {connection}"
        return {
            "receive_window": f"{windows}, TCP buffer up to {tcp.receive_buffer[2]}",
            "certificate_check": "none",
        }

    def command(self, context: Context) -> Command:
        """Command that connects by address, with the name in SNI and authority."""
        host = f"[{context.address}]" if context.ip_version == 6 else context.address
        authority = context.host if context.port == 443 else f"{context.host}:{context.port}"
        options = ["--no-verify-peer", "--header", f":authority: {authority}"]
        for option, window in (
            ("--window-bits", context.knobs.stream_window),
            ("--connection-window-bits", context.knobs.connection_window),
        ):
            options += [f"{option}={_WINDOW_BITS[window.bytes]}"] if window is not None else []
        url = f"https://{host}:{context.port}/{context.object_name}"
        return cli_command(context, "nghttp", [*options, url], env=log_environment(context), http_version="HTTP/2")
