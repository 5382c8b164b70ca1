# SPDX-License-Identifier: Apache-2.0
"""Accounts of trials whose truth is found by hand: timeouts, a client without a processor, a small send buffer."""

from __future__ import annotations

from pathlib import Path

import pytest
from account_facts import facts
from account_truth import by_why, idle_with, silences, timeouts_counted, trials_of
from small_study import quiclab

from quiclab.compare.study_tables import OpenedStudy
from quiclab.store.layout import StudyDir
from quiclab.study.tables import make_tables
from quiclab.why.account import UNIONS, Why

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_HEAD = """\
[study]
name = "truth"
seed = 50
blocks = {blocks}
aa = {{ blocks = 0 }}

[limits]
disturbance = "100 %"
trial = "200 s"

[[workload]]
name = "object"
size = "{size}"

[[path]]
name = "path"
{path}
"""
_TIMEOUTS = 'rate = "10 Mbit/s"\ndelay = "0.2 ms"\nqueue = "1000 packets"\nloss = "12 %"'
_H2 = """
[[arm]]
name = "h2"
protocol = "h2"
client = "{client}"
server = "{server}"
tcp = {{ congestion_control = "reno", client_congestion_control = "cubic" }}
"""
_H3 = """
[[arm]]
name = "{name}"
protocol = "h3"
client = {client}
server = "{server}"
"""


def run(folder: Path, arms: str, path: str, size: str, blocks: int = 1) -> Path:
    """A study of these arms, run as a user runs it."""
    spec = folder / "spec.toml"
    spec.write_text(_HEAD.format(path=path, size=size, blocks=blocks) + arms)
    ran = quiclab("run", spec, "--out", folder / "study", "--no-report", timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    make_tables(StudyDir(folder / "study"))
    return folder / "study"


def _timeouts_are_the_packets(study: Path) -> None:
    """What the account calls waiting for the loss timer is the silence that the packets show, and the kernel counts."""
    for trial in trials_of(study)["h2"]:
        found = by_why(study, trial)
        # Of 200 ms and more; an acknowledgment that moves nothing may have come meanwhile.
        by_hand = list(silences(study, trial, least_ms=150))
        said = found.get("loss_timer", 0.0)
        assert len(by_hand) == pytest.approx(timeouts_counted(study, trial), abs=2), trial
        # A timeout of the set-up has a label of its own, and may be the client's. What is shorter than 150 ms is no
        # silence by hand: the ends of waits on a busy machine, a tenth of a timeout at most.
        assert said <= 1.02 * sum(by_hand) + 20, (trial, found, by_hand)
        assert said + found.get("set_up_loss", 0.0) >= 0.98 * sum(by_hand) - 5, (trial, found, by_hand)
    told = facts(study)
    assert told.holds, "\n".join(told.lines())


def test_timeouts_take_the_time_that_the_packets_show(tmp_path: Path) -> None:
    """12 % of the packets are lost on a path without a round trip to speak of: some timeouts of 200 ms and more."""
    arms = _H2.format(client="curl-cffi", server="caddy") + _H3.format(name="h3", client='"curl-cffi"', server="caddy")
    study = run(tmp_path, arms, _TIMEOUTS, "300 KB")
    _timeouts_are_the_packets(study)


@pytest.mark.nightly
def test_two_megabytes_of_timeouts(tmp_path: Path) -> None:
    """As experiments/liu-multi has them over HTTP/2 straight from nginx: most of the time."""
    arms = _H2.format(client="curl", server="nginx") + _H3.format(name="h3", client='"curl"', server="quic-go")
    study = run(tmp_path, arms, _TIMEOUTS, "2 MB", blocks=2)
    _timeouts_are_the_packets(study)
    for trial in trials_of(study)["h2"]:
        found = by_why(study, trial)
        assert found["loss_timer"] > 0.5 * sum(found.values())
        assert timeouts_counted(study, trial) >= 10


@pytest.mark.nightly
def test_a_client_without_a_processor_is_what_a_slow_transfer_waits_for(tmp_path: Path) -> None:
    """2 % of a core: QUIC's client acknowledges late; a whole core of the same client does not."""
    arms = _H3.format(name="whole", client='"quic-go"', server="quic-go") + _H3.format(
        name="slow", client='{ name = "quic-go", cpu = "2 %" }', server="quic-go"
    )
    arms += _H2.format(client="quic-go", server="quic-go")
    study = run(tmp_path, arms, 'rate = "50 Mbit/s"\ndelay = "18 ms"\nqueue = "1 bdp"', "5 MB")
    trials = trials_of(study)
    (whole,), (slow,) = ([by_why(study, trial) for trial in trials[arm]] for arm in ("whole", "slow"))
    assert sum(slow.values()) > 1.5 * sum(whole.values())
    assert slow["processor"] > max(100.0, 2 * whole.get("processor", 0.0))
    waits = OpenedStudy(study).trial_table("run_delays", trials["slow"][0])
    assert waits is not None
    counted_ms = waits.filter(role="client")["waited_ns"].sum() / 1e6
    assert slow["processor"] < counted_ms + waits.filter(role="server")["waited_ns"].sum() / 1e6


@pytest.mark.nightly
def test_a_small_send_buffer_makes_one_wait_for_acknowledgments(tmp_path: Path) -> None:
    """nginx has at most 64 KiB of a stream unacknowledged: a round trip for each, whatever window and credit allow."""
    arms = _H2.format(client="curl", server="nginx") + _H3.format(name="h3", client='"curl"', server="nginx")
    study = run(tmp_path, arms, 'rate = "100 Mbit/s"\ndelay = "50 ms"', "2 MB")
    (trial,) = trials_of(study)["h3"]
    by_hand = idle_with(study, trial, 65_536)
    assert by_hand > 0.8 * 31 * 100, "2 MB are 31 times 64 KiB, and each waits for a round trip"
    found = by_why(study, trial)
    waiting = sum(found.get(str(why), 0.0) for why in (Why.AWAITING_ACKS, *UNIONS[Why.AWAITING_ACKS]))
    # nginx keeps no log. Where it has no processor it answers late, and nothing shows that it does answer.
    assert 0.4 * by_hand < waiting < 1.2 * by_hand, (found, by_hand)
