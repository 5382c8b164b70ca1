# SPDX-License-Identifier: Apache-2.0
"""A workload that changes the client's address, as specs say it."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.model.address_change import AddressChange
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.link import link_config

SIZE = 'size = "100 KB"'


def _lines(change: str) -> str:
    return f"{SIZE}\naddress_change = {{ {change} }}"


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ('after = "40 KB"', AddressChange(after=ByteCount(40_000))),
        ('at = "2 s", notice = "reset"', AddressChange(at=Duration(2 * 10**9), notice="reset")),
        (
            'after = "0 B", notice = "timeout", timeout = "5 s"',
            AddressChange(ByteCount(0), notice="timeout", timeout=Duration(5 * 10**9)),
        ),
    ],
)
def test_when_and_how_it_is_learnt_of(lines: str, read: AddressChange, tmp_path: pathlib.Path) -> None:
    """Told at once by default; a stable address is no group at all."""
    assert study_of(tmp_path, changed((SIZE, _lines(lines)))).workloads[0].address_change == read
    assert study_of(tmp_path, changed()).workloads[0].address_change is None


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('notice = "told"', 'write either "after" or "at"'),
        ('after = "1 KB", at = "1 s"', 'write either "after" or "at"'),
        ('after = "1 KB", notice = "timeout"', "need each other"),
        ('after = "1 KB", timeout = "1 s"', "need each other"),
        ('after = "1 KB", notice = "guessed"', '"guessed" is not known here'),
    ],
)
def test_what_does_not_go_together(lines: str, words: str, tmp_path: pathlib.Path) -> None:
    """One problem, with the line and what to write."""
    assert words in only_problem(tmp_path, changed((SIZE, _lines(lines))))


def test_flows_that_share_a_link_stay_on_it(tmp_path: pathlib.Path) -> None:
    """A competition counts flows by their addresses."""
    lines = _lines('after = "1 KB"') + '\ncompetition = { background = [{ kind = "udp", rate = "1 Mbit/s" }] }'
    assert "flows that share a link stay on it" in only_problem(tmp_path, changed((SIZE, lines)))


def test_several_objects_stay_where_they_are(tmp_path: pathlib.Path) -> None:
    """It is for one object."""
    lines = _lines('after = "1 KB"') + "\ncount = 2"
    assert "under one object" in only_problem(tmp_path, changed((SIZE, lines)))


def test_the_second_network_does_what_the_first_does_unless_it_is_described(tmp_path: pathlib.Path) -> None:
    """Draws are of its own in either case; a queue in BDP counts with the round trip of the whole new path."""
    study = study_of(tmp_path, changed((SIZE, _lines('after = "40 KB"'))))
    path, change = study.paths[0], study.workloads[0].address_change
    assert change is not None
    after = change.path_after(path)
    assert (after.up, after.down, after.more_links) == (path.up, path.down, path.more_links)
    assert after.link_name == f"after {path.link_name}"
    own = 'after = "40 KB", link = { rate = "2 Mbit/s", delay = "100 ms", down = { loss = "1 %" } }'
    study = study_of(tmp_path, changed((SIZE, _lines(own))))
    change = study.workloads[0].address_change
    assert change is not None
    first, second = (
        link_config(path, 1, change.path_after(path)),
        link_config(path, 1, change.path_after(path))["more_links"][-1],
    )
    assert first["link"] == path.link_name
    assert second["link"] == f"after {path.link_name}"
    assert second["down"]["rate_bit_per_s"] == 2_000_000
    assert second["down"]["loss"] == {"model": "bernoulli", "probability": 0.01}
    assert (second["up"]["loss"], second["up"]["delay_ns"]) == (None, 100_000_000)
    assert second["up"]["queue"]["bytes"] == 50_000


def test_a_profile_describes_the_second_network(tmp_path: pathlib.Path) -> None:
    """Keys beside it override; a name it cannot have, and what is wrong in it is told."""
    study = study_of(tmp_path, changed((SIZE, _lines('after = "1 KB", link = { profile = "lte", rate = "1 Mbit/s" }'))))
    change = study.workloads[0].address_change
    assert change is not None
    assert change.link is not None
    assert change.link.down.rate == Bitrate(1_000_000)
    assert change.link.down.delay.ns > 0
    for link, words in (
        ('{ name = "x", rate = "1 Mbit/s" }', "name"),
        ('{ queue = "100 packets" }', "needs a"),
        ('{ profile = "ltee" }', "lte"),
    ):
        assert words in only_problem(tmp_path, changed((SIZE, _lines(f'after = "1 KB", link = {link}'))))
