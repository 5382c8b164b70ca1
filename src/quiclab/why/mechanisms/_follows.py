# SPDX-License-Identifier: Apache-2.0
"""Causes upstream of mechanisms that a lost packet sets off, of the window's growth, and of held acknowledgments."""

from __future__ import annotations

from quiclab.why.mechanisms._api import Follows

_SENDER = ("application", "pacing", "nagle", "cork", "largest_window")
_LIMITS = (
    "stream_flow_control_limited",
    "connection_flow_control_limited",
    "receive_window_limited",
    "send_buffer_limited",
)
_ACKS = ("delayed_acknowledgment", "acknowledgments_lost")

OF_A_LIMIT = Follows(_LIMITS, more=("packets_per_acknowledgment", "announced_ack_delay"), any_sender=True)
"""Acknowledgments held back: a sender that is stopped at a limit waits for each, and one that goes on does not."""
OF_A_LOSS = Follows((*_ACKS, *_LIMITS, *_SENDER, "competing_flow"), more=("lost",))
"""Timers, reports and repeats: as many packets lost, and each costs more."""
OF_A_LOSS_ON_THE_PATH = Follows((*OF_A_LOSS.upstream, "handshake_packet_lost"), more=("lost_on_the_path",))
"""A packet lost in the handshake reduces the window too."""
OF_A_FULL_QUEUE = Follows(OF_A_LOSS.upstream, more=("dropped_by_queues",))
OF_THE_FIRST_FLIGHT = Follows((*_ACKS, *_SENDER, "jitter", "competing_flow"), less=("first_flight",))
"""Slow start: it begins with as much, and each round trip takes longer, or grows it less."""
