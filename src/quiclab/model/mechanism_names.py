# SPDX-License-Identifier: Apache-2.0
"""Names that mechanisms had in earlier versions: they are understood wherever one comes from outside, on the command
line, in the tables of a study, and in what a confirming run declared."""

from __future__ import annotations

FORMER = {
    "acknowledgment_held": "delayed_acknowledgment",
    "certificate_beyond_amplification": "amplification_limit",
    "connection_credit": "connection_flow_control_limited",
    "early_data_beyond_amplification": "early_data_amplification_limit",
    "managed_queue": "active_queue_management",
    "model_of_the_path": "bbr_model_limited",
    "needless_probe": "spurious_probe",
    "needless_repeats": "spurious_retransmission",
    "receive_window": "receive_window_limited",
    "senders_buffer": "send_buffer_limited",
    "set_up_packet_lost": "handshake_packet_lost",
    "set_up_round_trips": "handshake_round_trips",
    "slow_reader": "receiver_application_limited",
    "stream_credit": "stream_flow_control_limited",
    "waiting_for_loss_report": "loss_detection_delay",
}
"""Former name of a mechanism → its name. A wait may have the name that a mechanism had: these are not its."""
COLUMN = "mechanism"
"""Column of tables that names a mechanism."""
FORMER_FACTS = {"longest_look": "longest_wait_for_a_processor"}
"""Former name of a number that a mechanism shows → its name."""
BY_COLUMN = {COLUMN: FORMER, "fact": FORMER_FACTS}
"""Column of the tables of an account → the former names in it, each with its name."""


def current_name(name: str) -> str:
    """The name of a mechanism, given any that it has had; other names stay as they are."""
    return FORMER.get(name, name)


def names_of(mechanism: str) -> tuple[str, ...]:
    """All names that a mechanism has had, its former ones first."""
    return (*(former for former, name in FORMER.items() if name == mechanism), mechanism)
