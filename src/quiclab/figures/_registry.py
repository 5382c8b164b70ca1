# SPDX-License-Identifier: Apache-2.0
"""All figures: those of a whole study, those of one cell, those of single trials."""

from quiclab.figures._api import Figure
from quiclab.figures.against_best import AgainstBest
from quiclab.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.figures.causes import Causes
from quiclab.figures.congestion_window import CongestionWindow
from quiclab.figures.cost import Cost
from quiclab.figures.cumulative import Cumulative
from quiclab.figures.difference_map import DifferenceMap
from quiclab.figures.distribution import Distribution
from quiclab.figures.factor import Factor
from quiclab.figures.fairness import Fairness
from quiclab.figures.filmstrip import Filmstrip
from quiclab.figures.first_loss import FirstLoss
from quiclab.figures.handshake import Handshake
from quiclab.figures.improvement import Improvement
from quiclab.figures.interleaving import Interleaving
from quiclab.figures.losses import Losses
from quiclab.figures.main_image import MainImage
from quiclab.figures.migration import Migration
from quiclab.figures.multiplexing import Multiplexing
from quiclab.figures.pacing import Pacing
from quiclab.figures.page_bytes import PageBytes
from quiclab.figures.path import Path
from quiclab.figures.proxy import Proxy
from quiclab.figures.queue_length import QueueLength
from quiclab.figures.reasons import Reasons
from quiclab.figures.round_trip_time import RoundTripTime
from quiclab.figures.sequence import Sequence
from quiclab.figures.stall_reduction import StallReduction
from quiclab.figures.state_machine import StateMachine
from quiclab.figures.states import States
from quiclab.figures.throughput import Throughput
from quiclab.figures.timeline import Timeline
from quiclab.figures.video_quality import VideoQuality
from quiclab.figures.waterfall import Waterfall
from quiclab.figures.zero_rtt import ZeroRtt

FIGURES: tuple[Figure, ...] = (
    DifferenceMap(),
    Reasons(),
    Causes(),
    AgainstBest(),
    Factor(),
    Proxy(),
    Migration(),
    Distribution(),
    Cumulative(),
    FirstLoss(),
    Timeline(),
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
    Interleaving(),
    Filmstrip(),
    MainImage(),
    PageBytes(),
    Improvement(),
    ZeroRtt(),
    VideoQuality(),
    StallReduction(),
    Fairness(),
    Path(),
    Cost(),
)
