# SPDX-License-Identifier: Apache-2.0
"""A workload that changes the client's address, as specs say it."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.spec.address_change import AddressChange
from quiclab.units import ByteCount, Duration

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


def test_who_shares_a_link_stays_there(tmp_path: pathlib.Path) -> None:
    """A competition counts flows by their addresses."""
    lines = _lines('after = "1 KB"') + '\ncompetition = { background = [{ kind = "udp", rate = "1 Mbit/s" }] }'
    assert "who shares a link stays there" in only_problem(tmp_path, changed((SIZE, lines)))


def test_several_objects_stay_where_they_are(tmp_path: pathlib.Path) -> None:
    """It is for one object."""
    lines = _lines('after = "1 KB"') + "\ncount = 2"
    assert "under one object" in only_problem(tmp_path, changed((SIZE, lines)))
