# SPDX-License-Identifier: Apache-2.0
"""All metrics, in the order in which they are reported."""

from __future__ import annotations

from quiclab.metrics._api import Metric
from quiclab.metrics.address_change import ADDRESS_CHANGE
from quiclab.metrics.competition import COMPETITION
from quiclab.metrics.connection_times import CONNECTION_TIMES
from quiclab.metrics.cost import COST
from quiclab.metrics.disturbance import DISTURBANCE
from quiclab.metrics.ecn import ECN
from quiclab.metrics.held_back import HELD_BACK
from quiclab.metrics.objects import OBJECTS
from quiclab.metrics.order import ORDER
from quiclab.metrics.page import PAGE
from quiclab.metrics.path import PATH
from quiclab.metrics.path_times import PATH_TIMES
from quiclab.metrics.refused import REFUSED
from quiclab.metrics.retransmission import RETRANSMISSION
from quiclab.metrics.sessions import SESSIONS
from quiclab.metrics.states import STATES
from quiclab.metrics.times import TIMES
from quiclab.metrics.video import VIDEO

METRICS: tuple[Metric, ...] = (
    *TIMES, *CONNECTION_TIMES, *OBJECTS, *PAGE, *ORDER, *ADDRESS_CHANGE, *RETRANSMISSION, *REFUSED, *PATH, *DISTURBANCE,
    *PATH_TIMES, *ECN, *COST, *COMPETITION, *VIDEO, *SESSIONS, *HELD_BACK, *STATES,
)  # fmt: skip

_BY_NAME = {metric.name: metric for metric in METRICS}


def declared(name: str) -> Metric | None:
    """The metric of this name; None where there is none, as in a study that another version of quiclab made."""
    return _BY_NAME.get(name)


def title_of(name: str) -> str:
    """Title of a metric; its name where this version does not know it."""
    return _BY_NAME[name].title if name in _BY_NAME else name
