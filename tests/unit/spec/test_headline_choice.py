# SPDX-License-Identifier: Apache-2.0
"""Results that the words of a user name, in the file that comes with quiclab."""

from __future__ import annotations

import pytest

from quiclab.model.errors import SpecError
from quiclab.spec.headline_choice import choose, paper_places
from quiclab.spec.headlines import read_headlines


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("7.1.2, Figures 4a and 5", ["section 7.1.2", "Figure 4a", "Figure 5"]),
        ("7.2.1 and 7, Figures 10 to 12", ["section 7.2.1", "section 7", "Figure 10", "Figure 11", "Figure 12"]),
        ("5.2, Figure 14 and Table 5", ["section 5.2", "Figure 14", "Table 5"]),
        ("III-D, Table I", ["section III-D", "Table I"]),
    ],
)  # fmt: skip
def test_places_are_read_as_papers_print_them(text: str, places: list[str]) -> None:
    """A label is of the kind that was named last; a range has all that lies in it."""
    assert [str(each) for each in paper_places(text)] == places


def test_every_result_is_found_by_each_of_its_places() -> None:
    """Each id names its result, too; nothing in the file is out of reach."""
    known = read_headlines()
    for paper in known.papers:
        for headline in known.for_paper(paper):
            places = paper_places(headline.where)
            assert places
            for word in (headline.id, headline.id.lower(), *map(str, places)):
                assert headline in choose(known, paper.word, word).headlines, (headline.id, word)


@pytest.mark.parametrize(
    ("paper", "result", "ids"),
    [
        ("yu-benson", "4a", ["Y1", "Y2", "Y3"]),
        ("yu-benson", "fig 4a", ["Y1", "Y2", "Y3"]),
        ("yu-benson", "Fig. 4a", ["Y1", "Y2", "Y3"]),
        ("yu-benson", "fig4b", ["Y5a", "Y5b"]),
        ("yu-benson", "figure 4", ["Y1", "Y2", "Y3", "Y5a", "Y5b"]),
        ("yu-benson", "11", ["Y6"]),
        ("yu-benson", "Figures 6 and 8", ["Y4", "Y7"]),
        ("yu-benson", "y5", ["Y5a", "Y5b"]),
        ("yu-benson", "Y1", ["Y1"]),
        ("yu-benson", "7.1.3", ["Y5a", "Y5b"]),
        ("yu-benson", "§7.2", ["Y6", "Y7"]),
        ("yu-benson", "1", []),
        ("Yu and Benson 2021", "section 7.1.1", ["Y1", "Y2"]),
        ("kakhki", "table 5", ["K11"]),
        ("kakhki", "5", ["K11"]),
        ("kakhki", "section 5", None),
        ("qin", "table i", ["Q4"]),
        ("qin", "III.C", ["Q8", "Q9"]),
        ("l7a", "", ["L7a"]),
        ("liu", "", None),
    ],
)
def test_words_of_all_kinds_name_results(paper: str, result: str, ids: list[str] | None) -> None:
    """A label alone is an id, else of a figure, a table or a section; None stands for all of the paper."""
    known = read_headlines()
    if ids == []:
        with pytest.raises(SpecError):
            choose(known, paper, result)
        return
    choice = choose(known, paper, result)
    assert [each.id for each in choice.headlines] == (ids or [each.id for each in known.for_paper(choice.paper)])


@pytest.mark.parametrize(
    ("paper", "result", "message", "hint"),
    [
        ("yu-bensen", "", "there is no paper called 'yu-bensen'", "did you mean yu-benson?"),
        ("nobody", "", "there is no paper called 'nobody'", "there are yu-benson, liu, kakhki, benoit-holland, qin"),
        (
            "yu-benson",
            "fig 4d",
            "yu-benson has no result 'fig 4d'",
            "near: Figure 4a, Figure 4b; `quiclab paper yu-benson --list`",
        ),
        ("yu-benson", "Y11", "yu-benson has no result 'Y11'", "near: Y1"),
        ("liu", "Y1", "liu has no result 'Y1'", "Y1 is a result of yu-benson"),
        ("yu-benson", "fig", "yu-benson has no result 'fig'", "`quiclab paper yu-benson --list` has all of them"),
        ("yu-benson", "4a and 99", "yu-benson has no result '4a and 99'", "--list"),
    ],
)
def test_an_unknown_name_is_told_with_what_is_near(paper: str, result: str, message: str, hint: str) -> None:
    """One error, whichever of the two words is wrong."""
    with pytest.raises(SpecError) as caught:
        choose(read_headlines(), paper, result)
    assert caught.value.message == message
    assert hint in caught.value.hint
