# SPDX-License-Identifier: Apache-2.0
"""All metrics, in the order in which they are reported."""

from __future__ import annotations

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.address_change import ADDRESS_CHANGE
from quiclab.evidence.metrics.competition import COMPETITION
from quiclab.evidence.metrics.connection_times import CONNECTION_TIMES
from quiclab.evidence.metrics.cost import COST
from quiclab.evidence.metrics.disturbance import DISTURBANCE
from quiclab.evidence.metrics.ecn import ECN
from quiclab.evidence.metrics.head_of_line import HEAD_OF_LINE
from quiclab.evidence.metrics.held_back import HELD_BACK
from quiclab.evidence.metrics.objects import OBJECTS
from quiclab.evidence.metrics.order import ORDER
from quiclab.evidence.metrics.page import PAGE
from quiclab.evidence.metrics.path import PATH
from quiclab.evidence.metrics.path_times import PATH_TIMES
from quiclab.evidence.metrics.refused import REFUSED
from quiclab.evidence.metrics.retransmission import RETRANSMISSION
from quiclab.evidence.metrics.sessions import SESSIONS
from quiclab.evidence.metrics.states import STATES
from quiclab.evidence.metrics.times import TIMES
from quiclab.evidence.metrics.video import VIDEO

METRICS: tuple[Metric, ...] = (
    *TIMES, *CONNECTION_TIMES, *OBJECTS, *PAGE, *ORDER, *HEAD_OF_LINE, *ADDRESS_CHANGE, *RETRANSMISSION, *REFUSED,
    *PATH, *DISTURBANCE, *PATH_TIMES, *ECN, *COST, *COMPETITION, *VIDEO, *SESSIONS, *HELD_BACK, *STATES,
)  # fmt: skip

_BY_NAME = {metric.name: metric for metric in METRICS}


def declared(name: str) -> Metric | None:
    """The metric of this name; None where there is none, as in a study that another version of quiclab made."""
    return _BY_NAME.get(name)


def title_of(name: str) -> str:
    """Title of a metric; its name where this version does not know it."""
    return _BY_NAME[name].title if name in _BY_NAME else name
