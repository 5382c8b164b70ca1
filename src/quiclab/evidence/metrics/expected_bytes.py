# SPDX-License-Identifier: Apache-2.0
"""Bytes that the transport of the measured arm must have carried, whatever anybody says of the trial."""

from __future__ import annotations

import polars as pl

from quiclab.model.trial_record import TrialRecord


def moved_bytes(trial: TrialRecord) -> int | None:
    """Bytes of all bodies, which random content cannot be compressed below; None where a part may be lacking.

    Other hosts may serve a part of a page or a video over another transport; the length of a probe's body is unknown,
    and the clock of a competition ends a body anywhere.
    """
    expected = trial.expected
    if trial.content != "random" or expected.page or expected.video or cut_by_the_clock(trial):
        return None
    sizes = [each.body_bytes for each in expected.listed]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def may_use_several_sockets(trial: TrialRecord) -> bool:
    """True if the bodies may come over several sockets of the client: by one connection that migrates, or after a
    change of address by another one."""
    moves = trial.address_change or trial.asked.on_address_change or trial.asked.migration
    return bool(moves) or trial.proof.connections == 1


def when_carried(packets: pl.DataFrame, *, up: bool, size_bytes: int, apart: bool) -> int | None:
    """The first instant at which so many bytes of payload had passed (rows of `ip_packets` of one direction and one
    end); with `apart`, on one socket of the client. None where that never was."""
    sockets = ["src", "src_port"] if up else ["dst", "dst_port"]
    payload = pl.col("payload_bytes").fill_null(0).cast(pl.Int64)
    passed = payload.cum_sum().over(sockets) if apart else payload.cum_sum()
    instant = packets.sort("time_ns", maintain_order=True).filter(passed >= size_bytes)["time_ns"].min()
    return int(instant) if isinstance(instant, int) else None


def protocol_of(trial: TrialRecord) -> str:
    """Transport below the arm's version of HTTP, as `ip_packets.protocol` names it."""
    return "udp" if trial.protocol == "h3" else "tcp"


def cut_by_the_clock(trial: TrialRecord) -> bool:
    """True if the transfer ended with its competition's time, wherever it stood."""
    competition = trial.competition
    return competition is not None and competition.lasts_ns is not None and trial.client_exit_code is None
