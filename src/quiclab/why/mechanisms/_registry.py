# SPDX-License-Identifier: Apache-2.0
"""All mechanisms. An edge of an account belongs to the first of them that claims it, so the special come first."""

from __future__ import annotations

from quiclab.why.mechanisms._api import Mechanism
from quiclab.why.mechanisms.abandoned_bytes import ABANDONED_BYTES
from quiclab.why.mechanisms.acknowledgments_lost import ACKNOWLEDGMENTS_LOST
from quiclab.why.mechanisms.active_queue_management import ACTIVE_QUEUE_MANAGEMENT
from quiclab.why.mechanisms.amplification_limit import AMPLIFICATION_LIMIT
from quiclab.why.mechanisms.answer import ANSWER
from quiclab.why.mechanisms.application import APPLICATION
from quiclab.why.mechanisms.bbr_model_limited import BBR_MODEL_LIMITED
from quiclab.why.mechanisms.bytes_on_the_wire import BYTES_ON_THE_WIRE
from quiclab.why.mechanisms.change_of_address import CHANGE_OF_ADDRESS
from quiclab.why.mechanisms.client_without_processor import CLIENT_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.competing_flow import COMPETING_FLOW
from quiclab.why.mechanisms.competition_for_the_queue import COMPETITION_FOR_THE_QUEUE
from quiclab.why.mechanisms.connection_flow_control_limited import CONNECTION_FLOW_CONTROL_LIMITED
from quiclab.why.mechanisms.cork import CORK
from quiclab.why.mechanisms.credit_update_lost import CREDIT_UPDATE_LOST
from quiclab.why.mechanisms.delayed_acknowledgment import DELAYED_ACKNOWLEDGMENT
from quiclab.why.mechanisms.dropped_at_the_receiver import DROPPED_AT_THE_RECEIVER
from quiclab.why.mechanisms.early_data_amplification_limit import EARLY_DATA_AMPLIFICATION_LIMIT
from quiclab.why.mechanisms.handshake_bytes import HANDSHAKE_BYTES
from quiclab.why.mechanisms.handshake_packet_lost import HANDSHAKE_PACKET_LOST
from quiclab.why.mechanisms.handshake_round_trips import HANDSHAKE_ROUND_TRIPS
from quiclab.why.mechanisms.hello_retry_request import HELLO_RETRY_REQUEST
from quiclab.why.mechanisms.jitter import JITTER
from quiclab.why.mechanisms.large_packets_lost import LARGE_PACKETS_LOST
from quiclab.why.mechanisms.larger_window_reduction import LARGER_WINDOW_REDUCTION
from quiclab.why.mechanisms.largest_window import LARGEST_WINDOW
from quiclab.why.mechanisms.loss_detection_delay import LOSS_DETECTION_DELAY
from quiclab.why.mechanisms.loss_on_the_path import LOSS_ON_THE_PATH
from quiclab.why.mechanisms.loss_timer import LOSS_TIMER
from quiclab.why.mechanisms.minimum_window import MINIMUM_WINDOW
from quiclab.why.mechanisms.nagle import NAGLE
from quiclab.why.mechanisms.origin import ORIGIN
from quiclab.why.mechanisms.overshoot import OVERSHOOT
from quiclab.why.mechanisms.pacing import PACING
from quiclab.why.mechanisms.path_mtu_black_hole import PATH_MTU_BLACK_HOLE
from quiclab.why.mechanisms.policed import POLICED
from quiclab.why.mechanisms.proxy_without_processor import PROXY_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.receive_window_limited import RECEIVE_WINDOW_LIMITED
from quiclab.why.mechanisms.receiver_application_limited import RECEIVER_APPLICATION_LIMITED
from quiclab.why.mechanisms.reduced_in_recovery import REDUCED_IN_RECOVERY
from quiclab.why.mechanisms.reordering_taken_for_loss import REORDERING_TAKEN_FOR_LOSS
from quiclab.why.mechanisms.repeats import REPEATS
from quiclab.why.mechanisms.request_and_last_flight import REQUEST_AND_LAST_FLIGHT
from quiclab.why.mechanisms.requests_one_after_the_other import REQUESTS_ONE_AFTER_THE_OTHER
from quiclab.why.mechanisms.retransmission_timeout import RETRANSMISSION_TIMEOUT
from quiclab.why.mechanisms.retry import RETRY
from quiclab.why.mechanisms.scheduling import SCHEDULING
from quiclab.why.mechanisms.send_buffer_limited import SEND_BUFFER_LIMITED
from quiclab.why.mechanisms.server_without_processor import SERVER_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.slow_start import SLOW_START
from quiclab.why.mechanisms.slow_start_after_idle import SLOW_START_AFTER_IDLE
from quiclab.why.mechanisms.slow_start_left_without_loss import SLOW_START_LEFT_WITHOUT_LOSS
from quiclab.why.mechanisms.spurious_probe import SPURIOUS_PROBE
from quiclab.why.mechanisms.spurious_retransmission import SPURIOUS_RETRANSMISSION
from quiclab.why.mechanisms.stream_flow_control_limited import STREAM_FLOW_CONTROL_LIMITED
from quiclab.why.mechanisms.stream_limit import STREAM_LIMIT
from quiclab.why.mechanisms.tail_probe import TAIL_PROBE
from quiclab.why.mechanisms.time_to_answer import TIME_TO_ANSWER

MECHANISMS: tuple[Mechanism, ...] = (
    DROPPED_AT_THE_RECEIVER,
    REORDERING_TAKEN_FOR_LOSS,
    HANDSHAKE_PACKET_LOST,
    HELLO_RETRY_REQUEST,
    RETRY,
    EARLY_DATA_AMPLIFICATION_LIMIT,
    AMPLIFICATION_LIMIT,
    CLIENT_WITHOUT_PROCESSOR,
    SERVER_WITHOUT_PROCESSOR,
    PROXY_WITHOUT_PROCESSOR,
    CHANGE_OF_ADDRESS,
    SPURIOUS_RETRANSMISSION,
    REPEATS,
    HANDSHAKE_BYTES,
    ABANDONED_BYTES,
    COMPETING_FLOW,
    JITTER,
    RECEIVER_APPLICATION_LIMITED,
    DELAYED_ACKNOWLEDGMENT,
    HANDSHAKE_ROUND_TRIPS,
    TIME_TO_ANSWER,
    REQUEST_AND_LAST_FLIGHT,
    CREDIT_UPDATE_LOST,
    STREAM_FLOW_CONTROL_LIMITED,
    CONNECTION_FLOW_CONTROL_LIMITED,
    RECEIVE_WINDOW_LIMITED,
    SEND_BUFFER_LIMITED,
    STREAM_LIMIT,
    REQUESTS_ONE_AFTER_THE_OTHER,
    PATH_MTU_BLACK_HOLE,
    LARGE_PACKETS_LOST,
    SLOW_START_AFTER_IDLE,
    REDUCED_IN_RECOVERY,
    LARGER_WINDOW_REDUCTION,
    LARGEST_WINDOW,
    ACTIVE_QUEUE_MANAGEMENT,
    BBR_MODEL_LIMITED,
    MINIMUM_WINDOW,
    LOSS_ON_THE_PATH,
    COMPETITION_FOR_THE_QUEUE,
    POLICED,
    OVERSHOOT,
    SLOW_START_LEFT_WITHOUT_LOSS,
    SLOW_START,
    ACKNOWLEDGMENTS_LOST,
    RETRANSMISSION_TIMEOUT,
    SPURIOUS_PROBE,
    LOSS_TIMER,
    TAIL_PROBE,
    LOSS_DETECTION_DELAY,
    PACING,
    NAGLE,
    CORK,
    APPLICATION,
    SCHEDULING,
    ORIGIN,
    ANSWER,
    BYTES_ON_THE_WIRE,
)

BY_NAME = {mechanism.name: mechanism for mechanism in MECHANISMS}
