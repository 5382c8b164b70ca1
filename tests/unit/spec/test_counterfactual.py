# SPDX-License-Identifier: Apache-2.0
"""The spec of a confirming study: one cell, with arms and paths that differ in one key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quiclab.model.errors import SpecError
from quiclab.model.study import Bernoulli, Study
from quiclab.model.units import ByteCount
from quiclab.spec.counterfactual import Change, PathVariant, Value, Variant, confirming_spec, present_value, role_of
from quiclab.spec.read import read_study
from quiclab.spec.two_builds import Build

SPEC = """\
[study]
name = "s"
seed = 1
blocks = 3
matters = "5 %"

[limits]
trial = "20 s"

[[workload]]
name = "1MB"
size = "1 MB"

[[workload]]
name = "up"
size = "1 MB"
direction = "upload"

[[path]]
name = "lossy"
rate = "10 Mbit/s"
delay = "10 ms"
loss = "1 %"
down = {loss = "2 %", schedule = [{at = "1 s", loss = "3 %"}, {at = "2 s", rate = "5 Mbit/s", loss = "1 %"}]}

[[path]]
name = "profile"
profile = "lte"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "nginx"
tcp = {congestion_control = "cubic", server_congestion_control = "bbr", initial_window = 10}

[[arm]]
name = "h3"
protocol = "h3"
client = {name = "quiche", stream_window = "64 KiB"}
server = {name = "nginx", cpu = "50 %"}

[[arm]]
name = "proxied"
protocol = "h3"
client = "quiche"
proxy = "nginx"
server = "nginx"
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The spec above."""
    file = tmp_path_factory.mktemp("spec") / "spec.toml"
    file.write_text(SPEC)
    return Build(file, read_study(file))


def derived(build: Build, tmp_path: Path, changes: tuple[Change, ...], arm: str = "h3", path: str = "lossy") -> Study:
    """The confirming study of a change, read back."""
    of_path = bool(changes) and changes[0].is_of_path
    text = confirming_spec(
        build.document(),
        build.study,
        cell=("1MB", path),
        arms=[Variant("replay", arm), Variant("without", arm, () if of_path else changes)],
        paths=[PathVariant(path), *([PathVariant("other", changes)] if of_path else [])],
        own={"name": "c", "seed": 7, "blocks": 8, "baseline": "replay"},
    )
    file = tmp_path / "derived.toml"
    file.write_text(text)
    return read_study(file)


def test_only_the_cell_is_left_and_the_rest_stays(build: Build, tmp_path: Path) -> None:
    study = derived(build, tmp_path, (Change("sender", "stream_window", "1 MiB"),))
    assert [each.name for each in study.workloads] == ["1MB"]
    assert [each.name for each in study.paths] == ["lossy"]
    assert (study.seed, study.blocks, study.aa.blocks) == (7, 8, 0)
    assert study.limits == build.study.limits
    assert study.matters == build.study.matters
    replay, without = study.arms
    before = next(arm for arm in build.study.arms if arm.name == "h3")
    assert (replay.client, replay.server, replay.tcp) == (before.client, before.server, before.tcp)
    assert without.server.knobs.stream_window == ByteCount(2**20)
    assert without.server.cpu == before.server.cpu
    assert without.client == before.client


def test_a_cell_of_a_grid_is_confirmed_like_any_other(tmp_path: Path) -> None:
    """Its path is one of those that the lists stand for."""
    file = tmp_path / "spec.toml"
    file.write_text(
        SPEC.replace('rate = "10 Mbit/s"\ndelay = "10 ms"', 'rate = "10 Mbit/s"\ndelay = ["10 ms", "30 ms"]')
    )
    study = read_study(file)
    assert derived(Build(file, study), tmp_path, (), path="lossy-30ms").paths == (study.paths[1],)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        (Change("receiver", "stream_window", 4096), lambda arm: arm.client.knobs.stream_window == ByteCount(4096)),
        (Change("client", "initial_window", 64), lambda arm: arm.client.knobs.initial_window == 64),
        (Change("sender", "cpu", "none"), lambda arm: arm.server.cpu is None),
        (Change("certificate", "intermediates", 2), lambda arm: arm.certificate.intermediates == 2),
        (Change("sender", "gso", value=True), lambda arm: arm.server.knobs.gso is True),
        (Change("client", "groups", ("x25519",)), lambda arm: arm.client.knobs.groups == ("x25519",)),
    ],
)
def test_a_change_reaches_its_key(build: Build, tmp_path: Path, change: Change, read: Any) -> None:
    replay, without = derived(build, tmp_path, (change,)).arms
    assert read(without)
    assert not read(replay)


def test_the_setting_of_one_end_does_not_override_the_change(build: Build, tmp_path: Path) -> None:
    _, without = derived(build, tmp_path, (Change("tcp", "congestion_control", "reno"),), arm="h2").arms
    assert [without.tcp.congestion_control_of(role) for role in ("client", "server")] == ["reno", "reno"]  # type: ignore[arg-type]


def test_an_effect_is_gone_from_the_path_in_both_directions_and_for_all_time(build: Build, tmp_path: Path) -> None:
    before, after = derived(build, tmp_path, (Change("path", "loss", "none"),)).paths
    assert isinstance(before.down.loss, Bernoulli)
    assert (after.up.loss, after.down.loss) == (None, None)
    assert [change.loss for change in after.down.schedule] == [None]
    assert after.down.schedule[0].rate is not None
    assert after.base_rtt == before.base_rtt


def test_an_effect_of_a_profile_can_be_changed(build: Build, tmp_path: Path) -> None:
    before, after = derived(build, tmp_path, (Change("path", "queue", "7 packets"),), path="profile").paths
    assert before.down.queue != after.down.queue
    assert after.up.queue.packets == after.down.queue.packets == 7
    assert (after.down.rate, after.down.delay, after.down.trace) == (
        before.down.rate,
        before.down.delay,
        before.down.trace,
    )


def test_sender_and_receiver_follow_the_bodies_and_the_proxy(build: Build) -> None:
    download, upload = build.study.workloads
    arms = {arm.name: arm for arm in build.study.arms}
    assert [role_of("sender", arms["h3"], each) for each in (download, upload)] == ["server", "client"]
    assert [role_of("receiver", arms["h3"], each) for each in (download, upload)] == ["client", "server"]
    assert role_of("sender", arms["proxied"], download) == "proxy"
    assert role_of("proxy", arms["h3"], download) is None


def test_a_program_that_is_not_there_is_an_error(build: Build, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="the arm h3 has no proxy"):
        derived(build, tmp_path, (Change("proxy", "cpu", "50 %"),))


@pytest.mark.parametrize(
    ("arm", "table", "key", "value"),
    [
        ("h2", "tcp", "initial_window", 10),
        ("h2", "tcp", "receive_buffer", ("4 KiB", "128 KiB", "6 MiB")),
        ("h2", "certificate", "key", "ecdsa-p256"),
        ("h3", "receiver", "stream_window", "64 KiB"),
        ("h3", "sender", "stream_window", None),
        ("h3", "sender", "cpu", "50 %"),
    ],
)
def test_the_present_value_is_that_of_the_spec_or_of_a_default(
    build: Build, tmp_path: Path, arm: str, table: str, key: str, value: Value | None
) -> None:
    of = next(each for each in build.study.arms if each.name == arm)
    found = present_value(of, build.study.workloads[0], table, key)
    assert found == value
    if found is not None:  # set explicitly, it is the same arm
        replay, sham = derived(build, tmp_path, (Change(table, key, found),), arm=arm).arms
        assert (replay.client, replay.server, replay.tcp, replay.certificate) == (
            sham.client,
            sham.server,
            sham.tcp,
            sham.certificate,
        )
