# SPDX-License-Identifier: Apache-2.0
"""Causes that a confirming run takes, and the settings that it tests them by."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from planned_confirmation import SPEC, plan, write

from quiclab.model.errors import SpecError
from quiclab.model.tables import TABLES
from quiclab.report.words.confirmation import setting
from quiclab.spec.read import read_study
from quiclab.study.confirm.plan import Asked
from quiclab.study.confirm.together import beside
from quiclab.why.confirm.declaration import declared_from


def test_a_loss_of_the_path_takes_a_second_path(tmp_path: Path) -> None:
    """A path is changed if the arm's programs have no setting: nginx' QUIC has one congestion control."""
    times = {"h3": {"": 800.0, "loss_on_the_path": 900.0}, "h2": {"": 800.0, "loss_on_the_path": 300.0}}
    made = plan(write(tmp_path / "s", times, path='loss = "1 %"'))
    declared = made.declared
    assert (declared.cause, declared.arm, declared.table) == ("loss_on_the_path", "h3", "path")
    assert declared.is_of_path
    assert declared.places["without"].cell == "1MB/p-without"
    assert {declared.places[role].cell for role in ("replay", "sham", "fast")} == {"1MB/p"}
    other = declared.places["fast-without"]
    assert (other.cell, other.arm) == ("1MB/p-without", "fast")
    assert declared.sham.startswith("the same arm under another name")


@pytest.mark.parametrize(
    ("queue", "doses"),
    [("", ("0.5 bdp", "2 bdp")), ('queue = "100 ms"', ("1 bdp", "2 bdp")), ('queue = "3 bdp"', ("1 bdp", "2 bdp"))],
)
def test_a_dose_that_the_path_has_already_is_none(queue: str, doses: tuple[str, ...], tmp_path: Path) -> None:
    """Without its key a path's queue is 1 bdp."""
    times = {"h3": {"": 800.0, "overshoot": 900.0}, "h2": {"": 800.0, "overshoot": 300.0}}
    declared = plan(write(tmp_path / "s", times, path=queue)).declared
    assert (declared.table, declared.key, declared.value, declared.doses) == ("path", "queue", "4 bdp", doses)


def test_a_knob_that_both_protocols_have_is_given_to_the_other_arm(tmp_path: Path) -> None:
    times = {"h2": {"": 800.0, "slow_start": 400.0}, "h3": {"": 800.0, "slow_start": 100.0}}
    programs = {"h3": '{name = "quiche", initial_window = 32}', "client": '"quiche"'}
    made = plan(write(tmp_path / "s", times, **programs))
    declared = made.declared
    assert (declared.arm, declared.table, declared.key) == ("h2", "tcp", "initial_window")
    assert declared.sham.startswith("initial_window set to 10, ")
    assert "with" in declared.places
    study_file = tmp_path / "derived.toml"
    study_file.write_text(made.spec)
    given = next(arm for arm in read_study(study_file).arms if arm.name == "with")
    assert given.server.knobs.initial_window == 10
    assert made.own_words == ("Linux: ip route change … initcwnd 32",)
    # The first setting is of QUIC's sender: TCP's kernel has it elsewhere, and so the plan says.
    assert any("sender.initial_window" in each for each in made.not_possible)


def test_a_value_that_both_arms_have_is_not_what_makes_them_differ(tmp_path: Path) -> None:
    """Slow start takes longer in one of them for another reason, which is put to the test in its place."""
    times = {"h2": {"": 800.0, "slow_start": 400.0}, "h3": {"": 800.0, "slow_start": 100.0}}
    programs = {"h3": '{name = "quiche", initial_window = 10}', "client": '"quiche"'}
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "s", times, **programs))
    assert "h3 has initial_window = 10 too, so that it is not what makes the arms differ" in error.value.problems[0]


def test_what_the_pairs_do_not_show_is_only_put_to_the_test_if_asked_for(tmp_path: Path) -> None:
    """Three blocks are the least that predict something, and six that show it."""
    with pytest.raises(SpecError, match="its 4 pairs show none, and 6 are the least") as error:
        plan(write(tmp_path / "s", blocks=4))
    assert "--cause send_buffer_limited" in error.value.hint
    assert plan(tmp_path / "s", "send_buffer_limited").declared.predicted.blocks == 4


def test_no_cause_of_the_faster_arm_is_put_to_the_test(tmp_path: Path) -> None:
    """It is left out however large it is: slow start costs h2 time, and h3 takes longer all the same."""
    times = {
        "h2": {"": 800.0, "slow_start": 400.0},
        "h3": {"": 800.0, "slow_start": 100.0, "stream_flow_control_limited": 700.0, "pacing": 90.0},
    }
    study = write(tmp_path / "s", times)
    with pytest.raises(SpecError) as error:  # neither curl nor nginx has a knob for the others
        plan(study)
    assert "slow_start: costs h2 time, which is the faster arm" in error.value.problems
    assert any(each.startswith("stream_flow_control_limited: receiver.stream_window") for each in error.value.problems)
    assert plan(study, "slow_start").declared.arm == "h2"


def test_arms_that_are_made_equal_come_first(tmp_path: Path) -> None:
    """h2 begins with ten packets, and Caddy's QUIC with 32, by what it declares of itself. What h2 has more of slow
    start is to go, not all of it."""
    times = {"h2": {"": 800.0, "slow_start": 400.0}, "h3": {"": 800.0, "slow_start": 100.0}}
    made = plan(write(tmp_path / "s", times, h3='"caddy"'))
    declared = made.declared
    assert (declared.table, declared.key, declared.value, declared.equal) == ("tcp", "initial_window", 32, True)
    assert (declared.predicted.ms, declared.doses, declared.beyond_ms) == (300.0, (), 0.0)
    assert declared_from(json.loads(json.dumps(declared.document()))) == declared
    # The window of 10 cannot be given to Caddy, which is said.
    assert declared.left_out[0].startswith("with: the server caddy has no initial_window")


def test_one_name_is_not_one_congestion_control_in_two_programs(tmp_path: Path) -> None:
    """Linux's reno leaves half of a window, that of Caddy's QUIC 70 %: neither makes the arms equal."""
    times = {"h2": {"": 800.0, "loss_on_the_path": 900.0}, "h3": {"": 800.0, "loss_on_the_path": 300.0}}
    declared = plan(write(tmp_path / "s", times, h3='"caddy"', path='loss = "1 %"')).declared
    assert (declared.table, declared.key, declared.value, declared.equal) == ("tcp", "congestion_control", "bbr", False)
    assert "with" not in declared.places
    assert "is not the same in another program" in declared.left_out[0]


def test_what_the_other_transport_cannot_have_is_not_given_to_it(tmp_path: Path) -> None:
    """Both arms have the long chain, and only QUIC has a limit for it."""
    times = {"h2": {"": 800.0}, "h3": {"": 800.0, "amplification_limit": 90.0}}
    chain = "certificate = {{intermediates = 5}}\n"
    spec = SPEC.replace("initial_window = 10}}\n", "initial_window = 10}}\n" + chain) + chain
    declared = plan(write(tmp_path / "s", times, spec=spec)).declared
    assert (declared.table, declared.key, declared.value) == ("certificate", "intermediates", 0)
    assert "with" not in declared.places
    assert not declared.applicable
    assert declared.left_out == ("with (not applicable): TCP cannot have it",)


def test_bytes_are_made_equal_and_not_taken_away(tmp_path: Path) -> None:
    times = {"h2": {"": 100.0, "bytes_on_the_wire": 800.0}, "h3": {"": 100.0, "bytes_on_the_wire": 850.0}}
    programs = {"h3": '"quiche"', "client": '"quiche"'}
    declared = plan(write(tmp_path / "s", times, **programs)).declared
    assert (declared.cause, declared.key, declared.value, declared.equal) == (
        "bytes_on_the_wire",
        "max_payload",
        1452,
        True,
    )
    assert declared.predicted.ms == 50.0


def test_what_a_setting_takes_away_beside_the_cause_is_declared(tmp_path: Path) -> None:
    """A path without losses has no timeout either; slow start has another setting."""
    times = {
        "h3": {"": 800.0, "loss_on_the_path": 900.0, "tail_probe": 210.0, "slow_start": 100.0},
        "h2": {"": 800.0, "loss_on_the_path": 300.0},
    }
    declared = plan(write(tmp_path / "s", times, path='loss = "1 %"')).declared
    assert declared.cause == "loss_on_the_path"
    assert declared.beyond_ms == pytest.approx(213.5)
    low, high = declared.predicted.low_ms, declared.predicted.high_ms
    assert declared.expected_ms == pytest.approx((low - declared.tolerance_ms, high + declared.tolerance_ms + 213.5))


def test_the_cause_behind_a_cause_is_one_that_can_be_taken_away_with_it(tmp_path: Path) -> None:
    """The next one is of the same arm, and a setting of the arm takes it away: lost set-up packets are of the path, and
    both windows of TCP."""
    times = {
        "h2": {"": 800.0, "slow_start": 400.0, "handshake_packet_lost": 300.0, "receive_window_limited": 200.0},
        "h3": {"": 800.0, "loss_timer": 9.0},
    }
    study = write(tmp_path / "s", times, path='loss = "1 %"')
    asked, spec = Asked(study, "1MB/p"), read_study(study / "spec.toml")
    assert beside(asked, spec, "slow_start") == "receive_window_limited"
    assert beside(asked, spec, "loss_timer") is None


def test_what_follows_from_another_cause_is_not_put_to_the_test_first(tmp_path: Path) -> None:
    """Without a number of trials that says otherwise: slow start takes longer, as acknowledgments are held."""
    times = {
        "h2": {"": 800.0, "slow_start": 100.0, "receive_window_limited": 0.0},
        "h3": {"": 800.0, "slow_start": 400.0, "delayed_acknowledgment": 90.0},
    }
    study = write(tmp_path / "s", times, blocks=8, h3='{name = "quiche", initial_window = 32}', client='"quiche"')
    assert plan(study).declared.cause == "slow_start"
    none = TABLES["mechanism_facts"].empty()
    for file in (study / "tables" / "account_totals").iterdir():
        facts = study / "tables" / "mechanism_facts" / file.name
        facts.parent.mkdir(exist_ok=True)
        none.write_parquet(facts)
    asked = plan(study)
    assert (asked.declared.cause, asked.declared.key) == ("delayed_acknowledgment", "ack_delay")
    assert asked.declared.beyond_ms == pytest.approx(300.0)


def test_a_list_of_sizes_can_be_pasted(tmp_path: Path) -> None:
    """A spec takes the list with quotes, and a shell takes it in bytes."""
    times = {"h2": {"": 800.0, "receive_window_limited": 500.0}, "h3": {"": 800.0}}
    made = plan(write(tmp_path / "s", times))
    assert setting(made.declared) == 'tcp.receive_buffer = ["4096 B", "4 MiB", "16 MiB"]'
    assert tomllib.loads(f"[arm]\n{setting(made.declared)}")["arm"]["tcp"]["receive_buffer"][1] == "4 MiB"
    assert made.own_words == ('Linux: sysctl net.ipv4.tcp_rmem="4096 4194304 16777216"',)
