# SPDX-License-Identifier: Apache-2.0
"""Results of papers, read from headlines.toml: typed, and wrong ones refused with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.spec.headlines import Counterfactual, StandIn, authors_word, read_headlines

_FILE = """\
[[paper]]
key = "Y"
name = "Yu and Benson 2021"
title = "Production QUIC"
conditions = "medians"

[[headline]]
id = "Y1"
where = "7.1, Figure 4a"
text = "H3 is better."
claims = ["cell:first", "other:second", "cell:third"]
counterfactual = [{ cell = "other", what = "more of it", without = "h3", with = "h3-more" }]
stands_in = [{ server = "Envoy", claims = ["cell:first"] }, { server = "Caddy", claims = ["other:second"] }]
"""


def test_claims_and_counterfactuals_are_records(tmp_path: Path) -> None:
    """A claim is a cell and an id; `with` is a key of the file, and no name that Python takes."""
    file = tmp_path / "headlines.toml"
    file.write_text(_FILE)
    found = read_headlines(file)
    (headline,) = found.for_paper(found.papers[0])
    assert headline.claims == (("cell", "first"), ("other", "second"), ("cell", "third"))
    assert headline.studies == ("cell", "other")
    assert headline.counterfactuals == (Counterfactual("other", "more of it", "h3", "h3-more"),)
    assert headline.stands_in == (StandIn("Envoy", (("cell", "first"),)), StandIn("Caddy", (("other", "second"),)))


def test_limits_are_told_in_sentences(tmp_path: Path) -> None:
    """Each key that keeps a result from being reproduced wholly has its own."""
    file = tmp_path / "headlines.toml"
    file.write_text(_FILE + 'planted = true\nbut = "one page"\nread_again = "2 %, differs"\n')
    (headline,) = read_headlines(file).headlines
    assert headline.limits == (
        "Its fault is put into another program, which shows what such a fault does.",
        "The paper's server is not to be had as it was; it is held against Envoy and Caddy.",
        "Less than the paper says: one page.",
        "Read or set up again after a first run: 2 %, differs.",
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('id = "Y1"', 'id = "Y1"\nwho = "me"', "line 9: headline[#1].who: there is no such key here; "),
        ('"cell:first"', '"cell"', 'line 11: headline[#1].claims[#1]: "cell" is a string; write CELL:ID'),
        ('"other:second"', "2", "line 11: headline[#1].claims[#2]: 2 is a whole number; write CELL:ID"),
        ('what = "more of it", ', "", 'line 12: headline[#1].counterfactual[#1]: "what" is missing'),
        ('text = "H3 is better."\n', "", 'line 7: headline[#1]: "text" is missing'),
        ('server = "Envoy", ', "", 'line 13: headline[#1].stands_in[#1]: "server" is missing'),
        ("[[paper]]", "[paper]", "line 1: paper: a table stands here; write [[paper]] for each paper"),
        ("[[headline]]", "[[results]]", 'line 1: "headline" is missing'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    """A mistake in the file is told as one in a spec is."""
    file = tmp_path / "headlines.toml"
    file.write_text(_FILE.replace(old, new))
    with pytest.raises(SpecError) as caught:
        read_headlines(file)
    assert any(each.startswith(told) for each in caught.value.problems), caught.value.problems


def test_the_papers_have_words_for_the_command_line() -> None:
    """Each its own, made of its authors, whatever else stands in its name."""
    words = [paper.word for paper in read_headlines().papers]
    assert words == ["yu-benson", "liu", "kakhki", "benoit-holland", "qin"]
    assert authors_word("Yu-Benson") == authors_word("Yu & Benson, 2021") == "yu-benson"
