# SPDX-License-Identifier: Apache-2.0
"""Long names in lines: every word of them stays whole."""

from __future__ import annotations

import pytest

from quiclab.model.name_lines import longest_word, name_lines, whole_words


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("h3-nginx-quiche", ["h3-nginx-", "quiche"]),
        ("h3-openlitespeed-curl", ["h3-", "openlitespeed-", "curl"]),
        ("object-100KB/dsl-5mbit", ["object-", "100KB/dsl-", "5mbit"]),
        ("dsl, 5 Mbit/s", ["dsl, 5", "Mbit/s"]),
        ("h3_ngtcp2", ["h3_ngtcp2"]),
        ("-odd--name-", ["-odd--name-"]),
        ("a b-c", ["a b-c"]),
        ("", [""]),
    ],
)
def test_a_name_is_broken_between_its_words_alone(name: str, lines: list[str]) -> None:
    """Ten columns; a word that has more is a line of its own, and no character is lost but the spaces of a break."""
    found = name_lines(name, 10)
    assert found.split("\n") == lines
    assert found.replace("\n", "").replace(" ", "") == name.replace(" ", "")
    assert name_lines(name, 1000) == name


def test_the_longest_word_decides_the_least_width() -> None:
    """A hyphen stays with the word before it."""
    assert longest_word("h3-openlitespeed-curl") == len("openlitespeed-")
    assert longest_word("") == 0


def test_what_a_table_can_break_at_spaces_stays_one_line() -> None:
    """Only a word that would not fit makes lines."""
    assert whole_words("100 ms more RTT", 10) == "100 ms more RTT"
    assert whole_words("dsl-5mbit-0pct, up", 10) == "dsl-5mbit-\n0pct, up"
