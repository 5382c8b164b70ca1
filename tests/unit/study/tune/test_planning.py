# SPDX-License-Identifier: Apache-2.0
"""The plan of a search from stored trials, without running anything."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from planned_confirmation import SPEC, write

from quiclab.model.errors import SpecError
from quiclab.model.tables import TABLES
from quiclab.spec.read import read_study
from quiclab.study.tune.paste import arm_table, program_lines
from quiclab.study.tune.planning import plan_tuning
from quiclab.study.tune.result import AS_IT_IS, TUNED
from quiclab.study.tune.search_progress import SearchProgress, keep_progress
from quiclab.study.tune.tuning_plan import (
    TuneRequest,
    TuningPlan,
    as_it_is,
    neighbour_pairs,
    neighbour_paths,
    stage_of,
    with_settings,
)

_PATH = 'loss = "1 %"'


def _plan(study: Path, **asked: object) -> TuningPlan:
    request = TuneRequest(study, "1MB/p", None, 300.0, ("client", "server", "tcp"), ())
    return plan_tuning(replace(request, **asked), read_study(study / "spec.toml", {}))  # type: ignore[arg-type]


def test_the_slower_arm_is_tuned(tmp_path: Path) -> None:
    """The median of the stored trials says which one it is; another one is tuned where it is asked for."""
    study = write(tmp_path / "s", path=_PATH)
    plan = _plan(study)
    assert (plan.cell.arm.name, plan.why_this_arm) == ("h3", "the slower one of 2 arms by its median")
    assert plan.trial_s == pytest.approx(50, abs=41)
    assert plan.least_pairs == 6
    assert plan.directory == study / "tune" / "1MB-p-h3-1"
    assert not plan.directory.exists()
    asked = _plan(study, arm="h2")
    assert (asked.cell.arm.name, asked.why_this_arm) == ("h2", "")
    assert "tcp.initial_window = 32" in [each.text for each in asked.candidates + asked.left_out]


def test_too_few_minutes_say_how_many_are_needed(tmp_path: Path) -> None:
    """The number that is named suffices."""
    study = write(tmp_path / "s", path=_PATH)
    with pytest.raises(SpecError, match="minutes are too few") as raised:
        _plan(study, minutes=1.0)
    needed = float(raised.value.hint.split()[2])
    assert _plan(study, minutes=needed).candidates
    with pytest.raises(SpecError, match="minutes are too few"):
        _plan(study, minutes=needed - 1)


def test_a_search_that_was_ended_goes_on_if_it_asked_the_same(tmp_path: Path) -> None:
    """A plan has that folder, and what was used up; one that came to its end or asked otherwise is left alone."""
    study = write(tmp_path / "s", path=_PATH)
    first = _plan(study)
    first.directory.mkdir(parents=True)
    cut = SearchProgress(first.asked, 40.0, 2.0, {"heat-1-round-1": 3})
    keep_progress(first.directory, cut)
    assert (_plan(study).directory, _plan(study).progress) == (first.directory, cut)
    other = _plan(study, minutes=299.0)
    assert (other.directory.name, other.progress) == ("1MB-p-h3-2", None)
    assert other.passed_over == "tune/1MB-p-h3-1: it differs in minutes"
    changed = (study / "spec.toml").read_text().replace("50 ms", "60 ms")
    (study / "spec.toml").write_text(changed)
    assert _plan(study).passed_over == "tune/1MB-p-h3-1: it differs in spec of the study"
    (study / "spec.toml").write_text(changed.replace("60 ms", "50 ms"))
    keep_progress(first.directory, SearchProgress(first.asked, 40.0, 2.0, {"heat-1-round-1": 3}, (), ended=True))
    again = _plan(study)
    assert (again.directory.name, again.progress, again.passed_over) == ("1MB-p-h3-2", None, "")


@pytest.mark.parametrize("text", ["{", "{}", '{"asked": 1, "spent_s": 0, "trial_s": 1, "blocks": {}}'])
def test_progress_that_cannot_be_read_does_not_go_on(tmp_path: Path, text: str) -> None:
    """A new search begins beside a folder whose progress is damaged."""
    study = write(tmp_path / "s", path=_PATH)
    first = _plan(study)
    first.directory.mkdir(parents=True)
    (first.directory / "progress.json").write_text(text)
    assert _plan(study).directory.name == "1MB-p-h3-2"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"cell": "2MB/p"}, "no cell '2MB/p'"),
        ({"arm": "h4"}, "no arm 'h4'"),
        ({"knobs": ("initial_windw",)}, "no knob 'initial_windw'"),
        ({"knobs": ("bogus",)}, "no knob 'bogus'"),
        ({"knobs": ("ack_frequency",)}, "nothing of h3 .* can be tuned"),
    ],
)
def test_what_cannot_be_tuned(tmp_path: Path, asked: dict[str, object], told: str) -> None:
    """A wrong request is refused before anything runs."""
    study = write(tmp_path / "s")
    with pytest.raises(SpecError, match=told):
        _plan(study, **asked)


def test_a_knob_that_there_is_not_names_those_of_the_arm(tmp_path: Path) -> None:
    """A near name is suggested; else the hint has the knobs of this arm's programs, and no others."""
    study = write(tmp_path / "s", path=_PATH)
    hints = {}
    for arm, knob in (("h3", "initial_windw"), ("h3", "bogus"), ("h2", "bogus")):
        with pytest.raises(SpecError) as raised:
            _plan(study, arm=arm, knobs=(knob,))
        hints[arm, knob] = raised.value.hint
    assert hints["h3", "initial_windw"] == "did you mean initial_window?"
    assert hints["h3", "bogus"] == "h3 has stream_window, gso"
    assert hints["h2", "bogus"].startswith("h2 has congestion_control, initial_window, send_buffer")


def test_fewer_minutes_leave_settings_out(tmp_path: Path) -> None:
    """Settings that are left out are named, and so are networks on which nothing is checked."""
    study = write(tmp_path / "s", path=_PATH)
    many, few = _plan(study, minutes=2000.0), _plan(study, minutes=60.0)
    assert not many.left_out
    assert not many.unchecked
    assert few.candidates + few.left_out == many.candidates
    assert few.neighbours + few.unchecked == many.neighbours
    assert {str(each) for each in many.neighbours} == {
        *("twice the RTT", "half the RTT", "twice the rate", "half the rate", "twice the loss", "no loss"),
    }


def test_what_moves_the_longest_wait_races_first(tmp_path: Path) -> None:
    """The records of the arm's own trials tell, whatever the other arm waits for; a second value comes later."""
    study = write(tmp_path / "s", path=_PATH)
    trials = pl.read_parquet(study / "tables" / "trials.parquet")
    own = trials.filter(pl.col("arm").cast(pl.String) == "h2")["trial_id"].to_list()
    for file in sorted((study / "tables" / "mechanism_facts").glob("*.parquet")):
        name = "receive_window_limited" if file.stem in own else "slow_start"
        rows = [{"trial_id": file.stem, "mechanism": name, "fact": "time", "value": 300.0, "unit": "ms", "told": ""}]
        pl.DataFrame(rows, TABLES["mechanism_facts"].schema(), orient="row").write_parquet(file)
    texts = [each.text for each in _plan(study, arm="h2", minutes=2000.0).candidates]
    buffers = [at for at, text in enumerate(texts) if text.startswith("tcp.receive_buffer")]
    assert buffers[0] == 0
    assert buffers[1] > texts.index("tcp.initial_window = 32")


def test_a_network_without_loss_has_fewer_neighbours(tmp_path: Path) -> None:
    """Nothing is doubled that is not there, and the reason is known."""
    plan = _plan(write(tmp_path / "s"), minutes=2000.0)
    assert all(each.quantity != "loss" for each in plan.neighbours)
    assert any("no loss that could be changed" in each for each in plan.no_neighbours)


def test_stages_are_studies_with_seeds_of_their_own(tmp_path: Path) -> None:
    """No stage meets the losses by which another one chose; the arms are the study's own with the settings in."""
    plan = _plan(write(tmp_path / "s", path=_PATH), minutes=2000.0)
    best = next(each for each in plan.candidates if "stream_window = 4 MiB" in each.text)
    arms = [as_it_is(plan), with_settings(plan, [best])]
    stages = [stage_of(plan, name, arms, 6) for name in ("heat-1-round-1", "fresh")]
    documents = [tomllib.loads(stage.spec) for stage in stages]
    assert len({document["study"]["seed"] for document in documents} | {plan.cell.study.seed}) == 3
    fresh = documents[1]
    assert [arm["name"] for arm in fresh["arm"]] == [AS_IT_IS, TUNED]
    assert fresh["study"]["baseline"] == AS_IT_IS
    assert fresh["arm"][1]["server"]["stream_window"] == "4 MiB"
    assert fresh["arm"][0]["server"] == "nginx"
    held_out = stage_of(plan, "neighbours", arms, neighbour_pairs(plan), neighbour_paths(plan))
    assert held_out.trials_a_block == 12
    paths = {path["title"]: path for path in tomllib.loads(held_out.spec)["path"]}
    assert paths["twice the RTT"]["delay"] == "100 ms"
    assert paths["twice the loss"]["loss"] == "2 %"
    assert "loss" not in paths["no loss"]


def test_lines_to_paste(tmp_path: Path) -> None:
    """The arm under its own name, and the directive that nginx itself has, as its endpoint writes it."""
    plan = _plan(write(tmp_path / "s", path=_PATH), minutes=2000.0)
    best = next(each for each in plan.candidates if "stream_window = 4 MiB" in each.text)
    spec = stage_of(plan, "fresh", [as_it_is(plan), with_settings(plan, [best])], 6).spec
    (arm,) = tomllib.loads(arm_table(plan, spec))["arm"]
    assert arm["name"] == "h3"
    assert arm["server"] == {"name": "nginx", "stream_window": "4 MiB"}
    assert "tcp" in tomllib.loads(spec)["arm"][1]  # the baseline's, which changes nothing here
    assert "tcp" not in arm
    (lines,) = program_lines(plan, spec, [best])
    assert lines.program == "nginx (server)"
    assert lines.lines == (f"http3_stream_buffer_size {4 << 20};",)
    assert not lines.is_ours


def test_settings_of_tcp_that_an_arm_over_quic_has_itself_stay(tmp_path: Path) -> None:
    """Another arm may take them from there."""
    with_own = SPEC.replace('protocol = "h3"', 'protocol = "h3"\ntcp = {{congestion_control = "reno"}}')
    plan = _plan(write(tmp_path / "s", path=_PATH, spec=with_own), minutes=2000.0)
    spec = stage_of(plan, "fresh", [as_it_is(plan), with_settings(plan, plan.candidates[:1])], 6).spec
    (arm,) = tomllib.loads(arm_table(plan, spec))["arm"]
    assert arm["tcp"] == {"congestion_control": "reno"}


def test_lines_to_paste_of_linux_and_of_our_own_programs(tmp_path: Path) -> None:
    """Linux has sysctls and the route; a program of ours has a file that nobody else reads, which is said."""
    study = write(tmp_path / "s", client='"quinn"', h3='"quinn"')
    over_tcp = _plan(study, arm="h2", minutes=2000.0)
    chosen = [each for each in over_tcp.candidates if each.text == "tcp.congestion_control = bbr"]
    chosen += [each for each in over_tcp.candidates if each.text == "tcp.initial_window = 32"]
    spec = stage_of(over_tcp, "fresh", [as_it_is(over_tcp), with_settings(over_tcp, chosen)], 6).spec
    (lines,) = program_lines(over_tcp, spec, chosen)
    (arm,) = tomllib.loads(arm_table(over_tcp, spec))["arm"]
    assert arm["tcp"] == {"congestion_control": "bbr", "initial_window": 32}
    assert lines.program == "Linux"
    assert lines.lines == ("sysctl net.ipv4.tcp_congestion_control=bbr", "ip route change … initcwnd 32")
    of_quinn = _plan(study, arm="h3", minutes=2000.0, knobs=("initial_window",))
    spec = stage_of(of_quinn, "fresh", [as_it_is(of_quinn), with_settings(of_quinn, of_quinn.candidates[:1])], 6).spec
    (lines,) = program_lines(of_quinn, spec, of_quinn.candidates[:1])
    assert (lines.program, lines.is_ours) == ("quinn (server)", True)
