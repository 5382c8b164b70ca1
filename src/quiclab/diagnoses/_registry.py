# SPDX-License-Identifier: Apache-2.0
"""All mechanisms. An edge of an account belongs to the first of them that claims it, so the special come first."""

from __future__ import annotations

from quiclab.diagnoses._api import Mechanism
from quiclab.diagnoses.bytes_on_the_wire import BYTES_ON_THE_WIRE
from quiclab.diagnoses.loss_on_the_path import LOSS_ON_THE_PATH

MECHANISMS: tuple[Mechanism, ...] = (
    LOSS_ON_THE_PATH,
    BYTES_ON_THE_WIRE,
)

BY_NAME = {mechanism.name: mechanism for mechanism in MECHANISMS}
