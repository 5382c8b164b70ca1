# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --confirm` with real programs: a HelloRetryRequest is seen, taken away, and its round trip goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import quiclab
from stack_study import need

from quiclab.compare.study_tables import open_study
from quiclab.why.confirm.judge import Judgement, State, Verdict
from quiclab.why.confirm.records import confirmations

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ROUND_TRIP_MS = 160
_SPEC = f"""\
[study]
name = "confirm"
seed = 1
blocks = 3
aa = {{blocks = 0}}

# A loaded machine must not void what is tested here.
[limits]
disturbance = "100 %"

[[workload]]
name = "object"
size = "2 KB"

[[path]]
name = "far"
rate = "20 Mbit/s"
delay = "{_ROUND_TRIP_MS // 2} ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = {{congestion_control = "reno", initial_window = 10}}

[[arm]]
name = "h3"
protocol = "h3"
client = {{name = "quinn", groups = ["secp384r1", "x25519"]}}
server = {{name = "quinn", groups = ["x25519"]}}
"""


def _having(judgement: Judgement, state: State) -> set[str]:
    return {check.name for check in judgement.checks if check.state is state}


@pytest.mark.nightly  # 90 s; with every push a planted cause is confirmed in virtual time
def test_a_planted_round_trip_is_confirmed(tmp_path: Path) -> None:
    need(("client", "quinn"), ("server", "quinn"))
    study, spec = tmp_path / "study", tmp_path / "spec.toml"
    spec.write_text(_SPEC)
    assert quiclab("run", spec, "--out", study).returncode == 0
    before = {file.name: file.read_bytes() for file in study.iterdir() if file.suffix in (".toml", ".json", ".parquet")}

    # Three pairs show nothing by chance alone, and the arms' times are alike: h2's second round trip is no retry.
    refused = quiclab("explain", study, "object/far", "--confirm", "--dry-run")
    assert refused.returncode == 2
    assert "its 3 pairs show none, and 6 are the least" in refused.stderr
    asked = ("explain", study, "object/far", "--confirm", "--cause", "hello_retry_request")
    planned = quiclab(*asked, "--dry-run", "--json")
    assert planned.returncode == 0, planned.stderr
    declared = json.loads(planned.stdout)
    assert list(declared) == ["version", "directory", "sha256", "declared", "verdict"]
    assert declared["verdict"] is None
    assert declared["declared"]["cause"] == "hello_retry_request"
    assert not confirmations(study)
    few = quiclab(*asked, "--dry-run", "--minutes", "0.01")
    assert few.returncode == 2
    assert "0.01 minutes are too few: 8 blocks are the least that decide anything" in few.stderr

    done = quiclab(*asked, "--minutes", "4", "--jobs", "auto", timeout=420)
    (found,) = confirmations(study)
    assert found.sound
    assert found.declared.sha256 == declared["sha256"]
    assert f"sha256 {declared['sha256'][:16]}" in done.stdout
    judgement = found.judgement
    assert judgement is not None
    assert {"removed", "moved"} <= _having(judgement, State.HOLDS), done.stdout
    assert _having(judgement, State.FAILS) == set(), done.stdout
    # A loaded machine may leave open what is about a quarter of a round trip, and nothing else.
    undecided = _having(judgement, State.OPEN)
    assert undecided <= {"sham", "stayed_away"}, done.stdout
    assert judgement.verdict is (Verdict.UNDECIDED if undecided else Verdict.CONFIRMED), done.stdout
    assert done.returncode == (8 if undecided else 0), done.stdout + done.stderr
    assert judgement.effects[0].ms == pytest.approx(_ROUND_TRIP_MS, rel=0.4)
    told = f"{judgement.verdict.value.capitalize()}: "
    assert told in done.stdout

    # Stored trials of another network predict nothing of this one.
    (study / "spec.toml").write_text(_SPEC.replace("20 Mbit/s", "30 Mbit/s"))
    changed = quiclab("explain", study, "object/far", "--confirm", "--dry-run")
    assert changed.returncode == 2
    assert "differs from the spec that the trials of the study had" in changed.stderr
    (study / "spec.toml").write_text(_SPEC)

    # The study itself is as it was, and tells what was found; the trials are a study of their own.
    assert {name: (study / name).read_bytes() for name in before} == before
    assert told in quiclab("explain", study, "object/far").stdout
    (account,) = json.loads(quiclab("explain", study, "object/far", "--json").stdout)["accounts"]
    (entry,) = account["confirmations"]
    assert (entry["cause"], entry["sound"]) == ("hello_retry_request", True)
    assert entry["verdict"]["verdict"] == judgement.verdict.value
    trials = open_study(found.directory).trials
    assert set(trials["arm"]) == {"replay", "without", "sham", "fast"}
    assert trials.filter(trials["block"] == 0)["seed"].n_unique() == 1


def test_what_cannot_be_confirmed_is_one_clear_error(tmp_path: Path) -> None:
    """Wrong words, before anything runs: each with 2, and one line that says what to do."""
    for words, told in (
        (("--confirm",), "--confirm needs a study and one of its cells"),
        ((tmp_path, "object/far", "--cause", "x"), "--cause is for a run that confirms a cause"),
        ((tmp_path, "object/far", "--jobs", "2"), "--jobs is for a run that confirms a cause"),
        ((tmp_path, "object/far", "--confirm", "--minutes", "0"), "--minutes 0: this is not a time"),
        ((tmp_path, "object/far", "--confirm"), "has no spec.toml"),
        (("--confirm", "--h2", "a", "--h3", "b"), "--h2 does not go with --confirm"),
        ((tmp_path, "object/far", "--confirm", "--metric", "ttfb_ms"), "--metric does not go with --confirm"),
    ):
        ended = quiclab("explain", *words)
        assert ended.returncode == 2, ended.stderr
        assert told in ended.stderr
        assert "hint: " in ended.stderr
        assert "Traceback" not in ended.stderr
