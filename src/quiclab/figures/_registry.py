# SPDX-License-Identifier: Apache-2.0
"""All figures: those of a whole study, those of one cell, those of single trials."""

from quiclab.figures._api import Figure
from quiclab.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.figures.congestion_window import CongestionWindow
from quiclab.figures.cost import Cost
from quiclab.figures.cumulative import Cumulative
from quiclab.figures.difference_map import DifferenceMap
from quiclab.figures.distribution import Distribution
from quiclab.figures.factor import Factor
from quiclab.figures.first_loss import FirstLoss
from quiclab.figures.handshake import Handshake
from quiclab.figures.losses import Losses
from quiclab.figures.migration import Migration
from quiclab.figures.multiplexing import Multiplexing
from quiclab.figures.pacing import Pacing
from quiclab.figures.path import Path
from quiclab.figures.proxy import Proxy
from quiclab.figures.queue_length import QueueLength
from quiclab.figures.round_trip_time import RoundTripTime
from quiclab.figures.sequence import Sequence
from quiclab.figures.state_machine import StateMachine
from quiclab.figures.states import States
from quiclab.figures.throughput import Throughput
from quiclab.figures.waterfall import Waterfall

FIGURES: tuple[Figure, ...] = (
    DifferenceMap(),
    Factor(),
    Proxy(),
    Migration(),
    Distribution(),
    Cumulative(),
    FirstLoss(),
    BytesAcknowledged(),
    Throughput(),
    CongestionWindow(),
    RoundTripTime(),
    Pacing(),
    QueueLength(),
    Losses(),
    Handshake(),
    Sequence(),
    States(),
    StateMachine(),
    Waterfall(),
    Multiplexing(),
    Path(),
    Cost(),
)
