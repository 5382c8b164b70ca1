# SPDX-License-Identifier: Apache-2.0
"""Addresses that no packet of a study can meet are told before it runs."""

from __future__ import annotations

import pathlib

from specs import SMALL, changed, study_of, with_path

from quiclab.plan.unmet_addresses import address_warnings
from quiclab.study.preflight import foreseen


def warnings(folder: pathlib.Path, lines: str, *replacements: tuple[str, str]) -> list[str]:
    """What is said of the small study with these lines in its path."""
    text = with_path(lines)
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return address_warnings(study_of(folder, text))


def test_each_arm_may_have_addresses_of_its_own(tmp_path: pathlib.Path) -> None:
    """Where both transports are used, either may be addressed."""
    assert warnings(tmp_path, "drop = {initial = [1], syn = [1], large = [3]}") == []
    assert address_warnings(study_of(tmp_path, SMALL)) == []


def test_quic_needs_an_arm_that_speaks_it(tmp_path: pathlib.Path) -> None:
    """The sentence names the path, what is addressed, and what to do; it is among those before a run."""
    lines = 'drop = {initial = [1], segment = [2]}\n[path.down]\nloss = "1 %"\nspare = {handshake = [1]}'
    alone = ('protocol = "h3"', 'protocol = "h2"\ntcp = {congestion_control = "cubic"}')
    (told,) = warnings(tmp_path, lines, alone)
    assert told == (
        "Path plain addresses packets that no arm sends: initial, handshake. Add an arm over h3, or address large, "
        "byte or packet."
    )
    text = with_path("drop = {initial = [1]}").replace(*alone)
    assert any("no arm sends: initial" in each for each in foreseen(study_of(tmp_path, text)))


def test_tcp_needs_an_arm_that_speaks_it(tmp_path: pathlib.Path) -> None:
    """Only with QUIC in all arms."""
    own = ('protocol = "h2"', 'protocol = "h3"')
    (told,) = warnings(tmp_path, "drop = {syn = [1], byte = [5]}", own)
    assert "no arm sends: syn. Add an arm over h2" in told


def test_behind_a_proxy_there_may_be_any_transport(tmp_path: pathlib.Path) -> None:
    """So nothing is said there."""
    text = changed(
        ('delay = "10 ms"\n', 'delay = "10 ms"\ndrop = {initial = [1]}\n'),
        ('protocol = "h3"', 'protocol = "h2"\nproxy = "haproxy"\ntcp = {congestion_control = "cubic"}'),
    )
    assert address_warnings(study_of(tmp_path, text)) == []
