# SPDX-License-Identifier: Apache-2.0
"""A path MTU black hole: every packet above a size is lost, and nothing tells the sender."""

from __future__ import annotations

from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._by_size import SMALLER_DATAGRAMS, WAITS, by_size, longest_wait, waits_for_them
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    sizes = by_size(trial)
    if sizes is None or not sizes.none_passed:
        return Claim(trial.none())
    edges = waits_for_them(trial)
    if not edges.any():
        return Claim(edges)
    lost = Fact("lost_for_their_size", sizes.larger_lost, "packets")
    return Claim(edges, (lost, *sizes.sizes_and_shares(sizes.larger), longest_wait(trial, edges)))


PATH_MTU_BLACK_HOLE = Mechanism(
    "path_mtu_black_hole",
    "path MTU black hole",
    Family.PATH,
    "A hop of the path drops every packet above a size, and no ICMP message says so, or none gets back. The sender "
    "takes that for loss, and sends packets of that size again after one timer or the next, until it tries smaller "
    "ones: QUIC's black hole detection, or TCP's MTU probing, which Linux has switched off unless asked.",
    "Waits for a loss to be noticed, or for the window that it reduced, where every packet that links dropped since "
    "shortly before was lost for its size by the link's log, three or more were, and none as large arrived meanwhile.",
    Level.E0,
    "RFC 2923 section 2.1; RFC 4821; RFC 8899 section 4.3; RFC 9000 section 14",
    _claim,
    (
        Rival("large_packets_lost", "packets of the same size arrive in between"),
        Rival("loss_on_the_path", "smaller packets are lost as often"),
        Rival("handshake_packet_lost", "what is sent again in the same size arrives"),
        Rival("policed", "packets of any size are lost once the rate is too high, and none below it"),
    ),
    (
        Setting("path", "oversize", "none", "Packets of every size pass.", ("the path carries larger packets",)),
        *SMALLER_DATAGRAMS,
    ),
    reasons=WAITS,
    needs="dropped_for_their_size",
)
