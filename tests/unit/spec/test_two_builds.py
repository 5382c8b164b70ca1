# SPDX-License-Identifier: Apache-2.0
"""One spec of two builds: what it takes from each, and what it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.spec.read import read_study
from quiclab.spec.toml_text import toml_text
from quiclab.spec.two_builds import Build, interleave

SPEC = """\
[study]
name = "gate"
question = "old \\"question\\""
seed = 7
blocks = 9
aa = { workload = "big", blocks = 9 }

[[workload]]
name = "small"
size = "100 KB"

[[workload]]
name = "big"
size = "1 MB"

[[path]]
name = "lossy"
rate = "10 Mbit/s"
delay = "10 ms"
down = { loss = "1 %" }

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = { congestion_control = "reno", initial_window = 32 }

[[arm]]
name = "h3"
protocol = "h3"
client = { argv = ["/old/client", "{url}"], env = { QLOGDIR = "{qlog_dir}" } }
server = { name = "caddy", prefix = "build" }
"""


def build(folder: Path, text: str = SPEC) -> Build:
    """The spec in a folder that has a build beside it."""
    (folder / "build").mkdir(parents=True)
    file = folder / "spec.toml"
    file.write_text(text)
    return Build(file, read_study(file))


def test_every_arm_that_differs_is_there_twice(tmp_path: Path) -> None:
    """Prefixes below each spec's own folder are two builds; h2, which does not differ, lends its TCP settings."""
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a"), build(tmp_path / "b"), [], 20))
    study = read_study(file)
    assert [arm.name for arm in study.arms] == ["h3-old", "h3-new"]
    assert [arm.server.prefix for arm in study.arms] == [str(tmp_path / each / "build") for each in ("a", "b")]
    assert {arm.tcp.initial_window for arm in study.arms} == {32}
    assert {arm.client.argv for arm in study.arms} == {("/old/client", "{url}")}
    assert (study.name, study.seed, study.blocks, study.baseline) == ("gate-interleaved", 7, 20, "h3-old")
    assert (study.aa.workload, study.aa.blocks) == ("big", 1)
    assert study.paths == read_study(tmp_path / "a" / "spec.toml").paths


def test_builds_of_an_arm_over_http_3_alone_have_no_tcp(tmp_path: Path) -> None:
    """There is no arm to take its settings from, and no use for them."""
    alone = SPEC[: SPEC.index("[[arm]]")] + SPEC[SPEC.rindex("[[arm]]") :]
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a", alone), build(tmp_path / "b", alone), [], 20))
    assert [arm.name for arm in read_study(file).arms] == ["h3-old", "h3-new"]
    assert "tcp" not in file.read_text()


@pytest.mark.parametrize(
    ("name", "differs"), [("caddy", ["h2-old", "h2-new"]), ("nginx", ["h2-old", "h2-new", "h3-old", "h3-new"])]
)
def test_settings_of_tcp_are_none_of_an_arm_over_quic(tmp_path: Path, name: str, differs: list[str]) -> None:
    """It takes them from the baseline as every arm does, which makes no other build of it."""
    plain = SPEC.replace(', prefix = "build" }', " }")
    changed = plain.replace("initial_window = 32", "initial_window = 10").replace(
        'server = { name = "caddy"', f'server = {{ name = "{name}"'
    )
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a", plain), build(tmp_path / "b", changed), [], None))
    assert [arm.name for arm in read_study(file).arms] == differs


def test_an_arm_over_quic_that_was_asked_for_keeps_the_old_settings_of_tcp(tmp_path: Path) -> None:
    """They would be told as a change that was meant, and change nothing."""
    plain = SPEC.replace(', prefix = "build" }', " }")
    changed = plain.replace("initial_window = 32", "initial_window = 10")
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a", plain), build(tmp_path / "b", changed), ["h3"], None))
    assert {arm.name: arm.tcp.initial_window for arm in read_study(file).arms} == {"h3-old": 32, "h3-new": 32}


def test_a_control_that_was_left_out_stays_out(tmp_path: Path) -> None:
    """A gate of few blocks need not run each build against itself."""
    without = SPEC.replace("blocks = 9 }", "blocks = 0 }")
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a", without), build(tmp_path / "b", without), [], 20))
    assert read_study(file).aa.blocks == 0


def test_a_prefix_among_the_installed_programs_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no folder beside the spec."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path))
    (tmp_path / "sid").mkdir()
    other = SPEC.replace('server = "caddy"', 'server = { name = "caddy", prefix = "stacks:sid" }')
    assert other != SPEC
    text = interleave(build(tmp_path / "a"), build(tmp_path / "b", other), [], None)
    named = [arm["server"] for arm in tomllib.loads(text)["arm"] if arm["name"].endswith("-new")]
    assert {"name": "caddy", "prefix": "stacks:sid"} in named


def test_an_arm_that_is_asked_for_may_run_against_itself(tmp_path: Path) -> None:
    """It shows how often such a gate errs on this machine; without asking there is nothing to compare."""
    old = build(tmp_path)
    assert [arm["name"] for arm in tomllib.loads(interleave(old, old, ["h2"], None))["arm"]] == ["h2-old", "h2-new"]
    with pytest.raises(SpecError, match="no arm of OLD and NEW differs"):
        interleave(old, old, [], None)


def test_an_arm_that_competes_stays_to_compete(tmp_path: Path) -> None:
    """h2 beside the measured flow is in the study, and makes no cells of its own."""
    text = SPEC.replace('size = "1 MB"', 'size = "1 MB"\ncompetition = { competitors = [{ arm = "h2" }] }')
    text = text.replace('workload = "big", ', "")
    file = tmp_path / "both.toml"
    file.write_text(interleave(build(tmp_path / "a", text), build(tmp_path / "b", text), [], None))
    study = read_study(file)
    assert [arm.name for arm in study.measured_arms] == ["h3-old", "h3-new"]
    assert [arm.name for arm in study.arms if arm.only_for] == ["h2"]


@pytest.mark.parametrize(
    ("change", "to", "told"),
    [
        ("1 %", "2 %", "paths.lossy.down.loss.probability_pct: 1.0 in OLD, 2.0 in NEW"),
        ("100 KB", "200 KB", "workloads.small"),
        ('"gate"\n', '"gate"\nalpha = 0.01\n', "alpha: 0.05 in OLD, 0.01 in NEW"),
    ],
)
def test_other_work_is_refused(tmp_path: Path, change: str, to: str, told: str) -> None:
    """Every difference outside the arms is named."""
    old, new = build(tmp_path / "a"), build(tmp_path / "b", SPEC.replace(change, to))
    with pytest.raises(SpecError) as error:
        interleave(old, new, [], None)
    assert told in "\n".join(error.value.problems)


def test_an_unknown_arm_is_named_with_the_closest(tmp_path: Path) -> None:
    """Of the spec that lacks it."""
    with pytest.raises(SpecError, match="OLD has no arm 'h33'"):
        interleave(build(tmp_path / "a"), build(tmp_path / "b"), ["h33"], None)


def test_toml_comes_back_as_it_was() -> None:
    """Texts with quotes, control characters and DEL, odd keys, nested arrays and tables."""
    document = {
        "study": {"name": 'a "b" \\ \n\x01\x7f é', "alpha": 0.05, "seed": 2**62, "flag": True, "odd key": [1, [2.5]]},
        "path": [{"name": "x", "down": {"loss": "1 %", "list": [{"a": 1}, {"b": [False]}]}}, {"name": "y"}],
    }
    assert tomllib.loads(toml_text(document)) == document


def test_each_build_is_compared_with_the_other_of_its_own_arm(tmp_path: Path) -> None:
    """Arms that a list of servers makes have baselines of their own, and no build of h3 is compared with one of h2."""
    own = 'server = { name = "caddy", prefix = "build" }'
    old = build(tmp_path / "a", SPEC.replace(own, 'server = ["nginx", "caddy"]'))
    file = tmp_path / "both.toml"
    file.write_text(interleave(old, old, [arm.name for arm in old.study.measured_arms], None))
    study = read_study(file)
    assert len(study.measured_arms) > 4
    for each in study.measured_arms:
        assert study.baseline_of(each) == each.name.removesuffix("-new").removesuffix("-old") + "-old"
