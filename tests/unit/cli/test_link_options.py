# SPDX-License-Identifier: Apache-2.0
"""Options of `quiclab exec` in the words of the spec."""

from __future__ import annotations

import argparse
import pathlib

import pytest

from quiclab.cli.link_options import add_link_options, read_link_options
from quiclab.model.errors import SpecError
from quiclab.model.network import Oversize, Slot
from quiclab.model.study import Bernoulli, Block, FqCoDel, Path, Police, Step
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.jitter import half_life


def _read(*options: str) -> Path:
    parser = argparse.ArgumentParser()
    add_link_options(parser)
    return read_link_options(parser.parse_args(options))


def test_an_option_holds_for_both_directions() -> None:
    """`--delay` is one way and applies to both."""
    path = _read("--rate", "10mbit", "--delay", "50ms", "--loss", "1%")
    for direction in (path.up, path.down):
        assert direction.rate == Bitrate(10_000_000)
        assert direction.delay == Duration(50_000_000)
        assert direction.loss == Bernoulli(Share(0.01))
        assert direction.edge == Bitrate(1_000_000_000)


def test_one_direction_overrides() -> None:
    """`--up-…` and `--down-…` are stronger."""
    path = _read(
        "--rate", "10mbit", "--delay", "50ms", "--down-delay", "10ms", "--up-loss", "2%", "--queue", "100 packets"
    )
    assert path.base_rtt == Duration(60_000_000)
    assert path.down.loss is None
    assert path.up.queue.packets == 100


def test_jitter_may_say_its_half_life() -> None:
    """Behind a slash; four times the scale without."""
    path = _read("--up-jitter", "5ms/30ms", "--down-jitter", "5ms")
    assert path.up.jitter is not None
    assert path.down.jitter is not None
    assert half_life(path.up.jitter) == Duration(30_000_000)
    assert half_life(path.down.jitter) == Duration(20_000_000)
    with pytest.raises(SpecError) as caught:
        _read("--jitter", "5ms/0ms")
    assert "--jitter: a half-life of 0 ns is too short" in caught.value.problems[0]


def test_nothing_asked_is_an_open_link() -> None:
    """No rate, no delay, no loss."""
    path = _read()
    assert path.up.rate is None
    assert path.base_rtt == Duration(0)


def test_every_wrong_option_at_once() -> None:
    """Each is named as it was typed."""
    with pytest.raises(SpecError) as caught:
        _read("--rate=-3mbit", "--down-loss", "120%", "--jitter", "fast", "--mtu", "big", "--seed", "1.5")
    assert {problem.partition(":")[0] for problem in caught.value.problems} == {
        "--rate",
        "--down-loss",
        "--jitter",
        "--mtu",
        "--seed",
    }


@pytest.mark.parametrize(
    "options", [("--mtu", "100"), ("--seed=-1",), ("--seed", str(2**64)), ("--queue", "9 packets")]
)
def test_out_of_range(options: tuple[str, ...]) -> None:
    """Whole numbers have bounds, and a queue needs a rate."""
    with pytest.raises(SpecError) as caught:
        _read(*options)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [options[0].partition("=")[0]]


def test_a_trace_in_place_of_a_rate(tmp_path: pathlib.Path) -> None:
    """A file name is taken from where the command is typed."""
    trace = tmp_path / "trace"
    trace.write_text("1\n2\n3\n")
    path = _read("--down-trace", str(trace), "--up-rate", "1mbit")
    assert path.down.trace == str(trace)
    assert path.up.rate == Bitrate(1_000_000)


def test_a_profile_is_where_a_link_begins() -> None:
    """Options override it, also for one direction."""
    path = _read("--profile", "lte", "--up-rate", "1mbit", "--loss", "1%")
    assert (path.up.rate, path.down.rate) == (Bitrate(1_000_000), Bitrate(29_500_000))
    assert path.down.loss == Bernoulli(Share(0.01))
    assert path.base_rtt == Duration(21_000_000)


def test_what_an_operator_does() -> None:
    """Each as one text."""
    path = _read(
        *("--rate", "10mbit", "--aqm", "fq_codel ecn", "--up-block", "udp 5s"),
        *("--down-police", "tcp 1mbit 30kB", "--down-aqm", "step", "--up-oversize", "1300B 4% 2s"),
    )
    assert path.up.aqm == FqCoDel(ecn=True)
    assert _read("--rate", "9mbit", "--slot", "5ms 10ms 64").up.slot == Slot(Duration(5 * 10**6), Duration(10**7), 64)
    assert path.down.aqm == Step()
    assert path.up.block == Block("udp", Duration(5 * 10**9))
    assert path.down.block is None
    assert path.down.police == Police("tcp", Bitrate(1_000_000), ByteCount(30_000))
    assert path.up.oversize == Oversize(ByteCount(1300), Share(0.04), Duration(2 * 10**9))


@pytest.mark.parametrize(
    "options",
    [
        ("--profile", "ltee"),
        ("--aqm", "codel"),
        ("--block", "quic"),
        ("--block", "udp 5s now"),
        ("--police", "udp 1mbit"),
        ("--oversize", "20B"),
        ("--police", "udp 1mbit 30kB 1s 2s"),
    ],
)
def test_what_cannot_be_is_told_by_its_option(options: tuple[str, ...]) -> None:
    """A managed queue needs a rate, a policer its burst."""
    with pytest.raises(SpecError) as caught:
        _read(*options)
    assert all(problem.startswith(options[0]) for problem in caught.value.problems)
