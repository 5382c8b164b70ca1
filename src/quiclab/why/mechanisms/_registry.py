# SPDX-License-Identifier: Apache-2.0
"""All mechanisms. An edge of an account belongs to the first of them that claims it, so the special come first."""

from __future__ import annotations

from quiclab.why.mechanisms._api import Mechanism
from quiclab.why.mechanisms.abandoned_bytes import ABANDONED_BYTES
from quiclab.why.mechanisms.acknowledgment_held import ACKNOWLEDGMENT_HELD
from quiclab.why.mechanisms.acknowledgments_lost import ACKNOWLEDGMENTS_LOST
from quiclab.why.mechanisms.answer import ANSWER
from quiclab.why.mechanisms.application import APPLICATION
from quiclab.why.mechanisms.bytes_on_the_wire import BYTES_ON_THE_WIRE
from quiclab.why.mechanisms.certificate_beyond_amplification import CERTIFICATE_BEYOND_AMPLIFICATION
from quiclab.why.mechanisms.change_of_address import CHANGE_OF_ADDRESS
from quiclab.why.mechanisms.client_without_processor import CLIENT_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.competing_flow import COMPETING_FLOW
from quiclab.why.mechanisms.competition_for_the_queue import COMPETITION_FOR_THE_QUEUE
from quiclab.why.mechanisms.connection_credit import CONNECTION_CREDIT
from quiclab.why.mechanisms.cork import CORK
from quiclab.why.mechanisms.credit_update_lost import CREDIT_UPDATE_LOST
from quiclab.why.mechanisms.dropped_at_the_receiver import DROPPED_AT_THE_RECEIVER
from quiclab.why.mechanisms.early_data_beyond_amplification import EARLY_DATA_BEYOND_AMPLIFICATION
from quiclab.why.mechanisms.handshake_bytes import HANDSHAKE_BYTES
from quiclab.why.mechanisms.hello_retry_request import HELLO_RETRY_REQUEST
from quiclab.why.mechanisms.jitter import JITTER
from quiclab.why.mechanisms.largest_window import LARGEST_WINDOW
from quiclab.why.mechanisms.loss_on_the_path import LOSS_ON_THE_PATH
from quiclab.why.mechanisms.loss_timer import LOSS_TIMER
from quiclab.why.mechanisms.managed_queue import MANAGED_QUEUE
from quiclab.why.mechanisms.minimum_window import MINIMUM_WINDOW
from quiclab.why.mechanisms.model_of_the_path import MODEL_OF_THE_PATH
from quiclab.why.mechanisms.nagle import NAGLE
from quiclab.why.mechanisms.needless_probe import NEEDLESS_PROBE
from quiclab.why.mechanisms.needless_repeats import NEEDLESS_REPEATS
from quiclab.why.mechanisms.origin import ORIGIN
from quiclab.why.mechanisms.overshoot import OVERSHOOT
from quiclab.why.mechanisms.pacing import PACING
from quiclab.why.mechanisms.policed import POLICED
from quiclab.why.mechanisms.proxy_without_processor import PROXY_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.receive_window import RECEIVE_WINDOW
from quiclab.why.mechanisms.reordering_taken_for_loss import REORDERING_TAKEN_FOR_LOSS
from quiclab.why.mechanisms.repeats import REPEATS
from quiclab.why.mechanisms.request_and_last_flight import REQUEST_AND_LAST_FLIGHT
from quiclab.why.mechanisms.requests_one_after_the_other import REQUESTS_ONE_AFTER_THE_OTHER
from quiclab.why.mechanisms.retransmission_timeout import RETRANSMISSION_TIMEOUT
from quiclab.why.mechanisms.retry import RETRY
from quiclab.why.mechanisms.scheduling import SCHEDULING
from quiclab.why.mechanisms.senders_buffer import SENDERS_BUFFER
from quiclab.why.mechanisms.server_without_processor import SERVER_WITHOUT_PROCESSOR
from quiclab.why.mechanisms.set_up_packet_lost import SET_UP_PACKET_LOST
from quiclab.why.mechanisms.set_up_round_trips import SET_UP_ROUND_TRIPS
from quiclab.why.mechanisms.slow_reader import SLOW_READER
from quiclab.why.mechanisms.slow_start import SLOW_START
from quiclab.why.mechanisms.slow_start_left_without_loss import SLOW_START_LEFT_WITHOUT_LOSS
from quiclab.why.mechanisms.stream_credit import STREAM_CREDIT
from quiclab.why.mechanisms.stream_limit import STREAM_LIMIT
from quiclab.why.mechanisms.tail_probe import TAIL_PROBE
from quiclab.why.mechanisms.time_to_answer import TIME_TO_ANSWER
from quiclab.why.mechanisms.waiting_for_loss_report import WAITING_FOR_LOSS_REPORT

MECHANISMS: tuple[Mechanism, ...] = (
    DROPPED_AT_THE_RECEIVER,
    REORDERING_TAKEN_FOR_LOSS,
    SET_UP_PACKET_LOST,
    HELLO_RETRY_REQUEST,
    RETRY,
    EARLY_DATA_BEYOND_AMPLIFICATION,
    CERTIFICATE_BEYOND_AMPLIFICATION,
    CLIENT_WITHOUT_PROCESSOR,
    SERVER_WITHOUT_PROCESSOR,
    PROXY_WITHOUT_PROCESSOR,
    CHANGE_OF_ADDRESS,
    NEEDLESS_REPEATS,
    REPEATS,
    HANDSHAKE_BYTES,
    ABANDONED_BYTES,
    COMPETING_FLOW,
    JITTER,
    SLOW_READER,
    ACKNOWLEDGMENT_HELD,
    SET_UP_ROUND_TRIPS,
    TIME_TO_ANSWER,
    REQUEST_AND_LAST_FLIGHT,
    CREDIT_UPDATE_LOST,
    STREAM_CREDIT,
    CONNECTION_CREDIT,
    RECEIVE_WINDOW,
    SENDERS_BUFFER,
    STREAM_LIMIT,
    REQUESTS_ONE_AFTER_THE_OTHER,
    LARGEST_WINDOW,
    MANAGED_QUEUE,
    MODEL_OF_THE_PATH,
    MINIMUM_WINDOW,
    LOSS_ON_THE_PATH,
    COMPETITION_FOR_THE_QUEUE,
    POLICED,
    OVERSHOOT,
    SLOW_START_LEFT_WITHOUT_LOSS,
    SLOW_START,
    ACKNOWLEDGMENTS_LOST,
    RETRANSMISSION_TIMEOUT,
    NEEDLESS_PROBE,
    LOSS_TIMER,
    TAIL_PROBE,
    WAITING_FOR_LOSS_REPORT,
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
