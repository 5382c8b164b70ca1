# SPDX-License-Identifier: Apache-2.0
"""Bytes that the transport of the measured arm must have carried, whatever anybody says of the trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl


def moved_bytes(trial: Mapping[str, Any]) -> int | None:
    """Bytes of all bodies, which random content cannot be compressed below; None where a part may be lacking.

    Other hosts may serve a part of a page or a video over another transport; the length of a probe's body is unknown,
    and the clock of a competition ends a body anywhere.
    """
    expected = trial.get("expected") or {}
    if trial.get("content") != "random" or "page" in expected or "video" in expected or cut_by_the_clock(trial):
        return None
    sizes = [each["body_bytes"] for each in expected.get("objects", [expected])]
    return None if None in sizes else sum(sizes)


def may_use_several_sockets(trial: Mapping[str, Any]) -> bool:
    """True if the bodies may come over several sockets of the client: by one connection that migrates, or after a
    change of address by another one."""
    asked = trial.get("asked") or {}
    moves = trial.get("address_change") or asked.get("on_address_change") or asked.get("migration")
    return bool(moves) or (trial.get("proof") or {}).get("connections") == 1


def when_carried(packets: pl.DataFrame, *, up: bool, size_bytes: int, apart: bool) -> int | None:
    """The first instant at which so many bytes of payload had passed (rows of `ip_packets` of one direction and one
    end); with `apart`, on one socket of the client. None where that never was."""
    sockets = ["src", "src_port"] if up else ["dst", "dst_port"]
    payload = pl.col("payload_bytes").fill_null(0).cast(pl.Int64)
    passed = payload.cum_sum().over(sockets) if apart else payload.cum_sum()
    instant = packets.sort("time_ns", maintain_order=True).filter(passed >= size_bytes)["time_ns"].min()
    return int(instant) if isinstance(instant, int) else None


def protocol_of(trial: Mapping[str, Any]) -> str:
    """Transport below the arm's version of HTTP, as `ip_packets.protocol` names it."""
    return "udp" if trial["protocol"] == "h3" else "tcp"


def cut_by_the_clock(trial: Mapping[str, Any]) -> bool:
    """True if the transfer ended with its competition's time, wherever it stood."""
    competition = trial.get("competition") or {}
    return competition.get("lasts_ns") is not None and trial.get("client_exit_code") is None
