# SPDX-License-Identifier: Apache-2.0
"""All mechanisms. An edge of an account belongs to the first of them that claims it, so the special come first."""

from __future__ import annotations

from quiclab.diagnoses._api import Mechanism
from quiclab.diagnoses.abandoned_bytes import ABANDONED_BYTES
from quiclab.diagnoses.acknowledgment_held import ACKNOWLEDGMENT_HELD
from quiclab.diagnoses.acknowledgments_lost import ACKNOWLEDGMENTS_LOST
from quiclab.diagnoses.answer import ANSWER
from quiclab.diagnoses.application import APPLICATION
from quiclab.diagnoses.bytes_on_the_wire import BYTES_ON_THE_WIRE
from quiclab.diagnoses.certificate_beyond_amplification import CERTIFICATE_BEYOND_AMPLIFICATION
from quiclab.diagnoses.change_of_address import CHANGE_OF_ADDRESS
from quiclab.diagnoses.client_without_processor import CLIENT_WITHOUT_PROCESSOR
from quiclab.diagnoses.competing_flow import COMPETING_FLOW
from quiclab.diagnoses.competition_for_the_queue import COMPETITION_FOR_THE_QUEUE
from quiclab.diagnoses.connection_credit import CONNECTION_CREDIT
from quiclab.diagnoses.cork import CORK
from quiclab.diagnoses.credit_update_lost import CREDIT_UPDATE_LOST
from quiclab.diagnoses.dropped_at_the_receiver import DROPPED_AT_THE_RECEIVER
from quiclab.diagnoses.early_data_beyond_amplification import EARLY_DATA_BEYOND_AMPLIFICATION
from quiclab.diagnoses.handshake_bytes import HANDSHAKE_BYTES
from quiclab.diagnoses.hello_retry_request import HELLO_RETRY_REQUEST
from quiclab.diagnoses.jitter import JITTER
from quiclab.diagnoses.largest_window import LARGEST_WINDOW
from quiclab.diagnoses.loss_on_the_path import LOSS_ON_THE_PATH
from quiclab.diagnoses.loss_timer import LOSS_TIMER
from quiclab.diagnoses.managed_queue import MANAGED_QUEUE
from quiclab.diagnoses.minimum_window import MINIMUM_WINDOW
from quiclab.diagnoses.model_of_the_path import MODEL_OF_THE_PATH
from quiclab.diagnoses.nagle import NAGLE
from quiclab.diagnoses.needless_probe import NEEDLESS_PROBE
from quiclab.diagnoses.needless_repeats import NEEDLESS_REPEATS
from quiclab.diagnoses.origin import ORIGIN
from quiclab.diagnoses.overshoot import OVERSHOOT
from quiclab.diagnoses.pacing import PACING
from quiclab.diagnoses.policed import POLICED
from quiclab.diagnoses.proxy_without_processor import PROXY_WITHOUT_PROCESSOR
from quiclab.diagnoses.receive_window import RECEIVE_WINDOW
from quiclab.diagnoses.reordering_taken_for_loss import REORDERING_TAKEN_FOR_LOSS
from quiclab.diagnoses.repeats import REPEATS
from quiclab.diagnoses.request_and_last_flight import REQUEST_AND_LAST_FLIGHT
from quiclab.diagnoses.requests_one_after_the_other import REQUESTS_ONE_AFTER_THE_OTHER
from quiclab.diagnoses.retransmission_timeout import RETRANSMISSION_TIMEOUT
from quiclab.diagnoses.retry import RETRY
from quiclab.diagnoses.scheduling import SCHEDULING
from quiclab.diagnoses.senders_buffer import SENDERS_BUFFER
from quiclab.diagnoses.server_without_processor import SERVER_WITHOUT_PROCESSOR
from quiclab.diagnoses.set_up_packet_lost import SET_UP_PACKET_LOST
from quiclab.diagnoses.set_up_round_trips import SET_UP_ROUND_TRIPS
from quiclab.diagnoses.slow_reader import SLOW_READER
from quiclab.diagnoses.slow_start import SLOW_START
from quiclab.diagnoses.slow_start_left_without_loss import SLOW_START_LEFT_WITHOUT_LOSS
from quiclab.diagnoses.stream_credit import STREAM_CREDIT
from quiclab.diagnoses.stream_limit import STREAM_LIMIT
from quiclab.diagnoses.tail_probe import TAIL_PROBE
from quiclab.diagnoses.time_to_answer import TIME_TO_ANSWER
from quiclab.diagnoses.waiting_for_loss_report import WAITING_FOR_LOSS_REPORT

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
