# SPDX-License-Identifier: Apache-2.0
"""Causes that can be planted in a transfer of the golden twin, each with the mechanisms that name it.

A cause is a pair of settings of the same transfer: with it, and without it. Which mechanisms name it was written down
before anything was scored; the first of them is the one that its time should mostly stand under.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

SEGMENT = 1448
Keys = Mapping[str, Any]
"""Keys of `Case` in crates/twin/src/case.rs."""


@dataclass(frozen=True)
class Path:
    """The part of a network that the strength of a cause is measured in."""

    rate: int
    """Bit/s of the bottleneck."""
    delay_ns: int
    body_bytes: int

    @property
    def round_trip_ns(self) -> int:
        """Least round trip."""
        return 2 * self.delay_ns

    @property
    def held_bytes(self) -> int:
        """Bytes that the path holds."""
        return self.rate * self.round_trip_ns // 8_000_000_000


@dataclass(frozen=True)
class Drawn:
    """A cause at one strength: what the planted arm has, what it has without the cause, what both arms have."""

    planted: Keys
    without: Keys
    both: Keys = field(default_factory=dict)


@dataclass(frozen=True)
class Cause:
    """A cause that can be planted."""

    name: str
    mechanisms: tuple[str, ...]
    """Mechanisms that name it; the first takes most of its time."""
    setting: str
    """Key of a spec that takes it away; "" where no program has one."""
    draw: Callable[[random.Random, Path], Drawn]
    protocols: tuple[str, ...] = ("h2", "h3")
    drops_from_end: tuple[int, ...] = ()
    """Packets that are lost, counted back from the last of the response without the cause."""


def _rounded(value: float, unit: int, least: int) -> int:
    return max(least, int(value) // unit * unit)


def _loss(rng: random.Random, _: Path) -> Drawn:
    return Drawn({"loss_down": rng.choice([0.005, 0.01, 0.02, 0.04])}, {"loss_down": 0.0})


def _initial_window(rng: random.Random, _: Path) -> Drawn:
    return Drawn({"initial_window": rng.choice([2, 3, 4, 10])}, {"initial_window": rng.choice([20, 32])})


def _stream_credit(rng: random.Random, path: Path) -> Drawn:
    return Drawn({"stream_window": max(20_000, int(path.held_bytes * rng.uniform(0.2, 1.2)))}, {"stream_window": None})


def _receive_window(rng: random.Random, path: Path) -> Drawn:
    window = _rounded(path.held_bytes * rng.uniform(0.2, 1.2), SEGMENT, 10 * SEGMENT)
    return Drawn({"receive_window": window}, {"receive_window": None})


def _send_buffer(rng: random.Random, path: Path) -> Drawn:
    if rng.random() < 0.5:
        return Drawn({"send_buffer": rng.choice([32_768, 65_536, 131_072])}, {"send_buffer": None})
    buffer = _rounded(path.held_bytes * rng.uniform(0.2, 1.2), SEGMENT, 10 * SEGMENT)
    return Drawn({"send_buffer": buffer}, {"send_buffer": None})


def _largest_window(rng: random.Random, path: Path) -> Drawn:
    packets = max(10, int(path.held_bytes * rng.uniform(0.2, 1.2)) // SEGMENT)
    return Drawn({"largest_window": packets}, {"largest_window": None})


def _trickle(rng: random.Random, path: Path) -> Drawn:
    every = rng.choice([4_000, 16_000, 50_000])
    pauses = max(1, path.body_bytes // every)
    pause_ns = int(rng.choice([0.2, 0.5, 1.0]) * 1e9 * (0.05 + path.body_bytes * 8 / path.rate) / pauses)
    planted = {"pause_at": every, "pause_every": every, "pause_ns": max(pause_ns, 500_000)}
    return Drawn(planted, {"pause_at": 0, "pause_every": None, "pause_ns": 0})


def _pause(rng: random.Random, path: Path) -> Drawn:
    planted = {"pause_at": int(path.body_bytes * rng.random()), "pause_ns": int(rng.choice([20e6, 80e6, 300e6]))}
    return Drawn(planted, {"pause_at": 0, "pause_ns": 0})


def _slow_server(rng: random.Random, _: Path) -> Drawn:
    return Drawn({"pause_at": 0, "pause_ns": int(rng.choice([20e6, 80e6, 300e6]))}, {"pause_ns": 0})


def _pace(rng: random.Random, path: Path) -> Drawn:
    return Drawn({"pace": int(path.rate * rng.choice([0.3, 0.6, 0.9, 1.5]))}, {"pace": None})


def _reordering(rng: random.Random, path: Path) -> Drawn:
    late_ns = int(path.round_trip_ns * rng.uniform(0.03, 0.11))
    both = {"reorder": rng.choice([0.005, 0.02, 0.05]), "reorder_ns": late_ns, "loss_down": 0.0}
    return Drawn({"packet_threshold": 3}, {"packet_threshold": 300}, both)


def _exit(rng: random.Random, path: Path) -> Drawn:
    packets = max(12, int(path.held_bytes * rng.uniform(0.15, 0.9)) // SEGMENT)
    return Drawn({"threshold": packets}, {"threshold": None})


def _held_acks(rng: random.Random, _: Path) -> Drawn:
    planted = {"ack_every": rng.choice([8, 16, 64]), "ack_delay_ns": int(rng.choice([25e6, 40e6, 100e6]))}
    return Drawn(planted, {"ack_every": 2, "ack_delay_ns": 25_000_000})


def _short_queue(rng: random.Random, path: Path) -> Drawn:
    bound = max(15_000, int(path.held_bytes * rng.choice([0.1, 0.3, 0.6])))
    return Drawn({"queue_bytes": bound}, {"queue_bytes": None})


def _other_flow(rng: random.Random, path: Path) -> Drawn:
    planted = {"other_rate": int(path.rate * rng.choice([0.2, 0.4, 0.7]))}
    return Drawn(planted, {"other_rate": None}, {"queue_bytes": max(60_000, 2 * path.held_bytes)})


def _certificate(rng: random.Random, _: Path) -> Drawn:
    return Drawn({"flight_bytes": rng.choice([3_000, 5_000, 8_000])}, {"flight_bytes": 1_200})


def _small_packets(_: random.Random, __: Path) -> Drawn:
    return Drawn({"datagram_bytes": 1200}, {"datagram_bytes": 1452})


def _lost_acks(rng: random.Random, _: Path) -> Drawn:
    return Drawn({"loss_up": rng.choice([0.05, 0.2, 0.4])}, {"loss_up": 0.0}, {"loss_down": 0.0})


def _reno(rng: random.Random, _: Path) -> Drawn:
    both = {"loss_down": rng.choice([0.003, 0.01, 0.02])}
    return Drawn({"control": "reno"}, {"control": "cubic"}, both)


def _tail(_: random.Random, __: Path) -> Drawn:
    return Drawn({"drop_down": []}, {"drop_down": []}, {"loss_down": 0.0, "queue_bytes": None})


def _set_up(_: random.Random, __: Path) -> Drawn:
    return Drawn({"drop_down": [0]}, {"drop_down": []}, {"loss_down": 0.0, "queue_bytes": None})


OF_A_LOSS = (
    "loss_on_the_path", "loss_detection_delay", "tail_probe", "retransmission_timeout", "loss_timer", "repeats",
    "handshake_packet_lost",
)  # fmt: skip
CAUSES = (
    Cause("loss", OF_A_LOSS, "loss", _loss),
    Cause("tail lost", ("tail_probe", "retransmission_timeout", "loss_timer"), "", _tail, drops_from_end=(1, 2)),
    Cause("handshake packet lost", ("handshake_packet_lost",), "", _set_up),
    Cause("halving instead of 0.7", ("larger_window_reduction",), "congestion_control", _reno),
    Cause(
        "reordering taken for loss",
        ("reordering_taken_for_loss", "spurious_retransmission"),
        "packet_threshold",
        _reordering,
    ),
    Cause(
        "short queue",
        ("overshoot", "loss_detection_delay", "retransmission_timeout", "loss_timer", "tail_probe", "repeats"),
        "queue",
        _short_queue,
    ),
    Cause("competing flow", ("competing_flow", "competition_for_the_queue"), "aqm", _other_flow),
    Cause("initial window", ("slow_start",), "initial_window", _initial_window),
    Cause("slow start left early", ("slow_start_left_without_loss",), "hystart", _exit, ("h2",)),
    Cause("largest window", ("largest_window",), "max_window", _largest_window),
    Cause("stream credit", ("stream_flow_control_limited", "credit_update_lost"), "stream_window", _stream_credit),
    Cause(
        "connection credit",
        ("connection_flow_control_limited", "credit_update_lost"),
        "connection_window",
        _receive_window,
        ("h3",),
    ),
    Cause("receive window", ("receive_window_limited",), "receive_buffer", _receive_window, ("h2",)),
    Cause("send buffer", ("send_buffer_limited",), "send_buffer", _send_buffer),
    Cause("trickling program", ("application",), "", _trickle),
    Cause("pausing program", ("application",), "", _pause),
    Cause("slow server", ("application", "time_to_answer"), "", _slow_server),
    Cause("slow pacing", ("pacing",), "pacing", _pace, ("h3",)),
    Cause("acknowledgments held", ("delayed_acknowledgment",), "ack_frequency", _held_acks, ("h2",)),
    Cause("acknowledgments lost", ("acknowledgments_lost", "spurious_probe", "credit_update_lost"), "loss", _lost_acks),
    Cause(
        "long certificate",
        ("amplification_limit", "handshake_bytes"),
        "intermediates",
        _certificate,
        ("h3",),
    ),
    Cause("small packets", ("bytes_on_the_wire",), "", _small_packets, ("h3",)),
)


def _not_drawn(_: random.Random, __: Path) -> Drawn:
    raise NotImplementedError("the golden twin cannot have it: benches/diagnosis/real.py plants it in programs")


OF_PROGRAMS = (
    Cause("no pacing", ("overshoot", *OF_A_LOSS[1:-1]), "pacing", _not_drawn),
    Cause("probes too early", ("spurious_probe", "spurious_retransmission"), "initial_rtt", _not_drawn),
    Cause("window reduced at every loss", ("reduced_in_recovery",), "", _not_drawn),
    Cause("window reduced twice in one step", ("larger_window_reduction",), "", _not_drawn),
    Cause("coarse timers", ("pacing",), "", _not_drawn),
    Cause("stream limit", ("stream_limit",), "max_streams", _not_drawn),
    Cause("HelloRetryRequest", ("hello_retry_request",), "groups", _not_drawn),
    Cause("TLS 1.2", ("handshake_round_trips",), "tls_version", _not_drawn),
    Cause("acknowledgments held over QUIC", ("delayed_acknowledgment",), "ack_frequency", _not_drawn),
    Cause("proxy without a processor", ("proxy_without_processor",), "cpu", _not_drawn),
    Cause("false round-trip sample", ("bbr_model_limited",), "", _not_drawn),
    Cause(
        "client without a processor", ("client_without_processor", "receiver_application_limited"), "cpu", _not_drawn
    ),
)
"""Causes that are planted in real programs alone."""
BY_NAME = {cause.name: cause for cause in (*CAUSES, *OF_PROGRAMS)}
