# SPDX-License-Identifier: Apache-2.0
"""All mechanisms. An edge of an account belongs to the first of them that claims it, so the special come first."""

from __future__ import annotations

from quiclab.diagnoses._api import Mechanism
from quiclab.diagnoses.bytes_on_the_wire import BYTES_ON_THE_WIRE
from quiclab.diagnoses.competition_for_the_queue import COMPETITION_FOR_THE_QUEUE
from quiclab.diagnoses.dropped_at_the_receiver import DROPPED_AT_THE_RECEIVER
from quiclab.diagnoses.largest_window import LARGEST_WINDOW
from quiclab.diagnoses.loss_on_the_path import LOSS_ON_THE_PATH
from quiclab.diagnoses.managed_queue import MANAGED_QUEUE
from quiclab.diagnoses.minimum_window import MINIMUM_WINDOW
from quiclab.diagnoses.overshoot import OVERSHOOT
from quiclab.diagnoses.policed import POLICED
from quiclab.diagnoses.reordering_taken_for_loss import REORDERING_TAKEN_FOR_LOSS
from quiclab.diagnoses.slow_start import SLOW_START
from quiclab.diagnoses.slow_start_left_without_loss import SLOW_START_LEFT_WITHOUT_LOSS

MECHANISMS: tuple[Mechanism, ...] = (
    DROPPED_AT_THE_RECEIVER,
    REORDERING_TAKEN_FOR_LOSS,
    LARGEST_WINDOW,
    MINIMUM_WINDOW,
    LOSS_ON_THE_PATH,
    COMPETITION_FOR_THE_QUEUE,
    POLICED,
    MANAGED_QUEUE,
    OVERSHOOT,
    SLOW_START_LEFT_WITHOUT_LOSS,
    SLOW_START,
    BYTES_ON_THE_WIRE,
)

BY_NAME = {mechanism.name: mechanism for mechanism in MECHANISMS}
