# SPDX-License-Identifier: Apache-2.0
"""The measuring side's part of trial.json; `quiclab.evidence.verify` adds proof and verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quiclab.lab.endpoints import label_of
from quiclab.lab.runner.commands import ORIGIN_PORT, PORT, arm_of, path_of, workload_of
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.places import CLIENT, address_of, front_place, links_document, place_of, second_link_document
from quiclab.lab.testbed import clock
from quiclab.lab.testbed.clock import Instant
from quiclab.model import study
from quiclab.model.address_change import MIGRATIONS
from quiclab.model.plan_row import PlanRow
from quiclab.model.video import QUALITIES
from quiclab.store.layout import TOLERATED
from quiclab.store.own_files import content_of, is_own_file, read_own


def trial_document(
    laboratory: Laboratory, row: PlanRow, attempt: int, clocks: tuple[Instant, Instant], facts: dict[str, object]
) -> dict[str, object]:
    """Request of a trial, where and when it ran, and what should have arrived; `clocks` at start and end."""
    started, ended = clocks
    return {
        "version": 1,
        "trial_id": row.trial_id,
        "attempt": attempt,
        "row": asdict(row),
        "started_utc": started.utc,
        "started_monotonic_ns": started.monotonic_ns,
        "boot_id": clock.boot_id(),
        "clock": {
            "realtime_minus_monotonic_start_ns": started.realtime_minus_monotonic_ns,
            "realtime_minus_monotonic_end_ns": ended.realtime_minus_monotonic_ns,
        },
        "expected": _expected(laboratory, row),
        **asked_of(laboratory.study, row),
        "programs": {
            role: {
                "name": program.name,
                "version_asked": program.version,
                "version": laboratory.programs.get(label_of(role, program)),
            }
            for role, program, _ in arm_of(laboratory.study, row).programs()
        },
        **facts,
    }


def asked_of(of: study.Study, row: PlanRow) -> dict[str, object]:
    """Members of a trial.json that follow from a study and a row of its plan alone."""
    arm, path, workload = arm_of(of, row), path_of(of, row), workload_of(of, row)
    ip_version, sender = path.ip_version, _sender(arm, workload)
    return {
        "protocol": arm.protocol,
        "sender_program": next(program.name for role, program, _ in arm.programs() if role == sender),
        "tcp_congestion_control_asked": arm.tcp.congestion_control_of(sender),
        "tcp_congestion_controls_asked": {role: arm.tcp.congestion_control_of(role) for role, _, _ in arm.programs()},
        "asked": _asked(arm, workload),
        "ip_version": ip_version,
        "server_address": address_of(front_place(arm, path), ip_version),
        "client_address": address_of(CLIENT, ip_version),
        "server_port": PORT,
        TOLERATED: of.tolerated.value,
        "links": links_document(arm, path),
        "second_link": second_link_document(path, workload),
        "proxy": None
        if arm.proxy is None
        else {
            "place": place_of(arm, path, "proxy"),
            "origin_protocol": arm.origin_protocol,
            "origin_port": ORIGIN_PORT,
            "compresses": bool(arm.server.knobs.compression or arm.proxy.knobs.compression),
        },
    }


def own_server_members(of: study.Study, row: PlanRow) -> dict[str, object]:
    """Members of a trial.json that follow from a study and a row of its plan where the servers are ours too."""
    return {"own_client": bool(arm_of(of, row).client.argv), "content": workload_of(of, row).content}


def _sender(arm: study.Arm, workload: study.Workload) -> study.Role:
    """The role that sends the bodies on the client's leg."""
    if workload.upload:
        return "client"
    return "proxy" if arm.proxy else "server"


def _expected(laboratory: Laboratory, row: PlanRow) -> dict[str, object]:
    """Bytes that should arrive, and at which end: of a single object its bytes and hash, of several all bytes and a
    list; of a video what it is."""
    workload = workload_of(laboratory.study, row)
    page = laboratory.pages.get(workload.name)
    if page is not None:
        manifest = page.site.manifest
        # Which of its files a mirrored page asks for only the browser can tell.
        complete = manifest.get("complete", True)
        size = sum(each["bytes"] for each in manifest["resources"]) if complete else workload.total.bytes
        return {"body_bytes": size, "page": {"document": page.document, **manifest, "waits_ns": page.site.waits}}
    if workload.video is not None:
        file = laboratory.root / workload.object_names[0]
        size = file.stat().st_size if workload.video.delivery == "progressive" else None
        return {"video": video_document(workload.video, workload.object_names[0], size)}
    return objects_document(workload, laboratory.expected)


def objects_document(workload: study.Workload, known: Mapping[str, tuple[int, str]]) -> dict[str, object]:
    """Objects of a workload as the member `expected` of a trial.json; `known` is name → bytes and hash of a body."""
    objects = [
        {"name": name, "body_bytes": size, "sha256": digest}
        for name in workload.object_names
        # What a server has that is not ours is not known beforehand.
        for size, digest in (known.get(name, (None, None)),)
    ]
    direction = "upload" if workload.upload else "download"
    if len(objects) == 1:
        return {"direction": direction, **objects[0]}
    return {
        "direction": direction,
        "body_bytes": workload.total.bytes,
        "concurrency": workload.at_once,
        "objects": objects,
    }


def video_document(video: study.Video, name: str, file_bytes: int | None) -> dict[str, object]:
    """Video that is played, with each quality's lines and bitrate; one in one file also has a length."""
    rates = zip(video.qualities, video.bit_rates, strict=True)
    shown = [{"height": QUALITIES[quality].height, "bit_per_s": rate.bit_per_s} for quality, rate in rates]
    return asdict(video) | {"name": name, "representations": shown, "file_bytes": file_bytes}


def _asked(arm: study.Arm, workload: study.Workload) -> dict[str, object]:
    """Demands of the spec on the handshake and on the connection: the verdict holds the trial to them."""
    client, front = arm.client.knobs, arm.front.knobs
    moves = client.on_address_change if workload.address_change else None
    expected = {None: None, True: "accepted", False: "rejected"}[front.early_data]
    return {
        "congestion_control": front.congestion_control,
        "session": client.session,
        "http_cache": client.http_cache,
        "address_token": client.address_token,
        "expect_early_data": expected if client.session == "early_data" else None,
        "migration": MIGRATIONS.get(moves) if moves else client.migration,
        "on_address_change": moves,
        "reconnect_session": client.reconnect_session if moves else None,
        "groups": client.groups,
        "tls_version": client.tls_version or front.tls_version,
    }


def kept_body(file: Path, most_bytes: int) -> dict[str, object] | None:
    """Length and hash of the response that a user's own program kept, which writes no account. Without a hash where it
    is longer than `most_bytes`."""
    if not is_own_file(file, file.parent):
        return None
    return content_of(file, most_bytes)


def received_bodies(folder: Path, names: Iterable[str], most_bytes: int) -> dict[str, dict[str, object]]:
    """Length and hash of each uploaded object that the server kept, by name, for these names alone."""
    files = (folder / name for name in names)
    return {file.name: content_of(file, most_bytes) for file in files if is_own_file(file, folder)}


def read_json(path: Path) -> Any:
    """Read a JSON file; None where there is none, or it is cut off, not JSON, or something else, such as a FIFO."""
    try:
        return json.loads(read_own(path))
    except (OSError, ValueError, RecursionError):
        return None
