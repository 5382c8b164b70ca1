# SPDX-License-Identifier: Apache-2.0
"""Loss of large packets: the path loses some of the packets above a size, and smaller ones by no such rule."""

from __future__ import annotations

from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._by_size import SMALLER_DATAGRAMS, WAITS, by_size, longest_wait, waits_for_them
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    sizes, edges = by_size(trial), waits_for_them(trial)
    if sizes is None or not edges.any():
        return Claim(edges)
    lost = Fact("lost_packets", sizes.larger_lost, "")
    sent = Fact("sent_packets", len(trial.own), "")
    return Claim(
        edges, (lost, sent, *sizes.sizes_and_shares(sizes.larger + sizes.passed_later), longest_wait(trial, edges))
    )


LARGE_PACKETS_LOST = Mechanism(
    "large_packets_lost",
    "loss of large packets",
    Family.PATH,
    "The path loses packets above a size more often than smaller ones: a tunnel whose fragments get lost, a link whose "
    "errors grow with length, a hop that drops what does not fit on some of its ways. A sender of smaller packets "
    "loses none of them.",
    "Waits for a loss to be noticed, or for the window that it reduced, where every packet that links dropped since "
    "shortly before was lost for its size by the link's log. Others as large arrived, or fewer than three were lost: "
    "then it may be a black hole.",
    Level.E0,
    "RFC 8899 section 4.3; RFC 4459 section 3",
    _claim,
    (
        Rival("path_mtu_black_hole", "no packet of that size arrives"),
        Rival("loss_on_the_path", "smaller packets are lost as often"),
        Rival("overshoot", "the packet was dropped for want of room in the queue, whatever its size"),
    ),
    (
        Setting(
            "path", "oversize", "none", "Large packets pass as small ones do.", ("the path carries larger packets",)
        ),
        *SMALLER_DATAGRAMS,
    ),
    reasons=WAITS,
    needs="dropped_for_their_size",
)
