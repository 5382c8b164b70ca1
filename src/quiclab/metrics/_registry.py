# SPDX-License-Identifier: Apache-2.0
"""All metrics, in the order in which they are reported."""

from __future__ import annotations

from quiclab.metrics._api import Metric
from quiclab.metrics.objects import OBJECTS
from quiclab.metrics.page import PAGE
from quiclab.metrics.path import PATH
from quiclab.metrics.retransmission import RETRANSMISSION
from quiclab.metrics.times import TIMES

METRICS: tuple[Metric, ...] = (*TIMES, *OBJECTS, *PAGE, *RETRANSMISSION, *PATH)
