# SPDX-License-Identifier: Apache-2.0
"""Reordering taken for loss: the packet arrived, but later than the sender's patience."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._receiver import taken
from quiclab.why.mechanisms._trial import Trial

_WHYS = (Why.WINDOW_AFTER_LOSS, Why.LOSS_DETECTION)


def _claim(trial: Trial) -> Claim:
    arrived = pl.Series([trial.overtaken and each is True for each in taken(trial)], dtype=pl.Boolean)
    edges = trial.why(Why.WINDOW_AFTER_LOSS) & (arrived | _undone(trial))
    if not edges.any():
        return Claim(edges)
    losses = trial.evidence.table("losses").filter(pl.col("vantage") == trial.evidence.sender)
    spurious = losses.filter(pl.col("spurious").fill_null(value=False)).height
    return Claim(
        edges,
        (
            Fact("reductions", trial.events(edges), ""),
            Fact("declared_lost", losses.height, "packets"),
            Fact("acknowledged_after_all", spurious, "packets"),
            Fact("dropped_by_links", trial.drops(trial.way).height, "packets"),
        ),
    )


def _undone(trial: Trial) -> pl.Series:
    """Waits after an event whose packet is not known, but whose loss the sender's log shows acknowledged after all."""
    account = trial.account
    unknown = account["event_packet"].is_null() & account["event_ns"].is_not_null()
    if not (unknown & trial.why(*_WHYS)).any():
        return trial.none()
    losses = trial.evidence.table("losses").filter(
        pl.col("vantage") == trial.evidence.sender, pl.col("spurious").fill_null(value=False)
    )
    return unknown & account["event_ns"].is_in(losses["time_ns"].to_list()).fill_null(value=False)


REORDERING_TAKEN_FOR_LOSS = Mechanism(
    "reordering_taken_for_loss",
    "congestion window after reordering taken for loss",
    Family.WINDOW,
    "Packets overtook each other. The sender declared the late ones lost, reduced its window and sent them again, "
    "though they were only on their way.",
    "Waits for a full window whose last reduction names a packet that the link delivered and that the receiver took, "
    "where packets overtook each other; or one that the sender itself found acknowledged after all.",
    Level.E0,
    "RFC 9002 section 6.1.1, RFC 8985 (RACK), RFC 3522 (spurious retransmission); Kakhki et al., IMC 2017, Figure 10",
    _claim,
    (
        Rival("loss_on_the_path", "the link dropped the packet"),
        Rival("dropped_at_the_receiver", "the packet reached the receiver's host, and its program never read it"),
    ),
    (
        Setting(
            "sender",
            "packet_threshold",
            100,
            "More packets may overtake one before it counts as lost.",
            ("real losses are found later",),
            (3, 10, 30, 100),
        ),
        Setting(
            "sender",
            "time_threshold",
            2.0,
            "More time may pass before a packet counts as lost.",
            ("real losses are found later",),
            (1.125, 1.5, 2.0),
        ),
        Setting(
            "tcp",
            "reordering",
            100,
            "More segments may overtake one before it counts as lost.",
            ("real losses are found later",),
            (3, 10, 30, 100),
        ),
        Setting("path", "reorder", "none", "Nothing overtakes.", ("held packets come earlier",)),
    ),
    reasons=(Why.WINDOW_AFTER_LOSS, Why.LOSS_DETECTION),
)
