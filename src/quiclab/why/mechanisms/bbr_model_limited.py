# SPDX-License-Identifier: Apache-2.0
"""A window that follows the sender's model of the path, as BBR's does, and not the losses."""

from __future__ import annotations

import polars as pl

from quiclab.model.cause import Why
from quiclab.why.account.kernel import sender_samples
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Fact, Family, Mechanism, Rival, settings_of_both_transports
from quiclab.why.mechanisms._trial import Trial

_WHYS = (Why.SLOW_START, Why.WINDOW_AFTER_EXIT, Why.WINDOW)
_STARTUP_GAIN_256THS = 700
"""Gain from which on Linux's BBR is in its start-up, which has 739; no other of its states has more than 320."""
_TRIPS = 2
"""Round trips with their queue after which BBR has its window back, which it had cut to what was in flight."""
_SEEN_SHARE = 0.9
"""Share of the bottleneck's rate from which on an estimate is not too low."""


def _claim(trial: Trial) -> Claim:
    edges = trial.why(*_WHYS) | (trial.why(Why.WINDOW_AFTER_LOSS) & _long_after(trial))
    told = _estimates(trial) if edges.any() else None
    if told is None or told.is_empty():
        return Claim(trial.none())
    ends = trial.account.select(pl.col("until_ns") - 1)
    known = ends.join_asof(told, left_on="until_ns", right_on="time_ns", strategy="backward")
    edges &= known["settled"].fill_null(value=False)
    if not edges.any():
        return Claim(edges)
    estimates = known["bit_per_s"].filter(edges).drop_nulls()
    if estimates.is_empty():
        return Claim(edges)
    estimate, rate = float(estimates.median()), _rate(trial)  # type: ignore[arg-type]
    facts = (Fact("estimate", estimate / 1e6, "Mbit/s"), Fact("rate_of_the_link", rate / 1e6, "Mbit/s"))
    against = "The sender's estimate was that of the link: it did not take the path for slower than it is."
    return Claim(edges, facts, against if estimate >= _SEEN_SHARE * rate else "")


def _long_after(trial: Trial) -> pl.Series:
    """True for each edge that ends so long after its event that a sender with a model has its window back."""
    since_ns = trial.account["until_ns"] - trial.account["event_ns"]
    return (since_ns > _TRIPS * (trial.round_trip_ns + trial.longest_queue_ns)).fill_null(value=False)


def _estimates(trial: Trial) -> pl.DataFrame:
    """The sender's estimates of the bandwidth over time, and whether its start-up was over (`settled`)."""
    evidence = trial.evidence
    if evidence.quic:
        rows = evidence.table("transport_metrics").filter(
            pl.col("vantage") == evidence.sender, ~pl.col("estimate"), pl.col("transport") == "quic"
        )
        rows = rows.sort("time_ns").with_columns(pl.col("phase", "bandwidth_bit_per_s").forward_fill())
        settled = (pl.col("phase") != "startup").alias("settled")
        return rows.drop_nulls("phase").select("time_ns", pl.col("bandwidth_bit_per_s").alias("bit_per_s"), settled)
    rows = sender_samples(evidence).filter(pl.col("bbr_bw_bytes_per_s") > 0, pl.col("bbr_pacing_gain_256ths") > 0)
    return rows.sort("time_ns").select(
        "time_ns",
        (8.0 * pl.col("bbr_bw_bytes_per_s")).alias("bit_per_s"),
        (pl.col("bbr_pacing_gain_256ths") < _STARTUP_GAIN_256THS).alias("settled"),
    )


def _rate(trial: Trial) -> float:
    """The rate at which the sender's link served packets, by their median; 0 where it served in no time."""
    served = trial.ahead.filter(pl.col("service_ns") > 0)
    rate = served.select((8e9 * pl.col("size_bytes") / pl.col("service_ns")).median()).item()
    return float(rate or 0.0)


BBR_MODEL_LIMITED = Mechanism(
    "bbr_model_limited",
    "BBR model limit",
    Family.WINDOW,
    "The sender's congestion control (BBR) sets window and pace by its estimates of the path's rate and round trip. "
    "Where it takes the path for slower or shorter than it is, the link runs idle.",
    "Waits for a full window that no loss reduced in the last two round trips, after the start-up by the sender's log "
    "or its kernel; the estimate and the link's rate are told.",
    Level.E0,
    "Cardwell et al., BBR: congestion-based congestion control, ACM Queue 14(5), 2016; picoquic issue 839",
    _claim,
    (
        Rival("slow_start", "the sender is in its start-up still, or has no such model"),
        Rival("loss_on_the_path", "a loss had reduced the window"),
    ),
    (
        *settings_of_both_transports(
            "congestion_control",
            "cubic",
            "A congestion control that fills the queue instead of estimating the rate.",
            ("a loss reduces the window", "the queue is longer"),
        ),
    ),
    reasons=(Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT, Why.WINDOW),
)
