# SPDX-License-Identifier: Apache-2.0
"""A path's two directions: keys for both, overrides for one, defaults, and what does not fit together."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest
from specs import changed, only_problem, problems_of, study_of, with_path

from quiclab.model.study import Addresses, Bernoulli, Path
from quiclab.model.units import Bitrate, ByteCount, Duration, Share
from quiclab.spec.link import link_config
from quiclab.spec.path_file import read_path_of
from quiclab.spec.resolved import resolved_json


def path_of(folder: pathlib.Path, lines: str) -> Path:
    """The small spec's path with more keys."""
    return study_of(folder, with_path(lines)).paths[0]


def test_keys_hold_for_both_directions(tmp_path: pathlib.Path) -> None:
    """Rate, delay and loss apply to each direction, so ACKs are lost too."""
    path = path_of(tmp_path, 'loss = "1 %"')
    assert path.up == path.down
    assert path.up.loss == Bernoulli(Share(0.01))
    assert path.base_rtt == Duration(20_000_000)


def test_a_direction_overrides_key_by_key(tmp_path: pathlib.Path) -> None:
    """What [path.up] does not name stays as it is for both."""
    path = path_of(tmp_path, 'loss = "1 %"\n[path.up]\nrate = "1 Mbit/s"\nloss = "0 %"\n')
    assert (path.up.rate, path.down.rate) == (Bitrate(10**6), Bitrate(10**7))
    assert (path.up.loss, path.down.loss) == (Bernoulli(Share(0.0)), Bernoulli(Share(0.01)))
    assert path.up.delay == path.down.delay


@pytest.mark.parametrize(
    ("lines", "edge"),
    [
        ("", Bitrate(10**9)),
        ('edge = "none"', None),
        ('edge = "100 Mbit/s"', Bitrate(10**8)),
        ('schedule = [{at = "1 s", rate = "1 Gbit/s"}]', Bitrate(10**10)),
    ],
)
def test_the_access_rate_is_at_least_ten_times_the_bottleneck(
    tmp_path: pathlib.Path, lines: str, edge: Bitrate | None
) -> None:
    """1 Gbit/s, or ten times the fastest rate; the spec may set it or take it away."""
    assert path_of(tmp_path, lines).down.edge == edge


def test_without_a_rate_there_is_no_access_rate(tmp_path: pathlib.Path) -> None:
    """Nothing is limited that the spec does not limit."""
    path = study_of(tmp_path, changed(('rate = "10 Mbit/s"\n', ""))).paths[0]
    assert (path.down.rate, path.down.edge) == (None, None)


def test_a_queue_without_a_rate_is_told(tmp_path: pathlib.Path) -> None:
    """It would never hold a packet."""
    text = changed(('rate = "10 Mbit/s"\n', 'queue = "64 KB"\n'))
    assert 'needs a "rate"' in only_problem(tmp_path, text)


def test_a_trace_is_found_beside_the_spec_and_stands_for_the_rate(tmp_path: pathlib.Path) -> None:
    """In a direction of its own it replaces the path's rate; the access rate follows its mean."""
    (tmp_path / "lte.trace").write_text("".join(f"{ms}\n" for ms in range(1, 101)))
    path = path_of(tmp_path, '[path.down]\ntrace = "lte.trace"')
    assert path.down.trace == str(tmp_path / "lte.trace")
    assert (path.down.rate, path.up.rate) == (None, Bitrate(10**7))
    assert path.down.edge == Bitrate(10**9)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('trace = "lte.trace"', '"trace" replaces "rate"'),
        ('[path.up]\ntrace = "lte.trace"\nrate = "1 Mbit/s"', '"trace" replaces "rate"'),
        ('[path.up]\ntrace = "bad.trace"', "line 2 is not a whole number"),
        (
            '[path.up]\ntrace = "lte.trace"\nschedule = [{at = "1 s", rate = "1 Mbit/s"}]',
            '"rate" cannot change where a "trace" gives it',
        ),
    ],
)
def test_a_trace_does_not_go_with_a_rate(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """Two rates in one place are one too many, and a broken trace is told with its line."""
    (tmp_path / "lte.trace").write_text("1\n2\n")
    (tmp_path / "bad.trace").write_text("1\nx\n")
    assert words in only_problem(tmp_path, with_path(lines))


def test_a_problem_of_both_directions_is_told_once(tmp_path: pathlib.Path) -> None:
    """The key stands in one line, so there is one thing to mend."""
    assert "no room" in only_problem(tmp_path, with_path('queue = "100 B"'))


def test_problems_of_a_direction_name_it(tmp_path: pathlib.Path) -> None:
    """`path[plain].up.rate` is not `path[plain].rate`."""
    problems = problems_of(tmp_path, with_path('[path.up]\nrate = "x"\n[path.down]\ndelay = 5'))
    assert "line 15: path[plain].up.rate:" in problems[0]
    assert "line 17: path[plain].down.delay:" in problems[1]


def test_a_queue_counts_ip_bytes_and_its_time_the_framing_too(tmp_path: pathlib.Path) -> None:
    """Framing takes time, and no room, as in the link."""
    assert path_of(tmp_path, 'queue = "1500 B"\noverhead = "38 B"').down.queue.bytes == ByteCount(1500)
    assert "1.5 KB" in only_problem(tmp_path, with_path('queue = "1499 B"\noverhead = "38 B"'))
    short = 'queue = "1.22 ms"\noverhead = "38 B"'
    assert "1.538 KB" in only_problem(tmp_path, with_path(short))
    assert path_of(tmp_path, 'queue = "1400 B"\nmtu = 1400').mtu == 1400


def test_ipv6_is_a_choice(tmp_path: pathlib.Path) -> None:
    """4 by default; 5 does not exist."""
    assert path_of(tmp_path, "ip_version = 6").ip_version == 6
    assert path_of(tmp_path, "").ip_version == 4
    assert "4 or 6" in only_problem(tmp_path, with_path("ip_version = 5"))
    assert "4 or 6" in only_problem(tmp_path, with_path("ip_version = true"))


_TWO_LINKS = """
[[path.link]]
name = "access"
rate = "10 Mbit/s"
delay = "10 ms"
loss = "1 %"
[[path.link]]
name = "core"
rate = "20 Mbit/s"
delay = "5 ms"
[path.link.up]
rate = "2 Mbit/s"
"""
_ONE = 'rate = "10 Mbit/s"\ndelay = "10 ms"\n'


def test_several_links_stand_in_a_row(tmp_path: pathlib.Path) -> None:
    """Each has keys of its own; the base RTT is that of all, and so counts in every queue."""
    path = study_of(tmp_path, changed((_ONE, _TWO_LINKS))).paths[0]
    assert [link.name for link in path.links] == ["access", "core"]
    assert path.base_rtt == Duration(30_000_000)
    assert [link.up.rate for link in path.links] == [Bitrate(10**7), Bitrate(2 * 10**6)]
    assert [link.down.loss for link in path.links] == [Bernoulli(Share(0.01)), None]
    config = link_config(path, 1)
    assert (config["link"], config["more_links"][0]["link"]) == ("access", "core")
    assert config["more_links"][0]["down"]["queue"]["bytes"] == 75_000
    assert "more_links" not in link_config(study_of(tmp_path).paths[0], 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_ONE + _TWO_LINKS, "where a path has [[path.link]], this key belongs to each of those links"),
        (_TWO_LINKS.replace("core", "access"), '"access" is the name of another link of this path'),
        (_TWO_LINKS.replace('name = "core"', ""), '"name" is missing'),
        (_TWO_LINKS.replace('"5 ms"', "5"), "path[plain].link[core].delay"),
        ("link = 3\n", "one table [[path.link]] for each link"),
    ],
)
def test_faults_of_links_are_named(tmp_path: pathlib.Path, text: str, problem: str) -> None:
    """With the link's name."""
    problems = problems_of(tmp_path, changed((_ONE, text)))
    assert any(problem in each for each in problems), problems


_PROXIED = 'server = "caddy"\nproxy = "nginx"\nproxy_at = "{}"\ntcp'


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("acces", 'has no node behind a link "acces"; did you mean "access"?'),
        ("core", '"core" is the last link of path "plain"; write "server"'),
        ("client", "a proxy near the client stands behind a short first link"),
    ],
)
def test_a_proxy_stands_where_every_path_has_a_node(tmp_path: pathlib.Path, place: str, problem: str) -> None:
    """Behind any link but the last; all arms run over all paths."""
    arm = ('server = "caddy"\ntcp', _PROXIED.format(place))
    assert problem in only_problem(tmp_path, changed((_ONE, _TWO_LINKS), arm))
    right = changed((_ONE, _TWO_LINKS), ('server = "caddy"\ntcp', _PROXIED.format("access")))
    assert study_of(tmp_path, right).arms[0].proxy_at == "access"
    one_link = changed(('server = "caddy"\ntcp', _PROXIED.format("access")))
    assert "has one link only" in only_problem(tmp_path, one_link)


def test_congestion_control_by_place(tmp_path: pathlib.Path) -> None:
    """Each role's own, else that of all; a proxy's needs a proxy."""
    own = 'tcp = {congestion_control = "reno", client_congestion_control = "cubic"}'
    tcp = study_of(tmp_path, changed(('tcp = {congestion_control = "reno"}', own))).arms[0].tcp
    assert [tcp.congestion_control_of(role) for role in ("client", "server")] == ["cubic", "reno"]
    lost = own.replace("client_", "proxy_")
    assert "there is no proxy" in only_problem(tmp_path, changed(('tcp = {congestion_control = "reno"}', lost)))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('[path.up]\nrtt = "40 ms"', "write delay, which is one way in each direction: half of the round trip"),
        ('round_trip = "40 ms"', "write rtt"),
        ('bandwidth = "1 Mbit/s"', "write rate"),
        ('[path.up]\npacket_loss = "1 %"', "write loss"),
        ('delai = "1 ms"', 'did you mean "delay"?'),
    ],
)
def test_names_that_other_tools_have_lead_to_ours(tmp_path: pathlib.Path, lines: str, told: str) -> None:
    """In place of a list of all keys."""
    assert only_problem(tmp_path, with_path(lines)).endswith(f"there is no such key here; {told}")


def config(folder: pathlib.Path, lines: str) -> dict[str, Any]:
    """The link's configuration of a path with these lines."""
    return link_config(study_of(folder, with_path(lines)).paths[0], 1)


def test_the_link_is_told_what_is_not_the_default(tmp_path: pathlib.Path) -> None:
    """Directions without such keys stay as short as they were."""
    lines = 'loss = "1 %"\nloss_by = "class"\n[path.down]\ndrop = {initial = [2], byte = [7]}\nspare = {packet = [0]}'
    both = config(tmp_path, lines)
    assert both["up"]["loss_by"] == both["down"]["loss_by"] == "class"
    assert both["down"]["drop"] == {"byte": [7], "initial": [2]}
    assert both["down"]["spare"] == {"packet": [0]}
    assert "drop" not in both["up"]
    assert not {"loss_by", "drop", "spare"} & set(config(tmp_path, 'loss = "1 %"')["up"])


def test_every_kind_of_address_has_a_key(tmp_path: pathlib.Path) -> None:
    """They reach the link and resolved.json under the same name."""
    kinds = [field.name for field in dataclasses.fields(Addresses)]
    drop = ", ".join(f"{kind} = [{number}]" for number, kind in enumerate(kinds, 1))
    study = study_of(tmp_path, with_path(f"drop = {{{drop}}}"))
    expected = {kind: [number] for number, kind in enumerate(kinds, 1)}
    assert link_config(study.paths[0], 1)["up"]["drop"] == expected
    assert resolved_json(study)["paths"][0]["up"]["drop"] == expected
    assert str(study.paths[0].up.drop) == ", ".join(f"{kind} {number}" for number, kind in enumerate(kinds, 1))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('loss = "1 %"\nloss_by = "packet"', '"packet" is not known here; did you mean "super-packet"?'),
        ('loss_by = "class"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('loss = [1]\nloss_by = "bytes"', 'no loss is drawn by chance; write a "loss" or leave "loss_by" out'),
        ('[path.up]\nloss_by = "class"\n[path.down]\nloss = "1 %"', "up.loss_by: no loss is drawn by chance up;"),
        ("spare = {syn = [1]}", "nothing is lost that could be spared"),
        ("drop = {}", "no packet is addressed; write one of packet, large, byte,"),
        ("drop = {initials = [1]}", 'there is no such key here; did you mean "initial"?'),
        ("drop = {initial = [0]}", "0 is out of range; write a whole number from 1 to"),
        ("drop = {initial = []}", "the array has 0 elements; write an array of numbers from 1"),
        ("drop = {initial = 1}", "1 is a whole number; write an array of numbers from 1"),
        ("drop = {byte = [5, 5]}", "byte 5 is addressed twice; write it once"),
        ("drop = 3", "3 is a whole number; write a table"),
        (
            'loss = "1 %"\nspare = {large = [2]}\n[path.down]\ndrop = {large = [2]}',
            "down.drop: large 2 is to be dropped and to be spared down; choose one",
        ),
    ],
)
def test_nonsense_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """In one line that names the place."""
    (problem,) = problems_of(tmp_path, with_path(lines))
    assert words in problem


@pytest.mark.parametrize(
    "lines",
    [
        'loss = "1 %"',
        'jitter = {distribution = "normal", scale = "5 ms", mode = "reorder"}',
        'reorder = {probability = "1 %", extra_delay = "5 ms"}',
        'duplicate = "1 %"',
    ],
)
def test_super_packets_share_each_draw(lines: str, tmp_path: pathlib.Path) -> None:
    """Linux's netem draws jitter, reordering and duplication for a whole buffer too."""
    assert config(tmp_path, f'{lines}\nloss_by = "super-packet"')["down"]["loss_by"] == "super-packet"


def test_a_key_for_both_directions_needs_one_that_loses(tmp_path: pathlib.Path) -> None:
    """A path says once how its losses are drawn, though only one direction has any, or gets them later."""
    for lines in (
        'loss_by = "class"\n[path.down]\nloss = "1 %"',
        'loss_by = "class"\nschedule = [{at = "1 s", loss = "1 %"}]',
    ):
        assert config(tmp_path, lines)["down"]["loss_by"] == "class"


@pytest.mark.parametrize(
    ("lines", "told", "words"),
    [
        ('nat = {rebind = "2 s"}', {"rebind_ns": 2 * 10**9}, "NAT forgets flows at 2 s"),
        ('nat = {timeout = "30 s"}', {"timeout_ns": 30 * 10**9}, "NAT forgets flows after 30 s of silence"),
    ],
)
def test_a_network_may_forget_ports(tmp_path: pathlib.Path, lines: str, told: dict[str, int], words: str) -> None:
    """The key is one of the path's, or of one of several links."""
    path = study_of(tmp_path, with_path(lines)).paths[0]
    assert link_config(path, 1)["nat"] == told
    assert [str(link.nat) for link in path.links] == [words]
    links = f'[[path]]\nname = "two"\n[[path.link]]\nname = "a"\n[[path.link]]\nname = "b"\n{lines}\n'
    (tmp_path / "two.toml").write_text(links)
    path, _ = read_path_of(str(tmp_path / "two.toml"))
    config = link_config(path, 1)
    assert "nat" not in config
    assert config["more_links"][0]["nat"] == told


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("nat = {}", "nothing is ever forgotten here; write rebind or timeout with a time"),
        ('nat = "2 s"', "write a table"),
        ('nat = {timeout = "1 us"}', "out of range"),
    ],
)
def test_a_wrong_nat_is_told(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """A table, with one time at least."""
    assert words in only_problem(tmp_path, with_path(lines))
