# SPDX-License-Identifier: Apache-2.0
"""A handshake packet that was lost: a timer, mostly a long one, has to repeat it."""

from __future__ import annotations

from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._by_size import waits_for_them
from quiclab.why.mechanisms._handshake_packets import dropped
from quiclab.why.mechanisms._trial import Trial

_KINDS = (("syn", "syn"), ("tls", "tls"), ("initial", "initial"), ("handshake", "handshake"), ("0RTT", "early_data"))
_OF_SET_UP = [kind for kind, _ in _KINDS]


def _claim(trial: Trial) -> Claim:
    for_size = waits_for_them(trial)
    waits = trial.why(Why.SET_UP_LOSS) & ~for_size
    if not waits.any():
        return Claim(waits)
    lost = dropped(trial, trial.times(waits)[-1][1])
    mine = lost.filter(lost["direction"] == trial.way, lost["kind"].is_in(_OF_SET_UP))["packet_index"]
    reduced = trial.why(Why.WINDOW_AFTER_LOSS) & trial.account["event_packet"].is_in(mine.to_list())
    reduced = reduced.fill_null(value=False) & ~for_size
    edges = waits | reduced
    kinds, ways = lost["kind"].to_list(), lost["direction"].to_list()
    facts = [Fact(f"lost_{way}", ways.count(way), "packets") for way in ("up", "down")]
    facts += [Fact(f"lost_{name}", kinds.count(kind), "packets") for kind, name in _KINDS if kind in kinds]
    facts.append(Fact("longest_wait", max(end - begin for begin, end in trial.times(waits)) / 1e6, "ms"))
    if reduced.any():
        facts.append(Fact("behind_a_reduction", float(trial.length_ns.filter(reduced).sum()) / 1e6, "ms"))
    against = "" if lost.height else "No link dropped a handshake packet: what was repeated was only late."
    return Claim(edges, tuple(facts), against)


HANDSHAKE_PACKET_LOST = Mechanism(
    "handshake_packet_lost",
    "handshake packet lost",
    Family.SET_UP,
    "A handshake packet was lost. No round-trip time is known yet, so that the timer that repeats it is long: 1 s "
    "over TCP, as a rule 0.3 to 1 s over QUIC. The loss may also reduce the window before anything else is sent.",
    "Waits of the handshake that end when something is repeated, and round trips that exist only for that; the links' "
    "logs tell the packets that were dropped. Waits for a full window that such a packet had reduced, too.",
    Level.E1,
    "RFC 6298 section 2, RFC 9002 section 6.2.2",
    _claim,
    (
        Rival("handshake_round_trips", "nothing is sent again"),
        Rival("path_mtu_black_hole", "what is sent again in the same size is lost again"),
        Rival("amplification_limit", "the server waits with what is new, and repeats nothing"),
    ),
    (
        Setting("path", "loss", "none", "Nothing of the handshake is lost.", ("all other losses go too",)),
        Setting(
            "sender",
            "initial_rtt",
            "100 ms",
            "The server's first timer is shorter.",
            ("spurious probes over long paths",),
            ("333 ms", "200 ms", "100 ms"),
        ),
        Setting(
            "client",
            "initial_rtt",
            "100 ms",
            "The client's first timer is shorter.",
            ("spurious probes over long paths",),
            ("333 ms", "200 ms", "100 ms"),
        ),
    ),
    reasons=(Why.SET_UP_LOSS, Why.WINDOW_AFTER_LOSS),
)
