# SPDX-License-Identifier: Apache-2.0
"""Queue, jitter, loss, reordering and schedules as the spec writes them."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, problems_of, study_of, with_path

from quiclab.model.study import (
    Bernoulli,
    Bursts,
    Change,
    Direction,
    DropList,
    GilbertElliott,
    Jitter,
    Loss,
    Queue,
    Reorder,
)
from quiclab.model.units import Bitrate, ByteCount, Duration, Share


def down(folder: pathlib.Path, lines: str) -> Direction:
    """The direction to the client, with these keys in the path."""
    return study_of(folder, with_path(lines)).paths[0].down


@pytest.mark.parametrize(
    ("text", "queue"),
    [
        ('"1 bdp"', Queue(bdp=1.0)),
        ('"0.5bdp"', Queue(bdp=0.5)),
        ('"100 packets"', Queue(packets=100)),
        ('"1 packet"', Queue(packets=1)),
        ('"64 KB"', Queue(bytes=ByteCount(64_000))),
        ('"20 ms"', Queue(time=Duration(20_000_000))),
        ('["2 bdp", "100 packets", "64 KB", "20 ms"]', Queue(2.0, 100, ByteCount(64_000), Duration(20_000_000))),
        ('"unbounded"', Queue()),
    ],
)
def test_a_queue_has_bounds_of_four_units(tmp_path: pathlib.Path, text: str, queue: Queue) -> None:
    """One bound or several that hold at once; without a word it is one BDP."""
    assert down(tmp_path, f"queue = {text}").queue == queue
    assert down(tmp_path, "").queue == Queue(bdp=1.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"0 bdp"', "out of range"),
        ('"1.5 packets"', "out of range"),
        ('"-64 KB"', "out of range"),
        ('"0 ms"', "out of range"),
        ('"100 pakets"', '"100 packets"'),
        ('"64"', '"64 KB"'),
        ('["1 bdp", "2 bdp"]', "two bounds of the same unit"),
        ("[]", "0 elements"),
        ("100", "whole number"),
        ("[100]", "queue[#1]"),
        ('"1000 B"', "no room for one packet of 1.5 KB"),
        ('"1 ms"', "it takes 1.2 ms at 10 Mbit/s"),
    ],
)
def test_a_queue_that_is_none_is_refused(tmp_path: pathlib.Path, text: str, words: str) -> None:
    """Also one that no full packet could ever pass."""
    assert words in only_problem(tmp_path, with_path(f"queue = {text}"))


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ('"1 %"', Bernoulli(Share(0.01))),
        ('{model = "bernoulli", probability = "1 %"}', Bernoulli(Share(0.01))),
        (
            '{model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "20 %"}',
            GilbertElliott(Share(0.01), Share(0.2)),
        ),
        (
            '{model = "bursts", mean_good = "1 s", mean_bad = "20 ms", loss_bad = "50 %"}',
            Bursts(Duration(10**9), Duration(20_000_000), loss_bad=Share(0.5)),
        ),
        ("[7, 3, 7]", DropList((3, 7))),
        ('{model = "list", packets = [3]}', DropList((3,))),
    ],
)  # fmt: skip
def test_loss_has_four_models(tmp_path: pathlib.Path, text: str, loss: Loss) -> None:
    """A share alone is independent loss, an array is a list of packets in order."""
    assert down(tmp_path, f"loss = {text}").loss == loss


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"101 %"', "0 % and 100 %"),
        ("0.01", "is a number"),
        ("{}", "valid models: bernoulli"),
        ('{model = "burst"}', 'did you mean "bursts"?'),
        ('{model = "bursts", mean_good = "1 s"}', '"mean_bad" is missing'),
        ('{model = "bursts", mean_good = "1 s", mean_bad = "1 us"}', "from 10 us"),
        ('{model = "bernoulli", p = "1 %", probability = "1 %"}', 'no such key here'),
        ("[-1]", "loss[#1]"),
        ("[1.5]", "whole number"),
        ('{model = "list", packets = "3"}', "array of packet numbers"),
    ],
)  # fmt: skip
def test_a_wrong_loss_is_refused(tmp_path: pathlib.Path, text: str, words: str) -> None:
    """Each model has its own keys, ranges and required parts."""
    assert words in only_problem(tmp_path, with_path(f"loss = {text}"))


def test_jitter_and_reordering_are_tables(tmp_path: pathlib.Path) -> None:
    """In order unless it says otherwise."""
    lines = 'jitter = {distribution = "normal", scale = "5 ms"}\nreorder = {probability = "1 %", extra_delay = "5 ms"}'
    direction = down(tmp_path, lines)
    assert direction.jitter == Jitter("normal", Duration(5_000_000), "inorder", None)
    assert direction.reorder == Reorder(Share(0.01), Duration(5_000_000))


def test_a_half_life_needs_an_order(tmp_path: pathlib.Path) -> None:
    """Packets that are drawn by themselves have no memory."""
    jitter = 'jitter = {distribution = "normal", scale = "5 ms", mode = "reorder", half_life = "1 ms"}'
    assert '"half_life" belongs to mode "inorder"' in only_problem(tmp_path, with_path(jitter))


@pytest.mark.parametrize(
    ("distribution", "least"), [("uniform", 3.5), ("normal", 4.25), ("pareto", 11), ("paretonormal", 7)]
)
def test_jitter_in_order_cannot_vary_faster_than_time(tmp_path: pathlib.Path, distribution: str, least: float) -> None:
    """Independent draws in order would be another, longer delay: the shortest half-life is named."""
    table = f'jitter = {{distribution = "{distribution}", scale = "5 ms", half_life = "%s"}}'
    for text in ("0 ms", f"{least - 0.01} ms"):
        told = only_problem(tmp_path, with_path(table % text))
        assert "is too short" in told
        assert f"in less than {least:g} ms" in told
    jitter = down(tmp_path, table % f"{least} ms").jitter
    assert jitter is not None
    assert jitter.half_life == Duration(round(least * 1e6))


def test_a_schedule_is_sorted_by_time(tmp_path: pathlib.Path) -> None:
    """Changes may be written in any order; what they do not name stays."""
    schedule = 'schedule = [{at = "2 s", rate = "5 Mbit/s"}, {at = "1 s", loss = "0 %", delay = "1 ms"}]'
    assert down(tmp_path, schedule).schedule == (
        Change(Duration(10**9), loss=Bernoulli(Share(0.0)), delay=Duration(10**6)),
        Change(Duration(2 * 10**9), rate=Bitrate(5 * 10**6)),
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('{at = "1 s"}', "nothing changes here"),
        ('{rate = "1 Mbit/s"}', '"at" is missing'),
        ('{at = "1 s", mtu = 1400}', "no such key"),
        ('{at = "-1 s", rate = "1 Mbit/s"}', "out of range"),
        ('{at = "1 s", queue = "100 B"}', "no room for one packet"),
        ("7", "schedule[#1]"),
        ('{at = "1 s", rate = "1 Mbit/s"}, {at = "1000 ms", rate = "2 Mbit/s"}', '"rate" changes twice at 1 s'),
    ],
)
def test_a_wrong_change_is_refused(tmp_path: pathlib.Path, change: str, words: str) -> None:
    """A change has an instant and something that changes."""
    assert words in only_problem(tmp_path, with_path(f"schedule = [{change}]"))


def test_a_change_of_rate_counts_for_the_queue(tmp_path: pathlib.Path) -> None:
    """A queue that lets packets pass at the first rate may pass none at a later one."""
    lines = 'queue = "2 ms"\nschedule = [{at = "1 s", rate = "1 Mbit/s"}]'
    assert "it takes 12 ms at 1 Mbit/s" in only_problem(tmp_path, with_path(lines))


def test_every_element_of_an_array_is_told(tmp_path: pathlib.Path) -> None:
    """Two wrong bounds and two wrong changes are four problems, each with its own line."""
    lines = 'queue = ["x",\n  "y"]\nschedule = [\n  {at = "1"},\n  {at = "2"}]'
    problems = problems_of(tmp_path, with_path(lines))
    assert [problem.split(":")[0] for problem in problems] == ["line 14", "line 15", "line 17", "line 18"]
