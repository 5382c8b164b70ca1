# SPDX-License-Identifier: Apache-2.0
"""The estimate of a trial's time, against arithmetic by hand."""

from __future__ import annotations

import pathlib

import pytest
from specs import SMALL, changed, study_of

from quiclab.model.study import Study
from quiclab.plan.duration import OVERHEAD, expected_duration
from quiclab.plan.make import make_plan


def seconds(study: Study, arm: str = "h2") -> float:
    """The expected time of one trial, without the overhead."""
    row = next(row for row in make_plan(study) if row.arm == arm)
    return expected_duration(row, study).s - OVERHEAD.s


def test_a_large_object_takes_its_bytes_at_the_rate(tmp_path: pathlib.Path) -> None:
    """5 MB at 10 Mbit/s: 4.17 s with headers, three round trips, less than a tenth more for slow start."""
    expected = 5e6 * 8 / 1e7 * 1500 / 1440 + 3 * 0.02
    assert expected <= seconds(study_of(tmp_path, changed(('"100 KB"', '"5 MB"')))) < expected + 0.1


def test_quic_saves_a_round_trip(tmp_path: pathlib.Path) -> None:
    """Everything else is equal."""
    study = study_of(tmp_path)
    assert seconds(study, "h2") - seconds(study, "h3") == pytest.approx(0.02)


def test_an_empty_object_takes_the_round_trips(tmp_path: pathlib.Path) -> None:
    """TCP, TLS, request."""
    assert seconds(study_of(tmp_path, changed(('"100 KB"', '"0 B"')))) == pytest.approx(0.06)


def test_slow_start_counts_on_a_long_path(tmp_path: pathlib.Path) -> None:
    """500 KB at 1 s of round trip: 10 + 20 + 40 + 80 + 160 packets are not enough, so five round trips are added."""
    long = changed(('delay = "10 ms"', 'delay = "500 ms"'), ('"100 KB"', '"500 KB"'))
    wide = long.replace('"reno"}', '"reno", initial_window = 1000}')
    added = seconds(study_of(tmp_path, long)) - seconds(study_of(tmp_path, wide))
    sent_meanwhile = 310 * 1500 * 8 / 1e7
    assert added == pytest.approx(5 - sent_meanwhile)


def test_loss_limits_the_rate(tmp_path: pathlib.Path) -> None:
    """1440 bytes / 20 ms × sqrt(1.5 / 0.04) is 3.5 Mbit/s."""
    text = changed(('"100 KB"', '"5 MB"'), ('delay = "10 ms"', 'delay = "10 ms"\nloss = "4 %"'))
    assert seconds(study_of(tmp_path, text)) == pytest.approx(5e6 * 1500 / 1440 * 8 / 3.527e6, rel=0.03)


def test_a_path_without_limit_is_quick(tmp_path: pathlib.Path) -> None:
    """It is finite and positive, also with no delay at all."""
    text = SMALL.replace('rate = "10 Mbit/s"\ndelay = "10 ms"\n', "")
    assert 0 < seconds(study_of(tmp_path, text)) < 0.01


def test_a_trial_never_takes_longer_than_its_limit(tmp_path: pathlib.Path) -> None:
    """The laboratory stops it."""
    text = changed(('"100 KB"', '"5 GB"')) + '[limits]\ntrial = "7 s"\n'
    assert seconds(study_of(tmp_path, text)) == pytest.approx(7)


def test_all_bytes_of_several_objects_count(tmp_path: pathlib.Path) -> None:
    """Fifty at once take as long as one of their size together."""
    several = study_of(tmp_path, changed(('size = "100 KB"', 'size = "100 KB"\ncount = 50')))
    one = study_of(tmp_path, changed(('"100 KB"', '"5 MB"')))
    assert seconds(several) == pytest.approx(seconds(one))


def test_objects_that_wait_for_others_cost_round_trips(tmp_path: pathlib.Path) -> None:
    """Five by two are three rounds: two waits of a round trip (20 ms)."""
    lines = 'size = "100 KB"\ncount = 5'
    at_once = study_of(tmp_path, changed(('size = "100 KB"', lines)))
    by_two = study_of(tmp_path, changed(('size = "100 KB"', lines + "\nconcurrency = 2")))
    assert seconds(by_two) - seconds(at_once) == pytest.approx(0.04)


_PATIENT = 'protocol = "h3"\nclient = "curl-cffi"\nserver = {name = "quinn", packet_threshold = 99}'


def test_a_policer_limits_the_rate_of_its_transport(tmp_path: pathlib.Path) -> None:
    """QUIC is policed to a tenth of the rate; TCP is not."""
    police = 'police = {protocol = "udp", rate = "1 Mbit/s", burst = "30 KB"}'
    text = changed(('"100 KB"', '"5 MB"'), ('delay = "10 ms"', f'delay = "10 ms"\n{police}'))
    study = study_of(tmp_path, text)
    assert seconds(study, "h3") == pytest.approx(5e6 * 1500 / 1440 * 8 / 1e6, rel=0.01)
    assert seconds(study, "h2") == pytest.approx(5e6 * 1500 / 1440 * 8 / 1e7, rel=0.05)


@pytest.mark.parametrize(
    "lines",
    [
        'jitter = {distribution = "uniform", scale = "10 ms", mode = "reorder"}',
        'reorder = {probability = "5 %", extra_delay = "30 ms"}',
    ],
)
def test_quic_takes_packets_that_are_overtaken_for_lost(tmp_path: pathlib.Path, lines: str) -> None:
    """TCP, with DSACK and RACK, does not; a threshold that none is displaced by costs nothing either."""
    text = changed(('"100 KB"', '"5 MB"'), ('delay = "10 ms"', f'delay = "10 ms"\n{lines}'))
    study = study_of(tmp_path, text)
    assert seconds(study, "h3") > 2 * seconds(study, "h2")
    patient = text + 'tcp = {congestion_control = "reno"}\n'
    patient = patient.replace('protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"', _PATIENT)
    assert seconds(study_of(tmp_path, patient), "h3") < seconds(study, "h2")
