# SPDX-License-Identifier: Apache-2.0
"""Slow start that ended without a loss: the window then grows by next to nothing."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.kernel import sender_samples
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._queue import standing_ms
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms._window_course import windows

_QUEUE_SHARE = 0.5
"""Share of a rise of the round-trip time that the queue must hold for it to count as the queue's."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(Why.WINDOW_AFTER_EXIT)
    events = trial.account["event_ns"].filter(edges).drop_nulls()
    if events.is_empty():
        return Claim(edges)
    exit_ns, trip_ns = int(events[0]), max(trial.round_trip_ns, 1_000_000)
    queue_ms = standing_ms(trial, exit_ns - 2 * trip_ns, exit_ns)
    rise_ms = _rise_ms(trial, exit_ns, trip_ns)
    held = windows(trial).filter(pl.col("time_ns") <= exit_ns)["packets"]
    facts = (
        *((Fact("window_at_exit", float(held[-1]), "packets"),) if held.len() else ()),
        Fact("queue_before_exit", queue_ms, "ms"),
        *((Fact("rise_of_samples", rise_ms, "ms"),) if rise_ms is not None else ()),
    )
    return Claim(edges, facts, _against(queue_ms, rise_ms))


def _rise_ms(trial: Trial, exit_ns: int, trip_ns: int) -> float | None:
    """Height of the largest sample of the round-trip time just before the exit above the smallest one so far."""
    evidence = trial.evidence
    if evidence.quic:
        rows = evidence.table("transport_metrics").filter(pl.col("vantage") == evidence.sender, ~pl.col("estimate"))
        samples = rows.drop_nulls("latest_rtt_ms").select("time_ns", pl.col("latest_rtt_ms").alias("ms"))
    else:
        rows = sender_samples(evidence).drop_nulls("rtt_us")
        samples = rows.select("time_ns", (pl.col("rtt_us") / 1000).alias("ms"))
    before = samples.filter(pl.col("time_ns") <= exit_ns)
    last = before.filter(pl.col("time_ns") >= exit_ns - 2 * trip_ns)
    if last.is_empty():
        return None
    return float(last["ms"].max()) - float(before["ms"].min())  # type: ignore[arg-type]


def _against(queue_ms: float, rise_ms: float | None) -> str:
    if rise_ms is None or rise_ms < 1:
        return ""
    if queue_ms >= _QUEUE_SHARE * rise_ms:
        return (
            f"The queue had grown to {queue_ms:.1f} ms before slow start was left: to leave it then is what the "
            "algorithm is for."
        )
    return (
        f"The samples of the round-trip time had risen by {rise_ms:.1f} ms while the queue held at most "
        f"{queue_ms:.1f} ms: the receiver read or acknowledged late, the path was not full."
    )


SLOW_START_LEFT_WITHOUT_LOSS = Mechanism(
    "slow_start_left_without_loss",
    "slow-start exit without loss",
    Family.WINDOW,
    "The sender left slow start although nothing was lost, because round trips seemed to grow (HyStart) or the rate "
    "did not (BBR). The window then grows slowly, and the link stays idle where it was still too small.",
    "Waits for a full window whose last event is the end of slow start without a loss; the queue and the samples of "
    "the round-trip time just before tell whether the path was full.",
    Level.E0,
    "RFC 9406 (HyStart++); Ha and Rhee, Taming the elephants, 2011; Kakhki et al., IMC 2017, section 5.2",
    _claim,
    (
        Rival("slow_start", "no log shows the end of slow start, and the window doubles with each round trip"),
        Rival("loss_on_the_path", "the sender had declared a loss before the window stopped growing"),
    ),
    (
        Setting(
            "sender",
            "hystart",
            value=False,
            gain="Without HyStart slow start goes on until a packet is lost.",
            also_changes=("the queue overflows at the end of slow start",),
        ),
        Setting(
            "tcp",
            "congestion_control",
            "reno",
            "Linux's Reno has no HyStart, which its CUBIC has.",
            ("after a loss the window is halved, and grows by a packet per round trip",),
        ),
    ),
    reasons=(Why.WINDOW_AFTER_EXIT,),
)
