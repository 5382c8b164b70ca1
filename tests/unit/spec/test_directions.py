# SPDX-License-Identifier: Apache-2.0
"""A link's two directions: keys for both, overrides for one, defaults, and what does not fit together."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
from specs import changed, only_problem, problems_of, study_of, with_path

from quiclab.model.study import Addresses, Bernoulli, Path
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.link import link_config
from quiclab.spec.resolved import resolved_json


def path_of(folder: pathlib.Path, lines: str) -> Path:
    """The small spec's path with more keys."""
    return study_of(folder, with_path(lines)).paths[0]


def test_keys_hold_for_both_directions(tmp_path: pathlib.Path) -> None:
    """Rate, delay and loss apply to each direction, so ACKs are lost too."""
    path = path_of(tmp_path, 'loss = "1 %"')
    assert path.up == path.down
    assert path.up.loss == Bernoulli(Share(0.01))
    assert path.base_rtt == Duration(20_000_000)


def test_a_direction_overrides_key_by_key(tmp_path: pathlib.Path) -> None:
    """What [path.up] does not name stays as it is for both."""
    path = path_of(tmp_path, 'loss = "1 %"\n[path.up]\nrate = "1 Mbit/s"\nloss = "0 %"\n')
    assert (path.up.rate, path.down.rate) == (Bitrate(10**6), Bitrate(10**7))
    assert (path.up.loss, path.down.loss) == (Bernoulli(Share(0.0)), Bernoulli(Share(0.01)))
    assert path.up.delay == path.down.delay


@pytest.mark.parametrize(
    ("lines", "edge"),
    [
        ("", Bitrate(10**9)),
        ('edge = "none"', None),
        ('edge = "100 Mbit/s"', Bitrate(10**8)),
        ('schedule = [{at = "1 s", rate = "1 Gbit/s"}]', Bitrate(10**10)),
    ],
)
def test_the_access_rate_is_at_least_ten_times_the_bottleneck(
    tmp_path: pathlib.Path, lines: str, edge: Bitrate | None
) -> None:
    """1 Gbit/s, or ten times the fastest rate; the spec may set it or take it away."""
    assert path_of(tmp_path, lines).down.edge == edge


def test_without_a_rate_there_is_no_access_rate(tmp_path: pathlib.Path) -> None:
    """Nothing is limited that the spec does not limit."""
    path = study_of(tmp_path, changed(('rate = "10 Mbit/s"\n', ""))).paths[0]
    assert (path.down.rate, path.down.edge) == (None, None)


def test_a_queue_without_a_rate_is_told(tmp_path: pathlib.Path) -> None:
    """It would never hold a packet."""
    text = changed(('rate = "10 Mbit/s"\n', 'queue = "64 KB"\n'))
    assert 'needs a "rate"' in only_problem(tmp_path, text)


def test_a_trace_is_found_beside_the_spec_and_stands_for_the_rate(tmp_path: pathlib.Path) -> None:
    """In a direction of its own it replaces the path's rate; the access rate follows its mean."""
    (tmp_path / "lte.trace").write_text("".join(f"{ms}\n" for ms in range(1, 101)))
    path = path_of(tmp_path, '[path.down]\ntrace = "lte.trace"')
    assert path.down.trace == str(tmp_path / "lte.trace")
    assert (path.down.rate, path.up.rate) == (None, Bitrate(10**7))
    assert path.down.edge == Bitrate(10**9)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('trace = "lte.trace"', '"trace" replaces "rate"'),
        ('[path.up]\ntrace = "lte.trace"\nrate = "1 Mbit/s"', '"trace" replaces "rate"'),
        ('[path.up]\ntrace = "bad.trace"', "line 2 is not a whole number"),
        (
            '[path.up]\ntrace = "lte.trace"\nschedule = [{at = "1 s", rate = "1 Mbit/s"}]',
            '"rate" cannot change where a "trace" gives it',
        ),
    ],
)
def test_a_trace_does_not_go_with_a_rate(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """Two rates in one place are one too many, and a broken trace is told with its line."""
    (tmp_path / "lte.trace").write_text("1\n2\n")
    (tmp_path / "bad.trace").write_text("1\nx\n")
    assert words in only_problem(tmp_path, with_path(lines))


def test_a_problem_of_both_directions_is_told_once(tmp_path: pathlib.Path) -> None:
    """The key stands in one line, so there is one thing to mend."""
    assert "no room" in only_problem(tmp_path, with_path('queue = "100 B"'))


def test_problems_of_a_direction_name_it(tmp_path: pathlib.Path) -> None:
    """`path[plain].up.rate` is not `path[plain].rate`."""
    problems = problems_of(tmp_path, with_path('[path.up]\nrate = "x"\n[path.down]\ndelay = 5'))
    assert "line 15: path[plain].up.rate:" in problems[0]
    assert "line 17: path[plain].down.delay:" in problems[1]


def test_a_queue_counts_ip_bytes_and_its_time_the_framing_too(tmp_path: pathlib.Path) -> None:
    """Framing takes time, and no room, as in the link."""
    assert path_of(tmp_path, 'queue = "1500 B"\noverhead = "38 B"').down.queue.bytes == ByteCount(1500)
    assert "1.5 KB" in only_problem(tmp_path, with_path('queue = "1499 B"\noverhead = "38 B"'))
    short = 'queue = "1.22 ms"\noverhead = "38 B"'
    assert "1.538 KB" in only_problem(tmp_path, with_path(short))
    assert path_of(tmp_path, 'queue = "1400 B"\nmtu = 1400').mtu == 1400


def config(folder: pathlib.Path, lines: str) -> dict[str, Any]:
    """The link's configuration of a path with these lines."""
    return link_config(study_of(folder, with_path(lines)).paths[0], 1)


def test_the_link_is_told_what_is_not_the_default(tmp_path: pathlib.Path) -> None:
    """Directions without such keys stay as short as they were."""
    lines = 'loss = "1 %"\nloss_by = "class"\n[path.down]\ndrop = {initial = [2], byte = [7]}\nspare = {packet = [0]}'
    both = config(tmp_path, lines)
    assert both["up"]["loss_by"] == both["down"]["loss_by"] == "class"
    assert both["down"]["drop"] == {"byte": [7], "initial": [2]}
    assert both["down"]["spare"] == {"packet": [0]}
    assert "drop" not in both["up"]
    assert not {"loss_by", "drop", "spare"} & set(config(tmp_path, 'loss = "1 %"')["up"])


def test_every_kind_of_address_has_a_key(tmp_path: pathlib.Path) -> None:
    """They reach the link and resolved.json under the same name."""
    kinds = [field.name for field in dataclasses.fields(Addresses)]
    drop = ", ".join(f"{kind} = [{number}]" for number, kind in enumerate(kinds, 1))
    study = study_of(tmp_path, with_path(f"drop = {{{drop}}}"))
    expected = {kind: [number] for number, kind in enumerate(kinds, 1)}
    assert link_config(study.paths[0], 1)["up"]["drop"] == expected
    assert resolved_json(study)["paths"][0]["up"]["drop"] == expected
    assert str(study.paths[0].up.drop) == ", ".join(f"{kind} {number}" for number, kind in enumerate(kinds, 1))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('loss = "1 %"\nloss_by = "packet"', '"packet" is not known here; did you mean "super-packet"?'),
        ('loss_by = "class"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('loss = [1]\nloss_by = "bytes"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('[path.up]\nloss_by = "class"\n[path.down]\nloss = "1 %"', "up.loss_by: no loss is drawn by chance up;"),
        ("spare = {syn = [1]}", "nothing is lost that could be spared"),
        ("drop = {}", "no packet is addressed; write one of packet, large, byte,"),
        ("drop = {initials = [1]}", 'there is no such key here; did you mean "initial"?'),
        ("drop = {initial = [0]}", "0 is out of range; write a whole number from 1 to"),
        ("drop = {initial = []}", "the array has 0 elements; write an array of numbers from 1"),
        ("drop = {initial = 1}", "1 is a whole number; write an array of numbers from 1"),
        ("drop = {byte = [5, 5]}", "byte 5 is addressed twice; write it once"),
        ("drop = 3", "3 is a whole number; write a table"),
        (
            'loss = "1 %"\nspare = {large = [2]}\n[path.down]\ndrop = {large = [2]}',
            "down.drop: large 2 is to be dropped and to be spared down; choose one",
        ),
    ],
)
def test_nonsense_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """In one line that names the place."""
    (problem,) = problems_of(tmp_path, with_path(lines))
    assert words in problem


@pytest.mark.parametrize(
    "lines",
    [
        'loss = "1 %"',
        'jitter = {distribution = "normal", scale = "5 ms", mode = "reorder"}',
        'reorder = {probability = "1 %", extra_delay = "5 ms"}',
        'duplicate = "1 %"',
    ],
)
def test_super_packets_share_each_draw(lines: str, tmp_path: pathlib.Path) -> None:
    """Linux's netem draws jitter, reordering and duplication for a whole buffer too."""
    assert config(tmp_path, f'{lines}\nloss_by = "super-packet"')["down"]["loss_by"] == "super-packet"


def test_a_key_for_both_directions_needs_one_that_loses(tmp_path: pathlib.Path) -> None:
    """A path says once how its losses are drawn, though only one direction has any, or gets them later."""
    for lines in (
        'loss_by = "class"\n[path.down]\nloss = "1 %"',
        'loss_by = "class"\nschedule = [{at = "1 s", loss = "1 %"}]',
    ):
        assert config(tmp_path, lines)["down"]["loss_by"] == "class"
