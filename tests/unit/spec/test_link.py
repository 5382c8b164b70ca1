# SPDX-License-Identifier: Apache-2.0
"""A path as the emulator's configuration, key by key."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import pytest
from specs import changed, problems_of, study_of, with_path

from quiclab.model.study import Bernoulli, Change, Direction, Link, Path, Queue, RandomRate
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.link import busiest_rate, link_config, queue_bytes, reference_rate

RTT = Duration(20_000_000)


def down(folder: pathlib.Path, lines: str) -> dict[str, Any]:
    """The configuration of the direction to the client."""
    config: dict[str, Any] = link_config(study_of(folder, with_path(lines)).paths[0], 1)["down"]
    return config


def test_a_plain_path_in_full(tmp_path: pathlib.Path) -> None:
    """Whole numbers with units in their names; what is not asked for is null."""
    assert link_config(study_of(tmp_path).paths[0], 2**64 - 1)["down"] == {
        "rate_bit_per_s": 10_000_000,
        "edge_rate_bit_per_s": 1_000_000_000,
        "overhead_bytes": 0,
        "queue": {"bytes": 48_000, "packets": None, "time_ns": None},
        "delay_ns": 10_000_000,
        "jitter": None,
        "loss": None,
        "loss_at": "entry",
        "reorder": None,
        "duplicate": None,
        "corrupt": None,
        "schedule": [],
        "trace": None,
    }


def test_the_seed_is_text_so_that_no_reader_rounds_it(tmp_path: pathlib.Path) -> None:
    """64 bits do not fit a double."""
    config = link_config(study_of(tmp_path).paths[0], 2**64 - 1)
    assert config["seed"] == "18446744073709551615"
    assert json.loads(json.dumps(config)) == config


@pytest.mark.parametrize(
    ("queue", "rate", "rtt_ms", "mtu", "overhead", "expected"),
    [
        (Queue(bdp=1.0), 10**7, 20, 1500, 0, 48_000),
        (Queue(bdp=1.0), 10**7, 120, 1500, 0, 150_000),
        (Queue(bdp=2.0), 10**7, 120, 1500, 0, 300_000),
        (Queue(bdp=0.5), 10**7, 120, 1500, 0, 75_000),
        (Queue(bdp=1.0), 10**7, 20, 1400, 0, 44_800),
        (Queue(bdp=1.0), 10**7, 20, 1500, 38, 48_000),
        (Queue(bdp=1.0, bytes=ByteCount(10_000)), 10**7, 20, 1500, 0, 10_000),
        (Queue(bytes=ByteCount(10_000)), 10**7, 20, 1500, 0, 10_000),
        (Queue(packets=5), 10**7, 20, 1500, 0, None),
        (Queue(bdp=1.0), None, 20, 1500, 0, None),
    ],
)
def test_a_bdp_is_bytes_and_never_below_32_full_packets(
    queue: Queue, rate: int | None, rtt_ms: int, mtu: int, overhead: int, expected: int | None
) -> None:
    """10 Mbit/s × 120 ms is 150,000 bytes; × 20 ms is below 32 × 1500."""
    direction = Direction(rate=None if rate is None else Bitrate(rate), queue=queue, overhead=ByteCount(overhead))
    assert queue_bytes(direction, Duration(rtt_ms * 10**6), mtu) == expected


def test_every_managed_queue_has_its_form(tmp_path: pathlib.Path) -> None:
    """Each as the emulator reads it, with the defaults of RFC 8289 and RFC 8290 filled in."""
    codel = {"target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": False}
    assert down(tmp_path, 'aqm = "codel"')["aqm"] == {"model": "codel", **codel}
    fair = {"quantum_bytes": 1514, "flows": 1024}
    assert down(tmp_path, 'aqm = "fq_codel"')["aqm"] == {"model": "fq_codel", **codel, **fair}
    assert down(tmp_path, 'aqm = "step"')["aqm"] == {"model": "step", "threshold_ns": 1_000_000}


def test_every_effect_has_its_form(tmp_path: pathlib.Path) -> None:
    """Each as the emulator reads it."""
    config = down(
        tmp_path,
        'queue = ["100 packets", "20 ms"]\nloss_at = "exit"\nduplicate = "1 %"\ncorrupt = "2 %"\noverhead = "38 B"\n'
        'jitter = {distribution = "pareto", scale = "1 ms", half_life = "5 ms"}\n'
        'reorder = {probability = "3 %", extra_delay = "4 ms"}\n',
    )
    assert config["queue"] == {"bytes": None, "packets": 100, "time_ns": 20_000_000}
    assert config["loss_at"] == "exit"
    assert (config["duplicate"], config["corrupt"]) == ({"probability": 0.01}, {"probability": 0.02})
    assert config["overhead_bytes"] == 38
    jitter = {"distribution": "pareto", "scale_ns": 1_000_000, "mode": "inorder", "half_life_ns": 5_000_000}
    assert config["jitter"] == jitter
    usual = down(tmp_path, 'jitter = {distribution = "normal", scale = "5 ms"}')
    assert usual["jitter"]["half_life_ns"] == 20_000_000
    alone = down(tmp_path, 'jitter = {distribution = "normal", scale = "5 ms", mode = "reorder"}')
    assert alone["jitter"]["half_life_ns"] == 0
    assert config["reorder"] == {"probability": 0.03, "extra_delay_ns": 4_000_000}


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ('"1 %"', {"model": "bernoulli", "probability": 0.01}),
        (
            '{model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "20 %", loss_good = "0.1 %"}',
            {"model": "gilbert_elliott", "p": 0.01, "r": 0.2, "loss_good": 0.001, "loss_bad": 1.0},
        ),
        (
            '{model = "bursts", mean_good = "1 s", mean_bad = "20 ms"}',
            {
                "model": "gilbert_elliott_time",
                "mean_good_ns": 10**9,
                "mean_bad_ns": 20_000_000,
                "loss_good": 0.0,
                "loss_bad": 1.0,
            },
        ),
        ("[9, 4]", {"model": "list", "indices": [4, 9]}),
    ],
)
def test_loss_models_have_the_emulators_names(tmp_path: pathlib.Path, loss: str, expected: dict[str, Any]) -> None:
    """Probabilities are proportions there."""
    assert down(tmp_path, f"loss = {loss}")["loss"] == expected


def test_a_change_sets_only_what_it_names(tmp_path: pathlib.Path) -> None:
    """A queue in BDP counts with the rate of the same change."""
    schedule = down(
        tmp_path,
        'schedule = [{at = "1 s", rate = "100 Mbit/s", queue = "1 bdp"}, '
        '{at = "2 s", loss = "0 %", duplicate = "0 %"}]',
    )["schedule"]
    assert schedule == [
        {
            "at_ns": 10**9,
            "set": {"rate_bit_per_s": 10**8, "queue": {"bytes": 250_000, "packets": None, "time_ns": None}},
        },
        {
            "at_ns": 2 * 10**9,
            "set": {"loss": {"model": "bernoulli", "probability": 0.0}, "duplicate": {"probability": 0.0}},
        },
    ]


def test_every_setting_that_can_change_reaches_the_emulator(tmp_path: pathlib.Path) -> None:
    """None is forgotten on the way."""
    (change,) = down(
        tmp_path,
        'schedule = [{at = "1 s", rate = "1 Mbit/s", delay = "1 ms", loss = [1], queue = "64 KB", corrupt = "1 %", '
        'duplicate = "1 %", reorder = {probability = "1 %", extra_delay = "1 ms"}, '
        'jitter = {distribution = "uniform", scale = "1 ms"}}]',
    )["schedule"]
    names = {"rate_bit_per_s", "delay_ns", "loss", "queue", "jitter", "reorder", "duplicate", "corrupt"}
    assert set(change["set"]) == names


def test_a_trace_replaces_the_rate(tmp_path: pathlib.Path) -> None:
    """Its mean is what a BDP is counted with."""
    (tmp_path / "lte.trace").write_text("1\n")
    text = changed(('rate = "10 Mbit/s"', 'trace = "lte.trace"'), ('"10 ms"', '"50 ms"'))
    path = study_of(tmp_path, text).paths[0]
    config = link_config(path, 1)["up"]
    assert config["rate_bit_per_s"] is None
    assert config["trace"] == {"format": "mahimahi", "path": str(tmp_path / "lte.trace"), "repeat": True}
    assert config["queue"]["bytes"] == 150_000
    assert reference_rate(path.up) == Bitrate(12_000_000)


def test_the_reference_rate_may_come_from_the_schedule() -> None:
    """A path that starts without a limit and gets one later."""
    later = Direction(schedule=(Change(RTT, loss=Bernoulli(Share(0.1))), Change(RTT, rate=Bitrate(7))))
    assert reference_rate(later) == Bitrate(7)
    assert reference_rate(Direction()) is None


def test_directions_are_told_apart(tmp_path: pathlib.Path) -> None:
    """Up is up."""
    config = link_config(study_of(tmp_path, with_path('[path.up]\nrate = "1 Mbit/s"')).paths[0], 1)
    assert (config["up"]["rate_bit_per_s"], config["down"]["rate_bit_per_s"]) == (10**6, 10**7)


def test_what_a_change_sets_another_one_ends(tmp_path: pathlib.Path) -> None:
    """A change sets them, "none" ends them."""
    changes = down(
        tmp_path,
        'schedule = [{at = "1 s", aqm = "step", block = {protocol = "udp"}, '
        'police = {protocol = "tcp", rate = "1 Mbit/s", burst = "10 KB"}}, '
        '{at = "2 s", aqm = "none", block = "none", police = "none", jitter = "none", reorder = "none"}]',
    )["schedule"]
    police = {"protocol": "tcp", "rate_bit_per_s": 10**6, "burst_bytes": 10_000, "after_ns": 0}
    assert changes[0]["set"] == {
        "aqm": {"model": "step", "threshold_ns": 10**6},
        "block": {"protocol": "udp", "after_ns": 0},
        "police": police,
    }
    assert changes[1]["set"] == dict.fromkeys(("aqm", "block", "police", "jitter", "reorder"))
    (ended,) = down(tmp_path, 'schedule = [{at = "1 s", rate = "none", loss = "none"}]')["schedule"]
    assert ended["set"] == {"rate_bit_per_s": None, "loss": None}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('schedule = [{at = "1 s", aqm = "fq_codel"}]', "cannot come or go"),
        ('aqm = "fq_codel"\nschedule = [{at = "1 s", aqm = "none"}]', "cannot come or go"),
        ('aqm = "fq_codel"\nschedule = [{at = "1 s", aqm = {model = "fq_codel", flows = 5}}]', "cannot come or go"),
        ('queue = "20 ms"\nschedule = [{at = "1 s", aqm = "codel"}]', "no bound in time"),
        ('schedule = [{at = "1 s", block = {protocol = "udp", after = "1 s"}}]', 'leave "after" out'),
        (
            'schedule = [{at = "1 s", police = {protocol = "udp", rate = "1 Mbit/s", burst = "1 KB"}}]',
            "no room for one packet",
        ),
    ],
)
def test_a_change_that_cannot_be_is_refused(tmp_path: pathlib.Path, lines: str, says: str) -> None:
    """With what is wrong."""
    assert says in problems_of(tmp_path, with_path(lines))[0]


def test_the_target_of_queues_by_flow_may_change(tmp_path: pathlib.Path) -> None:
    """Their number and turns stay."""
    lines = 'aqm = "fq_codel"\nschedule = [{at = "1 s", aqm = {model = "fq_codel", target = "20 ms"}}]'
    assert down(tmp_path, lines)["schedule"][0]["set"]["aqm"]["target_ns"] == 20_000_000


SLOW, FAST, FASTEST = Direction(rate=Bitrate(10)), Direction(rate=Bitrate(20)), Direction(rate=Bitrate(50))
LATER_FASTER = Direction(rate=Bitrate(10), schedule=(Change(Duration(1), rate=Bitrate(30)),))


@pytest.mark.parametrize(
    ("up", "down", "expected"),
    [
        (Direction(), Direction(), None),
        (Direction(edge=Bitrate(9)), Direction(), None),
        (SLOW, FAST, 20),
        (Direction(), SLOW, 10),
        (LATER_FASTER, FAST, 30),
        (SLOW, dataclasses.replace(FASTEST, edge=Bitrate(40)), 40),
        (SLOW, Direction(rate=Bitrate(20), burst=ByteCount(1), peak_rate=Bitrate(60)), 60),
        (SLOW, Direction(rate=Bitrate(20), burst=ByteCount(1), edge=Bitrate(80)), 80),
        (SLOW, Direction(rate=Bitrate(20), schedule=(Change(Duration(1), rate="none"),), edge=Bitrate(90)), 90),
        (SLOW, Direction(rate=RandomRate(Bitrate(5), Bitrate(70), Duration(1))), 70),
    ],
)
def test_the_busiest_rate_is_what_data_may_reach(up: Direction, down: Direction, expected: int | None) -> None:
    """Of the faster direction; one without a rate is for acknowledgements."""
    rate = busiest_rate(Path("path", up=up, down=down))
    assert (None if rate is None else rate.bit_per_s) == expected


def test_the_narrowest_link_decides_how_busy_a_path_is() -> None:
    """Data passes them all."""
    path = Path("path", up=FAST, down=FASTEST, more_links=(Link("second", up=FASTEST, down=SLOW),))
    assert busiest_rate(path) == Bitrate(20)
