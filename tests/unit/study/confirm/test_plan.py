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
from planned_confirmation import BUFFER, SPEC, plan, write

from quiclab.model.errors import DecodeError, SpecError
from quiclab.spec.read import read_study
from quiclab.store.layout import DECLARATION, StudyDir
from quiclab.study.confirm.confirming_run import run_in_rounds
from quiclab.study.confirm.plan import Asked, Plan, arms_of
from quiclab.study.confirm.together import declare_together, look_together, plan_together
from quiclab.why.confirm.records import confirmations, keep_declaration, read_confirmation


def test_the_largest_cause_with_a_setting_is_taken_from_the_arm_that_has_it(tmp_path: Path) -> None:
    made = plan(write(tmp_path / "s"))
    declared = made.declared
    assert (declared.cause, declared.arm, declared.other) == ("send_buffer_limited", "h3", "h2")
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


def test_the_spec_that_is_run_is_never_the_one_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another spec does not go on for several causes together either, whose declaration a stranger can make."""
    causes = {"slow_start": 400.0, "receive_window_limited": 200.0}
    asked = Asked(write(tmp_path / "s", {"h2": {"": 800.0, **causes}, "h3": {"": 800.0}}), "1MB/p")
    study = read_study(asked.study / "spec.toml")
    made = plan_together(asked, list(causes), study)
    StudyDir(made.directory).create()
    with StudyDir(made.directory).locked():
        declare_together(made)
    (made.directory / "spec.toml").write_text(made.spec.replace("nginx", "caddy"))
    again = plan_together(asked, list(causes), study)
    assert (again.begun, again.directory) == (True, made.directory)
    # This process may have threads, with which no sandbox begins; trials are not run here anyway.
    monkeypatch.setattr("quiclab.study.confirm.confirming_run.in_sandbox_of", lambda _, trials: trials())
    judged, code = run_in_rounds(again, 1, lambda *_: 3, declare_together, look_together)
    assert (judged, code) == (None, 3)
    assert (made.directory / "spec.toml").read_text() == made.spec


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


def test_a_value_that_a_program_has_by_itself_is_no_counterfactual(tmp_path: Path) -> None:
    """quiche sends without GSO anyhow, and quinn with it: from quinn's server it can be taken, and the sham gives it
    what it has."""
    times = {"h2": {"": 800.0}, "h3": {"": 600.0, "dropped_at_the_receiver": 1000.0}}
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "quiche", times, h3='"quiche"'))
    assert "sender.gso is false in h3 already, which quiche has by itself" in " ".join(error.value.problems)
    declared = plan(write(tmp_path / "quinn", times, h3='"quinn"')).declared
    assert (declared.key, declared.sham) == ("gso", "gso set to true, which quinn has by itself")


def test_tls_1_3_is_no_counterfactual_of_an_arm_that_has_it(tmp_path: Path) -> None:
    """Only a client that its spec holds to TLS 1.2 can be given it."""
    times = {"h2": {"": 800.0, "handshake_round_trips": 300.0}, "h3": {"": 800.0}}
    held = SPEC.replace('client = "curl-cffi"', 'client = {{name = "quic-go", tls_version = "1.2"}}', 1)
    assert plan(write(tmp_path / "s", times, spec=held)).declared.key == "tls_version"
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "new", times))
    assert "client.tls_version is 1.3 in h2 already, which all programs have" in " ".join(error.value.problems)


@pytest.mark.parametrize(
    ("asked", "told", "hint"),
    [
        ({"cell": "1MB/q"}, "no cell '1MB/q'", "did you mean 1MB/p"),
        ({"cause": "sender_buffer"}, "no cause 'sender_buffer'", "did you mean send_buffer_limited"),
        ({"cause": "slow_start"}, "no trial of 1MB/p shows slow_start", "send_buffer_limited"),
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


@pytest.mark.parametrize("causes", [("nonsense",), ("send_buffer_limited", "nonsense")], ids=["alone", "together"])
def test_a_cause_that_does_not_exist_is_told_from_one_that_the_cell_does_not_have(
    tmp_path: Path, causes: tuple[str, ...]
) -> None:
    """One of two as one alone; the hint says where the names stand, and does not list all of them."""
    study = write(tmp_path / "s")
    with pytest.raises(SpecError, match="there is no cause 'nonsense'") as error:
        if len(causes) > 1:
            plan_together(Asked(study, "1MB/p", None, None), causes, read_study(study / "spec.toml"))
        else:
            plan(study, *causes)
    assert "docs/reference/causes.md" in error.value.hint
    assert "slow_start" not in error.value.hint


def test_of_three_arms_one_is_chosen(tmp_path: Path) -> None:
    third = SPEC + '\n[[arm]]\nname = "h3-b"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
    study = write(tmp_path / "s", spec=third)
    with pytest.raises(SpecError, match="2 arms are compared with h2"):
        plan(study)
    assert plan(study, arm="h3").declared.other == "h2"


def test_another_baseline_than_the_specs(tmp_path: Path) -> None:
    """Arms are compared that the spec does not compare, since neither is its baseline."""
    third = SPEC + '\n[[arm]]\nname = "h3-b"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'
    spec = read_study(write(tmp_path / "s", spec=third) / "spec.toml")
    assert arms_of(spec, Asked(tmp_path, "1MB/p", arm="h2", baseline="h3-b")) == ("h3-b", "h2")
    with pytest.raises(SpecError, match="2 arms are compared with h3-b"):
        arms_of(spec, Asked(tmp_path, "1MB/p", baseline="h3-b"))
    with pytest.raises(SpecError, match="no arm 'h3-c' as a baseline"):
        arms_of(spec, Asked(tmp_path, "1MB/p", baseline="h3-c"))


def test_an_arm_has_its_own_baseline(tmp_path: Path) -> None:
    """Arms with lists of servers are each held against the baseline of the same server."""
    lists = SPEC.replace("server = {h2}", 'server = ["nginx", "caddy"]')
    lists = lists.replace("server = {h3}", 'server = ["nginx", "caddy"]')
    spec = read_study(write(tmp_path / "s", spec=lists) / "spec.toml")
    assert arms_of(spec, Asked(tmp_path, "1MB/p", arm="h3-caddy")) == ("h2-caddy", "h3-caddy")
    with pytest.raises(SpecError, match="2 arms are compared with h2-nginx and h2-caddy"):
        arms_of(spec, Asked(tmp_path, "1MB/p"))
    with pytest.raises(SpecError, match="no arm 'h2-caddy' is compared with"):
        arms_of(spec, Asked(tmp_path, "1MB/p", arm="h2-caddy"))


def test_a_cause_of_few_blocks_is_not_predicted(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        plan(write(tmp_path / "s", blocks=2), "send_buffer_limited")
    assert error.value.problems == ("send_buffer_limited: 2 stored blocks predict nothing; 3 are the least",)


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
    times = {
        "h2": {"": 800.0, "slow_start": 400.0, "receive_window_limited": 200.0},
        "h3": {"": 800.0, "loss_timer": 9.0},
    }
    study = write(tmp_path / "s", times)
    asked, spec = Asked(study, "1MB/p"), read_study(study / "spec.toml")
    made = plan_together(asked, ["slow_start", "receive_window_limited"], spec)
    assert list(made.declared.predicted) == ["receive_window_limited", "slow_start"]
    arms = {name: place.arm for name, place in made.declared.places.items()}
    assert arms == {
        "": "replay",
        "receive_window_limited": "without-1",
        "slow_start": "without-2",
        "receive_window_limited+slow_start": "without-12",
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
