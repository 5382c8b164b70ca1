# SPDX-License-Identifier: Apache-2.0
"""Plans of confirming runs, from stored accounts that were written by hand, for programs as they declare themselves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from quiclab.analysis.confirm.declared import declared_from
from quiclab.analysis.confirm.kept import DECLARATION, confirmations, keep_declaration, read_confirmation
from quiclab.diagnoses import SENT_BY, TRIAL
from quiclab.errors import DecodeError, SpecError
from quiclab.spec.read import read_study
from quiclab.store.layout import StudyDir
from quiclab.study.confirm.plan import Asked, Plan, arms_of, plan_confirmation
from quiclab.study.confirm.run import run_in_rounds
from quiclab.study.confirm.together import beside, declare_together, look_together, plan_together
from quiclab.tables import OF_STUDY, TABLES

_SPEC = """\
[study]
name = "s"
seed = 1
blocks = 4

[[workload]]
name = "1MB"
size = "1 MB"

[[path]]
name = "p"
rate = "20 Mbit/s"
delay = "50 ms"
{path}

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = {h2}
tcp = {{congestion_control = "cubic", initial_window = 10}}

[[arm]]
name = "h3"
protocol = "h3"
client = {client}
server = {h3}
"""
Times = Mapping[str, Mapping[str, float]]
"""Arm → mechanism → ms in each trial; the name "" is time of none."""
BUFFER: Times = {"h2": {"": 800.0}, "h3": {"": 600.0, "senders_buffer": 1000.0}}


def write(
    folder: Path,
    times: Times = BUFFER,
    *,
    blocks: int = 8,
    path: str = "",
    spec: str = _SPEC,
    own_senders: bool = True,
    **programs: str,
) -> Path:
    """A study with a spec and accounts: a trial of each arm in each block. With `own_senders` nothing follows from
    anything else."""
    values = {"client": '"curl-cffi"', "h2": '"nginx"', "h3": '"nginx"'} | programs
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(spec.format(path=path, **values))
    rows, metrics = [], []
    for number, (arm, mechanisms) in enumerate(times.items()):
        for block in range(blocks):
            trial = f"{number:x}{block:x}"
            began = f"2026-01-01T00:{block:02}:{10 * number:02}+00:00"
            rows.append({"trial_id": trial, "kind": "main", "cell_id": "1MB/p", "workload": "1MB", "path": "p"})
            rows[-1] |= {"arm": arm, "baseline_arm": "h2", "block": block, "attempt": 1, "status": "verified"}
            rows[-1] |= {"began_utc": began}
            metrics.append({"trial_id": trial, "name": "ttlb_ms", "value": sum(mechanisms.values())})
            totals = [
                {
                    "of": "ttlb",
                    "why": "link_busy" if not name else "send_buffer",
                    "what": "payload",
                    "evidence": "link_packets",
                }
                | {"mechanism": name or None, "total_ns": int((ms + block) * 1e6), "edges": 1, "size_bytes": 1}
                for name, ms in mechanisms.items()
            ]
            file = folder / "tables" / "account_totals" / f"{trial}.parquet"
            facts = folder / "tables" / "mechanism_facts" / file.name
            for each in (file, facts):
                each.parent.mkdir(parents=True, exist_ok=True)
            pl.DataFrame(totals, TABLES["account_totals"].schema()).write_parquet(file)
            # A number of the trial that says that the arms have different senders: nothing follows from anything.
            sender = [(TRIAL, f"{SENT_BY}{arm if own_senders else 'one'}", 1.0, "", "")]
            pl.DataFrame(sender, TABLES["mechanism_facts"].schema(), orient="row").write_parquet(facts)
    pl.DataFrame(rows, OF_STUDY["trials"].schema()).write_parquet(folder / "tables" / "trials.parquet")
    pl.DataFrame(metrics, OF_STUDY["metrics"].schema()).write_parquet(folder / "metrics.parquet")
    return folder


def plan(study: Path, cause: str | None = None, arm: str | None = None, cell: str = "1MB/p") -> Plan:
    """The plan of a written study."""
    return plan_confirmation(Asked(study, cell, cause, arm), read_study(study / "spec.toml"))


def test_the_largest_cause_with_a_setting_is_taken_from_the_arm_that_has_it(tmp_path: Path) -> None:
    made = plan(write(tmp_path / "s"))
    declared = made.declared
    assert (declared.cause, declared.arm, declared.other) == ("senders_buffer", "h3", "h2")
    assert (declared.table, declared.key) == ("sender", "stream_window")
    assert declared.predicted.ms == pytest.approx(1003.5)
    assert (declared.predicted.low_ms, declared.predicted.high_ms) == (1000.0, 1007.0)
    assert declared.predicted.confidence == 1 - 2**-7
    assert declared.tolerance_ms == pytest.approx(1003.5 / 4)
    assert declared.sham == "stream_window set to 64 KiB, which nginx has by itself"
    assert declared.left_out[0].startswith("with: the server nginx has no stream_window over h2")
    assert set(declared.places) == {"replay", "without", "sham", "fast", "dose-1", "dose-2"}
    assert made.own_words[0].startswith("http3_stream_buffer_size ")
    assert not made.begun
    assert made.least_blocks == 8
    # Each second trial begins ten seconds after the one before it: most of that is no transfer.
    assert made.block_ms > 6 * 1000


def test_the_spec_that_is_run_is_the_one_that_was_hashed(tmp_path: Path) -> None:
    made = plan(write(tmp_path / "s"))
    assert hashlib.sha256(made.spec.encode()).hexdigest() == made.declared.spec_sha256
    made.directory.mkdir(parents=True)
    (made.directory / "spec.toml").write_text(made.spec)
    study = read_study(made.directory / "spec.toml")
    assert (study.blocks, study.seed, study.baseline) == (8, made.declared.seed, "replay")
    assert study.seed != 1
    keep_declaration(made.directory, made.declared)
    (found,) = confirmations(tmp_path / "s")
    assert (found.declared, found.judgement, found.sound) == (made.declared, None, True)
    # It goes on as it was declared.
    again = plan(tmp_path / "s")
    assert (again.begun, again.directory, again.declared) == (True, made.directory, made.declared)


@pytest.mark.parametrize("file", [DECLARATION, "spec.toml"])
def test_a_declaration_that_was_changed_counts_for_nothing(tmp_path: Path, file: str) -> None:
    made = plan(write(tmp_path / "s"))
    made.directory.mkdir(parents=True)
    (made.directory / "spec.toml").write_text(made.spec)
    keep_declaration(made.directory, made.declared)
    text = (made.directory / file).read_text()
    changed = text.replace('"tolerance_ms": 250', '"tolerance_ms": 500') if file == DECLARATION else text + "# changed"
    assert changed != text
    (made.directory / file).write_text(changed)
    found = read_confirmation(made.directory)
    assert found is not None
    assert not found.sound
    # The next run begins anew, and says why.
    again = plan(tmp_path / "s")
    assert again.directory.name.endswith("-2")
    assert again.passed_over == (
        f"confirm/{made.directory.name}: its declaration, spec or verdict was changed or is damaged",
    )


def _prepared(study: Path, made: Plan, spec: str) -> None:
    """A confirming study with a spec of a stranger's, declared so that all hashes are right."""
    made.directory.mkdir(parents=True)
    (made.directory / "spec.toml").write_text(spec)
    keep_declaration(made.directory, replace(made.declared, spec_sha256=hashlib.sha256(spec.encode()).hexdigest()))
    (found,) = confirmations(study)
    assert found.sound


def test_a_run_goes_on_only_with_the_spec_that_the_studys_own_gives(tmp_path: Path) -> None:
    """A folder may come with the study, from a stranger: programs that it names alone are not run."""
    made = plan(write(tmp_path / "s"))
    spec = made.spec.replace('server = "nginx"', 'server = {argv = ["/bin/sh", "-c", "id"], ready = "tcp"}')
    assert spec != made.spec
    _prepared(tmp_path / "s", made, spec)
    again = plan(tmp_path / "s")
    assert (again.begun, again.directory.name) == (False, f"{made.directory.name[:-1]}2")
    assert "/bin/sh" not in again.spec
    assert again.passed_over == (
        f"confirm/{made.directory.name}: its spec is not the one that the study's spec.toml gives now",
    )


def test_a_folder_in_which_nothing_was_declared_is_used(tmp_path: Path) -> None:
    """A run that was killed before it declared anything leaves one, with a spec or without."""
    made = plan(write(tmp_path / "s"))
    StudyDir(made.directory).create()
    (made.directory / "spec.toml").write_text("of whatever")
    again = plan(tmp_path / "s")
    assert (again.directory, again.begun, again.passed_over) == (made.directory, False, ())


@pytest.mark.netns
def test_the_spec_that_is_run_is_never_the_one_in_the_folder(tmp_path: Path) -> None:
    """Another spec does not go on for several causes together either, whose declaration a stranger can make."""
    causes = {"slow_start": 400.0, "receive_window": 200.0}
    asked = Asked(write(tmp_path / "s", {"h2": {"": 800.0, **causes}, "h3": {"": 800.0}}), "1MB/p")
    study = read_study(asked.study / "spec.toml")
    made = plan_together(asked, list(causes), study)
    StudyDir(made.directory).create()
    with StudyDir(made.directory).locked():
        declare_together(made)
    (made.directory / "spec.toml").write_text(made.spec.replace("nginx", "caddy"))
    again = plan_together(asked, list(causes), study)
    assert (again.begun, again.directory) == (True, made.directory)
    judged, code = run_in_rounds(again, 1, lambda *_: 3, declare_together, look_together)
    assert (judged, code) == (None, 3)
    assert (made.directory / "spec.toml").read_text() == made.spec


def test_a_loss_of_the_path_takes_a_second_path(tmp_path: Path) -> None:
    """Programs without a setting are refused: nginx' QUIC has one congestion control."""
    times = {"h3": {"": 800.0, "loss_on_the_path": 900.0}, "h2": {"": 800.0, "loss_on_the_path": 300.0}}
    made = plan(write(tmp_path / "s", times, path='loss = "1 %"'))
    declared = made.declared
    assert (declared.cause, declared.arm, declared.table) == ("loss_on_the_path", "h3", "path")
    assert declared.of_path
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
    assert "--cause senders_buffer" in error.value.hint
    assert plan(tmp_path / "s", "senders_buffer").declared.predicted.blocks == 4


def test_no_cause_of_the_faster_arm_is_put_to_the_test(tmp_path: Path) -> None:
    """However large: slow start costs h2 time, and h3 takes longer all the same."""
    times = {
        "h2": {"": 800.0, "slow_start": 400.0},
        "h3": {"": 800.0, "slow_start": 100.0, "stream_credit": 700.0, "pacing": 90.0},
    }
    study = write(tmp_path / "s", times)
    with pytest.raises(SpecError) as error:  # neither curl nor nginx has a knob for the others
        plan(study)
    assert "slow_start: costs h2 time, which is the faster arm" in error.value.problems
    assert any(each.startswith("stream_credit: receiver.stream_window") for each in error.value.problems)
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
    times = {"h2": {"": 800.0}, "h3": {"": 800.0, "certificate_beyond_amplification": 90.0}}
    chain = "certificate = {{intermediates = 5}}\n"
    spec = _SPEC.replace("initial_window = 10}}\n", "initial_window = 10}}\n" + chain) + chain
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
    """Of the same arm, and by a setting of the arm: lost set-up packets are of the path, and both windows of TCP."""
    times = {
        "h2": {"": 800.0, "slow_start": 400.0, "set_up_packet_lost": 300.0, "receive_window": 200.0},
        "h3": {"": 800.0, "loss_timer": 9.0},
    }
    study = write(tmp_path / "s", times, path='loss = "1 %"')
    asked, spec = Asked(study, "1MB/p"), read_study(study / "spec.toml")
    assert beside(asked, spec, "slow_start") == "receive_window"
    assert beside(asked, spec, "loss_timer") is None


def test_what_follows_from_another_cause_is_not_put_to_the_test_first(tmp_path: Path) -> None:
    """Without a number of trials that says otherwise: slow start takes longer, as acknowledgments are held."""
    times = {
        "h2": {"": 800.0, "slow_start": 100.0, "receive_window": 0.0},
        "h3": {"": 800.0, "slow_start": 400.0, "acknowledgment_held": 90.0},
    }
    study = write(tmp_path / "s", times, blocks=8, h3='{name = "quiche", initial_window = 32}', client='"quiche"')
    assert plan(study).declared.cause == "slow_start"
    none = TABLES["mechanism_facts"].empty()
    for file in (study / "tables" / "account_totals").iterdir():
        facts = study / "tables" / "mechanism_facts" / file.name
        facts.parent.mkdir(exist_ok=True)
        none.write_parquet(facts)
    asked = plan(study)
    assert (asked.declared.cause, asked.declared.key) == ("acknowledgment_held", "ack_delay")
    assert asked.declared.beyond_ms == pytest.approx(300.0)


def test_a_limit_of_the_processor_has_doses(tmp_path: Path) -> None:
    times = {"h2": {"": 800.0}, "h3": {"": 800.0, "client_without_processor": 400.0}}
    made = plan(write(tmp_path / "s", times, client='{name = "curl-cffi", cpu = "15 %"}'))
    assert (made.declared.table, made.declared.key, made.declared.value) == ("client", "cpu", "100 %")
    assert made.declared.sham == "cpu set to 15 %, as the study has it"
    assert len(made.declared.doses) == 2
    with pytest.raises(SpecError) as error:  # a busy machine has no setting
        plan(write(tmp_path / "busy", times))
    assert "no program of h3 has its cpu limited" in error.value.problems[0]


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        ({"h3": '"caddy"'}, "the server caddy has no stream_window"),
        ({"h3": '{argv = ["/bin/server"]}'}, "the server command has no stream_window"),
        ({"h3": '{name = "nginx", stream_window = "1 MB"}'}, "is 1 MB in h3 already"),
    ],
)
def test_a_program_without_the_knob_is_told(tmp_path: Path, programs: Mapping[str, str], told: str) -> None:
    study = write(tmp_path / "s", BUFFER, **programs)
    with pytest.raises(SpecError, match="no cause of 1MB/p can be put to the test") as error:
        plan(study)
    assert told in " ".join(error.value.problems)


def test_tls_1_3_is_no_counterfactual_of_an_arm_that_has_it(tmp_path: Path) -> None:
    """Only a client that its spec holds to TLS 1.2 can be given it."""
    times = {"h2": {"": 800.0, "set_up_round_trips": 300.0}, "h3": {"": 800.0}}
    held = _SPEC.replace('client = "curl-cffi"', 'client = {{name = "quic-go", tls_version = "1.2"}}', 1)
    assert plan(write(tmp_path / "s", times, spec=held)).declared.key == "tls_version"
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "new", times))
    assert "client.tls_version is 1.3 in h2 already, which all programs have" in " ".join(error.value.problems)


@pytest.mark.parametrize(
    ("asked", "told", "hint"),
    [
        ({"cell": "1MB/q"}, "no cell '1MB/q'", "did you mean 1MB/p"),
        ({"cause": "sender_buffer"}, "no cause 'sender_buffer'", "did you mean senders_buffer"),
        ({"cause": "slow_start"}, "no trial of 1MB/p shows slow_start", "senders_buffer"),
        ({"arm": "h4"}, "no arm 'h4'", "these are: h3"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    tmp_path: Path, asked: Mapping[str, str], told: str, hint: str
) -> None:
    study = write(tmp_path / "s")
    with pytest.raises(SpecError, match=re.escape(told)) as error:
        plan(study, **asked)
    assert hint in error.value.hint


def test_of_three_arms_one_is_chosen(tmp_path: Path) -> None:
    third = _SPEC + '\n[[arm]]\nname = "h3-b"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
    study = write(tmp_path / "s", spec=third)
    with pytest.raises(SpecError, match="2 arms are compared with h2"):
        plan(study)
    assert plan(study, arm="h3").declared.other == "h2"


def test_another_baseline_than_the_specs(tmp_path: Path) -> None:
    """Arms are compared that the spec does not compare, since neither is its baseline."""
    third = _SPEC + '\n[[arm]]\nname = "h3-b"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
    spec = read_study(write(tmp_path / "s", spec=third) / "spec.toml")
    assert arms_of(spec, Asked(tmp_path, "1MB/p", arm="h2", baseline="h3-b")) == ("h3-b", "h2")
    with pytest.raises(SpecError, match="2 arms are compared with h3-b"):
        arms_of(spec, Asked(tmp_path, "1MB/p", baseline="h3-b"))
    with pytest.raises(SpecError, match="no arm 'h3-c' as a baseline"):
        arms_of(spec, Asked(tmp_path, "1MB/p", baseline="h3-c"))


def test_a_cause_of_few_blocks_is_not_predicted(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "s", blocks=2), "senders_buffer")
    assert error.value.problems == ("senders_buffer: 2 stored blocks predict nothing; 3 are the least",)


def test_tables_without_mechanisms_are_of_another_version(tmp_path: Path) -> None:
    study = write(tmp_path / "s")
    for file in (study / "tables" / "account_totals").iterdir():
        pl.read_parquet(file).drop("mechanism").write_parquet(file)
    with pytest.raises(DecodeError, match="name no mechanisms"):
        plan(study)


def test_noise_says_how_many_blocks_it_takes(tmp_path: Path) -> None:
    study = write(tmp_path / "s")
    quiet = plan(study).blocks_needed
    for number, file in enumerate(sorted((study / "tables" / "account_totals").iterdir())):
        noise = pl.when(pl.col("why") == "link_busy").then(int(2e8) * (number % 4)).otherwise(0)
        pl.read_parquet(file).with_columns(pl.col("total_ns") + noise).write_parquet(file)
    noisy = plan(study).blocks_needed
    assert quiet == 8
    assert noisy is None or noisy > 8


def test_the_document_of_a_declaration_is_plain_json(tmp_path: Path) -> None:
    made = plan(write(tmp_path / "s"))
    keep_declaration(tmp_path, made.declared)
    kept = json.loads((tmp_path / DECLARATION).read_text())
    assert kept["sha256"] == made.declared.sha256
    assert kept["declared"]["predicted"]["blocks"] == 8


def test_two_causes_of_an_arm_make_four_arms(tmp_path: Path) -> None:
    times = {"h2": {"": 800.0, "slow_start": 400.0, "receive_window": 200.0}, "h3": {"": 800.0, "loss_timer": 9.0}}
    study = write(tmp_path / "s", times)
    asked, spec = Asked(study, "1MB/p"), read_study(study / "spec.toml")
    made = plan_together(asked, ["slow_start", "receive_window"], spec)
    assert list(made.declared.predicted) == ["receive_window", "slow_start"]
    arms = {name: place.arm for name, place in made.declared.places.items()}
    assert arms == {
        "": "replay",
        "receive_window": "without-1",
        "slow_start": "without-2",
        "receive_window+slow_start": "without-12",
    }
    file = tmp_path / "derived.toml"
    file.write_text(made.spec)
    tcp = {arm.name: arm.tcp for arm in read_study(file).arms}
    assert [tcp[name].initial_window for name in arms.values()] == [10, 10, 64, 64]
    assert tcp["without-1"].receive_buffer == tcp["without-12"].receive_buffer != tcp["replay"].receive_buffer
    for causes, told in (
        (["slow_start", "slow_start"], "1 causes together"),
        (["slow_start", "loss_timer"], "loss_timer is of h3, and slow_start of h2"),
        (["slow_start", "retry"], "no trial of 1MB/p shows retry"),
    ):
        with pytest.raises(SpecError, match=told):
            plan_together(asked, causes, spec)
