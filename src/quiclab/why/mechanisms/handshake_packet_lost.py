# SPDX-License-Identifier: Apache-2.0
"""A handshake packet that was lost: a timer, mostly a long one, has to repeat it."""

from __future__ import annotations

import polars as pl

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.amplification import amplification
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
    facts += _timers(trial, waits)
    if reduced.any():
        facts.append(Fact("behind_a_reduction", float(trial.length_ns.filter(reduced).sum()) / 1e6, "ms"))
    against = "" if lost.height else "No link dropped a handshake packet: what was repeated was only late."
    return Claim(edges, tuple(facts), against)


def _timers(trial: Trial, waits: pl.Series) -> list[Fact]:
    """Time in which only a timer of one end ran, by end, and the part in which the server could not have repeated
    anything: it had sent three times what had come."""
    timer = waits & trial.what(What.TIMER)
    facts = []
    for end, direction in (("client", "up"), ("server", "down")):
        mine = timer & (trial.account["direction"] == direction).fill_null(value=False)
        if mine.any():
            facts.append(Fact(f"timer_of_the_{end}", trial.ms(mine), "ms"))
    limit = amplification(trial.evidence)
    spans = trial.account.filter(timer).select("from_ns", "until_ns").iter_rows()
    silent_ns = sum(until - since for since, until in spans if limit.has_no_room((since + until) // 2))
    return [*facts, Fact("server_at_its_limit", silent_ns / 1e6, "ms")] if silent_ns else facts


HANDSHAKE_PACKET_LOST = Mechanism(
    "handshake_packet_lost",
    "handshake packet lost",
    Family.SET_UP,
    "A handshake packet was lost. No round-trip time is known yet, so that the timer that repeats it is long: 1 s "
    "over TCP, as a rule 0.3 to 1 s over QUIC. A server of QUIC at its anti-amplification limit cannot even repeat: it "
    "waits for the client's timer. The loss may also reduce the window before anything else is sent.",
    "Waits of the handshake that end when something is repeated, and round trips that exist only for that; the links' "
    "logs tell the packets that were dropped. Waits for a full window that such a packet had reduced, too.",
    Level.E1,
    "RFC 6298 section 2, RFC 9002 sections 6.2.2 and 6.2.2.1",
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
