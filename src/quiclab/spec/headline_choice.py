# SPDX-License-Identifier: Apache-2.0
"""The words by which a user names results of a paper: an id, a figure, a table or a section of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quiclab.model.errors import SpecError, nearest
from quiclab.spec.headlines import Headline, Headlines, Paper, authors_word

Kind = Literal["figure", "table", "section"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("fig", "figs", "figure", "figures"), "figure"),
    **dict.fromkeys(("tab", "table", "tables"), "table"),
    **dict.fromkeys(("§", "sec", "section", "sections"), "section"),
}
"""Words that say what the labels behind them are of."""
_SEARCHED: tuple[Kind, ...] = ("figure", "table", "section")
"""Order in which a label without such a word is looked for: `5` is Figure 5 before it is section 5."""
_MOST_NEAR, _LEAST_ALIKE = 4, 0.5


@dataclass(frozen=True)
class PaperPlace:
    """One place of a paper."""

    kind: Kind | None
    """Kind of the label; None where that stands alone, and may be an id of a headline as well."""
    label: str

    def __str__(self) -> str:
        """Return it as papers print it: `Figure 4a`, `section 7.1.1`."""
        kind = self.kind or ""
        return f"{kind if kind == 'section' else kind.title()} {self.label}".strip()

    def has(self, other: PaperPlace) -> bool:
        """True if another place of its kind is this one or a part of it: Figure 4a of Figure 4, 7.1.1 of 7.1."""
        parts = r"([a-z]+|[.-].+)?" if self.label[-1].isdigit() else r"([.-].+)?"
        found = re.fullmatch(re.escape(self.label) + parts, other.label, re.IGNORECASE)
        return self.kind == other.kind and found is not None


def paper_places(text: str, usual: Kind | None = "section") -> tuple[PaperPlace, ...]:
    """Read places, as in `7.1.2, Figures 4a and 10 to 12`; a label before the first word for its kind is of the `usual`
    one."""
    found: list[PaperPlace] = []
    kind, is_range = usual, False
    for word in re.findall(r"§|[^\W_][\w.-]*", _spaced(text)):
        plain = word.rstrip(".")
        if plain.lower() in _KINDS:
            kind = _KINDS[plain.lower()]
        elif plain.lower() == "to":
            is_range = bool(found)
        elif plain.lower() != "and":
            labels = _between(found[-1].label, plain) if is_range else [plain]
            found += [PaperPlace(kind, label) for label in labels]
            is_range = False
    return tuple(found)


def _spaced(text: str) -> str:
    """The text with a blank between a word for a kind and a label that follows it at once, as in `fig4a`."""
    return re.sub(r"\b(fig|figure|tab|table|sec|section)\.?(?=\d)", r"\1 ", text, flags=re.IGNORECASE)


def _between(first: str, last: str) -> list[str]:
    """Labels after the first one of a range, to its last."""
    return [str(each) for each in range(int(first) + 1, int(last) + 1)] if (first + last).isdecimal() else [last]


@dataclass(frozen=True)
class Choice:
    """Results of a paper that a user asked for."""

    paper: Paper
    headlines: tuple[Headline, ...]

    @property
    def studies(self) -> tuple[str, ...]:
        """Cells of their claims, each once, in the order of the results."""
        return tuple(dict.fromkeys(study for each in self.headlines for study in each.studies))

    def claims_in(self, study: str) -> frozenset[str]:
        """Ids of their claims in a cell: others of that cell are about other results."""
        return frozenset(claim for each in self.headlines for name, claim in each.claims if name == study)


def choose(known: Headlines, paper: str, result: str = "") -> Choice:
    """Return the results that two words name: those of a `paper`, or with an id, a figure, a table or a section of it,
    that `result`. An id is enough by itself. Raises SpecError, with what is near, for a word that names none."""
    by_word = {each.word: each for each in known.papers}
    found = by_word.get(authors_word(paper))
    if found is None:
        alone = [each for each in known.headlines if each.id.lower() == paper.lower() and not result]
        if not alone:
            raise SpecError(f"there is no paper called {paper!r}", nearest(paper, by_word, "there are"))
        return Choice(paper_of(known, alone[0]), tuple(alone))
    headlines = known.for_paper(found)
    if not result:
        return Choice(found, tuple(headlines))
    named = paper_places(result, None)
    matching = [_matching(headlines, each) for each in named]
    if not all(matching) or not named:
        raise SpecError(f"{found.word} has no result {result!r}", _near(known, found, result))
    wanted = {each.id for of_place in matching for each in of_place}
    return Choice(found, tuple(each for each in headlines if each.id in wanted))


def paper_of(known: Headlines, headline: Headline) -> Paper:
    """Return the paper of a headline."""
    return next(each for each in known.papers if headline.id.startswith(each.key))


def _matching(headlines: Iterable[Headline], wanted: PaperPlace) -> list[Headline]:
    """Headlines that one place, or a label alone, names."""
    if wanted.kind is not None:
        return [each for each in headlines if any(map(wanted.has, paper_places(each.where)))]
    # One result may stand in two rows: `Y5` is both Y5a and Y5b.
    by_id = [each for each in headlines if re.fullmatch(re.escape(wanted.label) + "[a-z]?", each.id, re.IGNORECASE)]
    by_place = (_matching(headlines, PaperPlace(kind, wanted.label)) for kind in _SEARCHED)
    return by_id or next(filter(None, by_place), [])


def _near(known: Headlines, paper: Paper, result: str) -> str:
    """Hint with the results of the paper that are called most alike, and where all of them are listed."""
    of_others = [each for each in known.headlines if each.id.lower() == result.lower()]
    if of_others:
        return f"{of_others[0].id} is a result of {paper_of(known, of_others[0]).word}"
    headlines = known.for_paper(paper)
    places = list(dict.fromkeys(place for each in headlines for place in paper_places(each.where)))
    asked = [each.label for each in paper_places(result, None)]
    numbers = [found[0] for label in asked if (found := re.match("[0-9]+(?=[a-z])", label, re.IGNORECASE))]
    of_number = [str(each) for number in numbers for each in places if PaperPlace(each.kind, number).has(each)]
    names = {name.lower(): str(each) for each in places for name in (each.label, str(each))}
    names |= {each.id.lower(): each.id for each in headlines}
    alike = [
        names[each]
        for text in (*asked, result)
        for each in difflib.get_close_matches(text.lower(), names, _MOST_NEAR, _LEAST_ALIKE)
    ]
    near = list(dict.fromkeys(of_number or alike))[:_MOST_NEAR]
    told = f"near: {', '.join(near)}; " if near else ""
    return f"{told}`quiclab paper {paper.word} --list` has all of them"
