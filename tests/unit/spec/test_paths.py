# SPDX-License-Identifier: Apache-2.0
"""A path: its links in a row, the places on it, and what holds for all of it."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, problems_of, study_of, with_path

from quiclab.model.study import Bernoulli, Path
from quiclab.model.units import Bitrate, Duration, Share
from quiclab.spec.link import link_config
from quiclab.spec.path_file import read_path_of


def path_of(folder: pathlib.Path, lines: str) -> Path:
    """The small spec's path with more keys."""
    return study_of(folder, with_path(lines)).paths[0]


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
        ("nat = {}", "a NAT that never forgets a flow changes nothing; write rebind or timeout with a time"),
        ('nat = "2 s"', "write a table"),
        ('nat = {timeout = "1 us"}', "out of range"),
    ],
)
def test_a_wrong_nat_is_told(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """A table, with one time at least."""
    assert words in only_problem(tmp_path, with_path(lines))
