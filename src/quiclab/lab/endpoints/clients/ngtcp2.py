# SPDX-License-Identifier: Apache-2.0
"""gtlsclient, the HTTP/3 client of ngtcp2 with GnuTLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._job import token_without_session
from quiclab.lab.endpoints._ngtcp2 import (
    DATAGRAM,
    KNOWN,
    common_options,
    own_values_of_ngtcp2,
    probe_ngtcp2,
    unsupported_by_ngtcp2,
)
from quiclab.lab.endpoints.clients._cli import cli_command, log_environment
from quiclab.model.study import Program, Protocol, Tcp, Workload

MIGRATES_AFTER = "50ms"
"""Time from the handshake to the change of address; the program cannot count bytes."""


class Ngtcp2Client:
    """gtlsclient as one process per transfer, or for several objects at once; bodies go to files in memory. It verifies
    no certificate."""

    name = "ngtcp2"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h3": frozenset(
            {"congestion_control", "groups", "connection_window", "stream_window", "ack_frequency", "initial_rtt"}
            | {"max_payload", "path_mtu_discovery", "session", "address_token", "migration"}
        )
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "resumption", "early_data", "migration", "objects"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Look for the program; its version is that of the package, as it does not print one."""
        return probe_ngtcp2(run, "gtlsclient", "ngtcp2-client", prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, or None."""
        return unsupported_by_ngtcp2(program) or token_without_session(program)

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why a concurrency is not possible: the program requests everything as soon as the server lets it."""
        if workload.at_once == len(workload.object_sizes):
            return None
        return f"ngtcp2 asks for all objects at once: concurrency = {workload.concurrency} is not possible"

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or DATAGRAM

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself, by its help: those of both programs, --max-stream-data-bidi-local and
        --max-data."""
        own: OwnValues = {"stream_window": "16 MiB", "connection_window": "24 MiB"}
        return {**own_values_of_ngtcp2(program), **KNOWN.own_values(program, own)}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows from its help; they do not grow."""
        stream, connection = program.knobs.stream_window or "16 MiB", program.knobs.connection_window or "24 MiB"
        facts = {
            "receive_window": f"QUIC stream window {stream}, connection window {connection}",
            "certificate_check": "none",
        }
        return KNOWN.traits(program, facts)

    def command(self, context: Context) -> Command:
        """Command that connects by address, with the name in SNI."""
        knobs = context.knobs
        folder = context.work_dir / f"{context.output.stem}-download"
        names = (context.object_name, *context.other_objects)
        options = ["--quiet", "--exit-on-all-streams-close", f"--sni={context.host}", *common_options(knobs)]
        options += [f"--download={folder}"]
        options += [f"--qlog-dir={context.qlog_dir}"] if context.qlog_dir else []
        if knobs.connection_window is not None:
            options.append(f"--max-data={knobs.connection_window.bytes}")
        if knobs.stream_window is not None:
            options.append(f"--max-stream-data-bidi-local={knobs.stream_window.bytes}")
        if knobs.session in ("resumed", "early_data"):
            session = context.session_file
            options += [f"--session-file={session}"] + (["--wait-for-ticket"] if context.priming else [])
            # Without the server's earlier transport parameters the program offers no early data.
            early = knobs.session == "early_data"
            options += [f"--tp-file={session.with_suffix('.parameters')}"] if early else ["--disable-early-data"]
            options += [f"--token-file={session.with_suffix('.token')}"] if knobs.address_token else []
        if knobs.migration is not None and not context.priming:
            options.append(f"--change-local-addr={MIGRATES_AFTER}")
            options += ["--nat-rebinding"] if knobs.migration == "rebinding" else []
        env = {**log_environment(context)}
        env.pop("QLOGDIR", None)
        return cli_command(
            context,
            "gtlsclient",
            [*options, context.address, str(context.port), *context.urls],
            env=env,
            files={folder / ".made": ""},
            body=folder / context.object_name,
            bodies=[folder / name for name in names] if len(names) > 1 else (),
            http_version="HTTP/3",
        )
