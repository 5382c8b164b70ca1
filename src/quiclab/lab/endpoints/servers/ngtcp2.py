# SPDX-License-Identifier: Apache-2.0
"""gtlsserver, the HTTP/3 server of ngtcp2 with GnuTLS: congestion control by choice, qlog with every metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._ngtcp2 import (
    BETA,
    DATAGRAM,
    KNOWN,
    common_options,
    own_values_of_ngtcp2,
    probe_ngtcp2,
    unsupported_by_ngtcp2,
)
from quiclab.lab.endpoints._stacks import find_program
from quiclab.model.study import Program, Protocol, Tcp


class Ngtcp2Server:
    """gtlsserver for the files below the root; one process, one thread."""

    name = "ngtcp2"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h3": frozenset(
            {"congestion_control", "groups", "connection_window", "stream_window", "max_streams", "ack_frequency"}
            | {"initial_rtt", "max_payload", "path_mtu_discovery", "early_data"}
        )
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "resumption", "early_data", "migration"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Look for the program; its version is that of the package, as it does not print one."""
        return probe_ngtcp2(run, "gtlsserver", "ngtcp2-server", prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, such as refusing early data."""
        if program.knobs.early_data is False:
            return "ngtcp2's server accepts early data always: early_data = false is not possible"
        return unsupported_by_ngtcp2(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself, by its help: those of both programs, --max-stream-data-bidi-remote, --max-data
        and --max-streams-bidi."""
        own: OwnValues = {"stream_window": "256 KiB", "connection_window": "1 MiB", "max_streams": 100}
        return {**own_values_of_ngtcp2(program), **KNOWN.own_values(program, own)}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender."""
        size = program.knobs.max_payload or (DATAGRAM if program.knobs.path_mtu_discovery is False else None)
        chosen = program.knobs.congestion_control or "cubic"
        facts = {
            "congestion_control": f"ngtcp2 {chosen}{BETA.get(chosen, '')}",
            "initial_window": "10 packets",
            "packet_size": f"UDP payload {size} bytes"
            if size
            else f"UDP payload {DATAGRAM} bytes, growing by path MTU discovery",
            "pacing": "paced",
        }
        return KNOWN.traits(program, facts)

    def command(self, context: Context) -> Command:
        """Command with options only; the key comes before the certificate."""
        started = find_program("gtlsserver", context.program.prefix)
        knobs = context.knobs
        options = ["--quiet", f"--htdocs={context.root}", "--mime-types-file=/dev/null", *common_options(knobs)]
        options += [f"--qlog-dir={context.qlog_dir}"] if context.qlog_dir else []
        for option, value in (
            ("--max-data", knobs.connection_window and knobs.connection_window.bytes),
            ("--max-stream-data-bidi-remote", knobs.stream_window and knobs.stream_window.bytes),
            ("--max-streams-bidi", knobs.max_streams),
        ):
            options += [f"{option}={value}"] if value is not None else []
        env = {"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir)}
        env |= {"SSLKEYLOGFILE": str(context.keylog)} if context.keylog else {}
        return Command(
            argv=(
                *(started.argv if started else ("gtlsserver",)),
                *options,
                *(context.address, str(context.port), str(context.key), str(context.certificate)),
            ),
            env={**(started.env if started else {}), **env},
            sockets=("udp",),
        )
