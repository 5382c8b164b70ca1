# SPDX-License-Identifier: Apache-2.0
"""The instants at which so much of a file was there: by marks, reckoned behind them, and by the last packet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from unit.why.account.stories import Tcp, sums
from unit.why.account.videos import one_file

from quiclab.evidence.metrics import Evidence
from quiclab.why.account import accounts_of
from quiclab.why.account.media_requests import Fetch
from quiclab.why.account.player import first_picture_bytes

_CAME = [(10 + n, 100 + 1000 * n) for n in range(11)]
"""A packet of 1,000 bytes at each instant from 10 on."""
_FETCH = Fetch("video.mp4", 0, 5, None, None, None, 0, _CAME, [(10, 0), (14, 3900), (18, 7800)], 1.0)


@pytest.mark.parametrize(
    ("place", "at"),
    [(3900, 14), (7800, 18), (1950, 12), (1, 10), (8700, 18), (8900, 19), (0, None), (99_000, None)],
)
def test_a_place_in_the_file_is_found(place: int, at: int | None) -> None:
    """At a mark exactly; between two of them, and behind the last, to within a packet."""
    assert _FETCH.arrival(place) == at


def test_a_range_begins_at_its_place() -> None:
    """What was before it came with another answer."""
    part = replace(_FETCH, begin=100_000)
    assert part.arrival(3900) is None
    assert part.arrival(103_900) == 14


def test_the_last_packet_of_an_answer() -> None:
    """Of one that was asked for at 5; nothing of it had come by 9, and what came after its end is another's."""
    assert [_FETCH.last_before(at) for at in (9, 12, 30)] == [None, 12, 20]
    assert replace(_FETCH, done_ns=15).last_before(30) is None


def _one_file(folder: Path, *, decode: bool, ahead: float) -> Evidence:
    """Three segments of TCP come at 62, 64 and 90; the player says at 92 that it can play, and how much it has."""
    return one_file(folder, Tcp(), video={"decode": decode}, ahead=ahead)


@pytest.mark.parametrize(("decode", "ahead"), [(False, 2000), (True, 2000), (True, 30)])
def test_one_file_goes_back_from_the_packet_that_brought_enough(decode: bool, ahead: int, tmp_path: Path) -> None:
    """Half of the file ends in the third segment, at 90. Below a hundredth it is what came last."""
    found = sums(accounts_of(_one_file(tmp_path, decode=decode, ahead=ahead))["start_up"])
    assert found.pop("player") == 5 + 2
    assert (found.pop("tcp_handshake"), found.pop("tls_round_trip"), found.pop("last_flight")) == (20, 21, 10)
    assert sum(found.values()) == 39


def test_without_a_decoder_little_is_reckoned_by_bytes(tmp_path: Path) -> None:
    """A thousandth of the file is in the first packet, at 62."""
    assert sums(accounts_of(_one_file(tmp_path, decode=False, ahead=4))["start_up"])["player"] == 5 + 30


def test_a_first_picture_needs_no_more_than_index_and_half_a_second() -> None:
    """A minute at 6 Mbit/s: 28,800 bytes of index and 375,000 of video, in blocks of 32 KiB."""
    assert first_picture_bytes(60, 45_000_000, 30) == 13 * 32_768
    assert first_picture_bytes(0.25, 30_000, 30) == 32_768
