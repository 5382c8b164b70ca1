# SPDX-License-Identifier: Apache-2.0
"""The job file of the small programs around a library: one format for all, so that a knob means the same in each.

Each is started as `PROGRAM client JOB.json` or `PROGRAM server JOB.json`. In the file null means the library's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from quiclab.lab.endpoints._address_change import address_change_job, migration
from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, Unsupported
from quiclab.lab.endpoints._stacks import find_program, why_absent
from quiclab.model.study import Knobs, Program
from quiclab.model.units import ByteCount, Duration
from quiclab.project import MORE_PROGRAMS


def client_job(context: Context) -> dict[str, object]:
    """Job of a client: what to fetch, from where, how, and where to write its account."""
    knobs = context.program.knobs
    return {
        "url": context.url,
        "other_urls": context.urls[1:] or None,
        "concurrency": context.concurrency if context.other_objects else None,
        "upload_dir": _path(context.uploads),
        "address": context.address,
        "port": context.port,
        "host": context.host,
        "protocol": context.protocol,
        "ca": str(context.ca),
        "qlog_dir": _path(context.qlog_dir),
        "keylog": _path(context.keylog),
        "output": str(context.output),
        "session_file": str(context.session_file),
        "priming": context.priming,
        **_knobs(knobs),
        "migration": migration(context),
        "address_change": address_change_job(context),
        "session": knobs.session or "fresh",
        "verify": knobs.verify is not False,
    }


def server_job(context: Context) -> dict[str, object]:
    """Job of a server: what to serve, and where."""
    knobs = context.program.knobs
    return {
        "listen": context.authority,
        "protocols": list(context.protocols),
        "root": str(context.root),
        "store_dir": _path(context.received),
        "certificate": str(context.certificate),
        "key": str(context.key),
        "qlog_dir": _path(context.qlog_dir),
        "keylog": _path(context.keylog),
        **_knobs(knobs),
        "early_data": bool(knobs.early_data),
        "content_type": context.content_type,
    }


def probe_program(run: BoundedRun, program: str, library: str, prefix: str | None) -> Available | Unsupported:
    """Ask the program for the version of its library."""
    started = find_program(program, prefix)
    text = None if started is None else run([*started.argv, "version"])
    if started is None or text is None:
        return Unsupported(why_absent(program, started), MORE_PROGRAMS)
    return Available(text.strip().removeprefix(f"{library} "), started.path)


def unsupported_objects(program: Program, *, early_data: bool = False) -> str | None:
    """Reason why a program around a library can do what is asked for one object only; with `early_data`, 0-RTT works
    for several."""
    return _only("cannot fetch several objects", program, early_data)


def unsupported_upload(program: Program) -> str | None:
    """Reason why a program around a library can do what is asked for downloads only."""
    return _only("cannot upload", program, early_data=False)


def _only(cannot: str, program: Program, early_data: bool) -> str | None:
    knobs = program.knobs
    if knobs.session == "early_data" and not early_data:
        return f'the client {program.name} {cannot} with session = "early_data"'
    return f'the client {program.name} {cannot} with migration = "{knobs.migration}"' if knobs.migration else None


def token_without_session(program: Program) -> str | None:
    """Reason why a client cannot bring an address token: it is of a first visit, which only one that resumes makes."""
    knobs = program.knobs
    if knobs.address_token and knobs.session not in ("resumed", "early_data"):
        return 'address_token comes from a first visit: write session = "resumed" or "early_data" beside it'
    return None


def discovery_conflict(knobs: Knobs) -> str | None:
    """Reason why path MTU discovery is not possible: a fixed size leaves nothing to discover."""
    if knobs.path_mtu_discovery and knobs.max_payload is not None:
        return "max_payload fixes the size of packets: path_mtu_discovery = true is not possible beside it"
    return None


def job_command(
    context: Context,
    argv: Sequence[str],
    mode: Literal["client", "server"],
    *,
    env: Mapping[str, str] | None = None,
    extra: Mapping[str, object] | None = None,
) -> Command:
    """Start `argv` with the job of this context in a file; `extra` adds keys that only this program knows."""
    own = {"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), **(env or {})}
    if mode == "server":
        job, settings = context.work_dir / f"{context.program.name}-server.json", server_job(context)
        sockets: tuple[Literal["tcp", "udp"], ...] = tuple(
            socket for protocol, socket in _SOCKETS.items() if protocol in context.protocols
        )
        return Command((*argv, mode, str(job)), own, {job: _text(settings, extra)}, sockets=sockets, is_ours=True)
    job, settings = context.work_dir / f"{context.output.stem}-job.json", client_job(context)
    files = {job: _text(settings, extra)}
    return Command((*argv, mode, str(job)), own, files, waits_for_go=True, reports=True, is_ours=True)


_SOCKETS: Mapping[str, Literal["tcp", "udp"]] = {"h2": "tcp", "h3": "udp"}


def _knobs(knobs: Knobs) -> dict[str, object]:
    """Knobs that both roles have, with the unit in the name where there is one."""
    return {
        "congestion_control": knobs.congestion_control,
        "initial_window": knobs.initial_window,
        "max_window_bytes": _bytes(knobs.max_window),
        "pacing": knobs.pacing,
        "hystart": knobs.hystart,
        "connection_window_bytes": _bytes(knobs.connection_window),
        "stream_window_bytes": _bytes(knobs.stream_window),
        "max_streams": knobs.max_streams,
        "groups": list(knobs.groups) if knobs.groups else None,
        "tls_version": knobs.tls_version,
        "ack_delay_ns": _ns(knobs.ack_delay),
        "ack_frequency": knobs.ack_frequency,
        "peer_ack_frequency": knobs.peer_ack_frequency,
        "peer_ack_delay_ns": _ns(knobs.peer_ack_delay),
        "packet_threshold": knobs.packet_threshold,
        "time_threshold": knobs.time_threshold,
        "initial_rtt_ns": _ns(knobs.initial_rtt),
        "gso": knobs.gso,
        "ecn": knobs.ecn,
        "max_payload_bytes": knobs.max_payload,
        "path_mtu_discovery": knobs.path_mtu_discovery,
        "scheduler": knobs.scheduler,
        "migration": knobs.migration,
        "migrate_at_bytes": _bytes(knobs.migrate_at),
    }


def _bytes(size: ByteCount | None) -> int | None:
    return None if size is None else size.bytes


def _ns(duration: Duration | None) -> int | None:
    return None if duration is None else duration.ns


def _path(path: object | None) -> str | None:
    return None if path is None else str(path)


def _text(settings: dict[str, object], extra: Mapping[str, object] | None) -> str:
    return json.dumps(settings | dict(extra or {}), indent=1)
