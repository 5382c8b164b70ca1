# SPDX-License-Identifier: Apache-2.0
"""Options of `quiclab exec` in the words of the spec."""

from __future__ import annotations

import argparse
import pathlib

import pytest

from quiclab.cli.link_options import (
    ONLY_IN_A_FILE,
    add_change_options,
    add_link_options,
    given_settings,
    problems_beside_path,
    read_link_options,
)
from quiclab.model.errors import SpecError
from quiclab.model.nat import Nat
from quiclab.model.network import Oversize, Slot
from quiclab.model.study import (
    Bernoulli,
    Block,
    Bursts,
    CoDel,
    DropList,
    FqCoDel,
    GilbertElliott,
    Jitter,
    Path,
    Police,
    RandomRate,
    Reorder,
    Step,
)
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.directions import DIRECTION_KEYS
from quiclab.spec.impairments import CHANGE_KEYS
from quiclab.spec.jitter import half_life

MS = 10**6


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
    assert _read("--oversize", "1300B icmp 4%").up.oversize == Oversize(ByteCount(1300), Share(0.04), too_big="icmp")


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


def test_every_key_of_a_direction_has_an_option_or_needs_a_file() -> None:
    """The command line can say all that a spec can of one direction, but for what takes tables in a list."""
    parser = argparse.ArgumentParser()
    add_link_options(parser)
    options = {action.dest for action in parser._actions}
    assert DIRECTION_KEYS.keys() - options == ONLY_IN_A_FILE
    for key in DIRECTION_KEYS.keys() - ONLY_IN_A_FILE:
        assert {f"up_{key}", f"down_{key}"} <= options


def test_losses_in_bursts_and_of_a_list() -> None:
    """The model's name comes first, then the values of its keys in their order."""
    path = _read("--up-loss", "bursts 2s 50ms", "--down-loss", "gilbert-elliott 1% 25 % 0% 50%")
    assert path.up.loss == Bursts(Duration(2000 * MS), Duration(50 * MS))
    assert path.down.loss == GilbertElliott(Share(0.01), Share(0.25), Share(0.0), Share(0.5))
    assert _read("--loss", "list 7 0").up.loss == DropList((7, 0))


def test_shapes_of_jitter() -> None:
    """Shape, scale and half-life, and the mode that lets packets overtake."""
    path = _read("--delay", "20ms", "--up-jitter", "uniform 5 ms/20ms", "--down-jitter", "pareto 5ms reorder")
    assert path.up.jitter == Jitter("uniform", Duration(5 * MS), half_life=Duration(20 * MS))
    assert path.down.jitter == Jitter("pareto", Duration(5 * MS), "reorder")


def test_what_had_only_a_key_in_a_spec() -> None:
    """Reordering, framing, access rate, place and key of losses, a random rate, times of a managed queue."""
    path = _read(
        *("--rate", "1mbit 10mbit 1s", "--reorder", "1% 5ms", "--overhead", "38B", "--edge", "2gbit"),
        *("--loss", "1%", "--loss-at", "exit", "--down-loss-by", "bytes", "--aqm", "codel ecn 2ms 50ms"),
    )
    assert path.up.rate == RandomRate(Bitrate(10**6), Bitrate(10**7), Duration(1000 * MS))
    assert path.up.reorder == Reorder(Share(0.01), Duration(5 * MS))
    assert (path.up.overhead, path.up.edge, path.up.loss_at) == (ByteCount(38), Bitrate(2 * 10**9), "exit")
    assert (path.up.loss_by, path.down.loss_by) == ("index", "bytes")
    assert path.up.aqm == CoDel(Duration(2 * MS), Duration(50 * MS), ecn=True)


@pytest.mark.parametrize(
    "options",
    [
        ("--loss", "bursts 2s"),
        ("--loss", "bursts 2s 50ms 0% 1% 7"),
        ("--down-jitter", "5ms 20ms"),
        ("--jitter", "gaussian 5ms"),
        ("--reorder", "1%"),
        ("--loss-at", "middle"),
        ("--rate", "10mbit 1mbit 1s"),
    ],
)
def test_a_wrong_table_is_told_by_its_option(options: tuple[str, ...]) -> None:
    """Too few values, too many, and values of another kind."""
    with pytest.raises(SpecError) as caught:
        _read(*options)
    told = {problem.partition(":")[0].partition("-distribution")[0] for problem in caught.value.problems}
    assert told == {options[0]}


def test_options_beside_a_path_of_a_file_contradict_it() -> None:
    """All of them are named; the seed is no part of a path."""
    parser = argparse.ArgumentParser()
    add_link_options(parser)
    told = problems_beside_path(parser.parse_args(["--up-loss-at", "exit", "--mtu", "1400", "--seed", "7"]))
    assert [problem.partition(":")[0] for problem in told] == ["--up-loss-at", "--mtu"]
    assert problems_beside_path(parser.parse_args(["--seed", "7"])) == []


def test_what_a_schedule_changes_has_an_option_of_link() -> None:
    """Effects that it can end say so, and values are read as those of `exec`."""
    parser = argparse.ArgumentParser()
    add_change_options(parser)
    options = {action.dest for action in parser._actions if not action.dest.startswith(("up_", "down_"))}
    assert options - {"help"} == CHANGE_KEYS.keys() - {"at"}
    given = given_settings(
        parser.parse_args(["--delay", "80ms", "--down-loss", "bursts 2s 50ms", "--up-jitter", "none"])
    )
    assert given == {
        "": {"delay": "80ms"},
        "up": {"jitter": "none"},
        "down": {"loss": {"model": "bursts", "mean_good": "2s", "mean_bad": "50ms"}},
    }


def test_a_nat_that_forgets() -> None:
    """The options are of the whole link, and a wrong time is told by its option."""
    assert _read("--nat-rebind", "2s", "--nat-timeout", "30s").nat == Nat(Duration(2000 * MS), Duration(30_000 * MS))
    with pytest.raises(SpecError) as caught:
        _read("--nat-rebind", "soon")
    assert caught.value.problems[0].startswith("--nat-rebind: ")
