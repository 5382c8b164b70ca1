# SPDX-License-Identifier: Apache-2.0
"""All figures: those of a whole study, those of one cell, those of single trials."""

from quiclab.report.figures._api import Figure
from quiclab.report.figures.against_best import AgainstBest
from quiclab.report.figures.blocking import Blocking
from quiclab.report.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.report.figures.causes import Causes
from quiclab.report.figures.congestion_window import CongestionWindow
from quiclab.report.figures.cost import Cost
from quiclab.report.figures.cumulative import Cumulative
from quiclab.report.figures.difference_map import DifferenceMap
from quiclab.report.figures.distribution import Distribution
from quiclab.report.figures.factor import Factor
from quiclab.report.figures.fairness import Fairness
from quiclab.report.figures.filmstrip import Filmstrip
from quiclab.report.figures.first_loss import FirstLoss
from quiclab.report.figures.handshake import Handshake
from quiclab.report.figures.improvement import Improvement
from quiclab.report.figures.interleaving import Interleaving
from quiclab.report.figures.losses import Losses
from quiclab.report.figures.main_image import MainImage
from quiclab.report.figures.migration import Migration
from quiclab.report.figures.multiplexing import Multiplexing
from quiclab.report.figures.pacing import Pacing
from quiclab.report.figures.page_bytes import PageBytes
from quiclab.report.figures.path import Path
from quiclab.report.figures.proxy import Proxy
from quiclab.report.figures.queue_length import QueueLength
from quiclab.report.figures.reasons import Reasons
from quiclab.report.figures.releases import Releases
from quiclab.report.figures.round_trip_time import RoundTripTime
from quiclab.report.figures.sequence import Sequence
from quiclab.report.figures.stall_reduction import StallReduction
from quiclab.report.figures.state_machine import StateMachine
from quiclab.report.figures.states import States
from quiclab.report.figures.throughput import Throughput
from quiclab.report.figures.timeline import Timeline
from quiclab.report.figures.video_quality import VideoQuality
from quiclab.report.figures.waterfall import Waterfall
from quiclab.report.figures.zero_rtt import ZeroRtt

FIGURES: tuple[Figure, ...] = (
    DifferenceMap(),
    Reasons(),
    Causes(),
    AgainstBest(),
    Releases(),
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
    Blocking(),
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
