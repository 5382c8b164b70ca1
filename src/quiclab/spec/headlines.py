# SPDX-License-Identifier: Apache-2.0
"""`headlines.toml` → `Headlines`: the results that papers are known for, and the claims that each is held against.

A claim is `CELL:ID`, of the paper.toml of a cell: a study in the folder of that name beside headlines.toml.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.model import number_text
from quiclab.project import SUPPLIES
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, WrongValueError, build, read_keys, show
from quiclab.spec.read import check_problems, load_toml

HEADLINES = SUPPLIES / "experiments" / "headlines"
"""Folder of headlines.toml, and of a folder for each cell; the wheel has it as the project does."""

_JOINING = frozenset({"and", "et", "al"})
"""Words between the names of authors."""


@dataclass(frozen=True)
class Counterfactual:
    """A cell in which what is said to be the cause is not there: in another arm of it, or in all of it."""

    cell: str
    what: str
    """Substitute for the cause."""
    without: str = ""
    """The arm as the paper has it."""
    with_: str = ""
    """The arm of the same blocks in which the cause is taken away."""
    claim: str = ""
    """Claim that is held against the cell again, where the substitute is no other arm."""
    paths: tuple[str, ...] = ()
    """Paths of that cell over which the claim is held again; empty for all of the claim's."""
    cause_of: str = ""
    """Claim of the headline, as CELL:ID, whose difference is gone with the cause if the claim agrees here."""


@dataclass(frozen=True)
class StandIn:
    """A server in the place of the paper's, which is not to be had as it was, with the claims that rest on it."""

    server: str
    claims: tuple[tuple[str, str], ...]
    """(Cell, id of the claim)."""


@dataclass(frozen=True)
class Headline:
    """One result that a paper is known for."""

    id: str
    where: str
    """Sections, figures and tables of the paper that have it."""
    text: str
    claims: tuple[tuple[str, str], ...] = ()
    """(Cell, id of the claim)."""
    not_testable: str = ""
    not_run: str = ""
    """Reason why it has not been run yet, where that is known."""
    note: str = ""
    but: str = ""
    """Reason why it is not reproduced wholly although its claims agree."""
    planted: bool = False
    """True if the fault that it is about was put into the program that stands for the paper's."""
    read_again: str = ""
    """First result, of a claim that was read again, or of a cell that was set up again, after a first run."""
    stands_in: tuple[StandIn, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()

    @property
    def studies(self) -> tuple[str, ...]:
        """Studies of its claims, each once."""
        return tuple(dict.fromkeys(cell for cell, _ in self.claims))

    @property
    def limits(self) -> tuple[str, ...]:
        """Reasons why claims that agree need not be the paper's result again, a sentence each."""
        servers = number_text.listed([each.server for each in self.stands_in])
        reasons = {
            "Its fault is put into another program, which shows what such a fault does.": self.planted,
            f"The paper's server is not to be had as it was; it is held against {servers}.": self.stands_in,
            f"Less than the paper says: {self.but}.": self.but,
            f"Read or set up again after a first run: {self.read_again}.": self.read_again,
        }
        return tuple(reason for reason, applies in reasons.items() if applies)


@dataclass(frozen=True)
class Paper:
    """A paper, with the conditions of its measurements."""

    key: str
    """Letter with which the ids of its headlines begin."""
    name: str
    title: str
    conditions: str
    remark: str = ""
    """Remark that is about several of its headlines."""

    @property
    def word(self) -> str:
        """Name on a command line: `yu-benson` of "Yu and Benson 2021"."""
        return authors_word(self.name)


def authors_word(name: str) -> str:
    """Return the authors in a paper's name as one word, without its year: `yu-benson` of "Yu and Benson 2021"."""
    return "-".join(word for word in re.findall(r"[^\W\d_]+", name.lower()) if word not in _JOINING)


@dataclass(frozen=True)
class Headlines:
    """All of headlines.toml."""

    papers: tuple[Paper, ...]
    headlines: tuple[Headline, ...]

    def for_paper(self, paper: Paper) -> list[Headline]:
        """Headlines of one paper, in order."""
        return [each for each in self.headlines if each.id.startswith(paper.key)]


def _read_claim(node: Node) -> tuple[str, str]:
    cell, colon, claim = node.value.partition(":") if isinstance(node.value, str) else ("", "", "")
    if not (cell and colon and claim):
        raise WrongValueError(f"{show(node.value)}; write CELL:ID, a claim of the cell's paper.toml")
    return cell, claim


def _read_counterfactual(node: Node) -> Counterfactual:
    # `with` is a word of Python's, and no name of a field.
    return build(Counterfactual, node, _COUNTERFACTUAL_KEYS, {"with": "with_"})


def _read_stand_in(node: Node) -> StandIn:
    return build(StandIn, node, _STAND_IN_KEYS)


def _read_headline(node: Node) -> Headline:
    return build(Headline, node, _HEADLINE_KEYS, {"counterfactual": "counterfactuals"})


_CLAIMS = kinds.several(Kind("a claim", _read_claim), 'an array of claims such as ["yb-small:small-plain-google"]')
_COUNTERFACTUAL_KEYS: Mapping[str, Kind[Any]] = {
    **dict.fromkeys(("cell", "what", "without", "with", "claim", "cause_of"), kinds.TITLE),
    "paths": kinds.several(kinds.NAME, 'an array of paths such as ["queue-10"]'),
}
_STAND_IN_KEYS: Mapping[str, Kind[Any]] = {"server": kinds.TITLE, "claims": _CLAIMS}
_HEADLINE_KEYS: Mapping[str, Kind[Any]] = {
    "id": kinds.NAME,
    **dict.fromkeys(("where", "text", "not_testable", "not_run", "note", "but", "read_again"), kinds.TITLE),
    "planted": kinds.FLAG,
    "claims": _CLAIMS,
    "stands_in": kinds.several(Kind("a table", _read_stand_in), "an array of tables"),
    "counterfactual": kinds.several(Kind("a table", _read_counterfactual), "an array of tables"),
}
_PAPER_KEYS: Mapping[str, Kind[Any]] = dict.fromkeys(("key", "name", "title", "conditions", "remark"), kinds.TITLE)
_TABLES: Mapping[str, Kind[Any]] = {
    "paper": kinds.several(
        Kind("a table", lambda node: build(Paper, node, _PAPER_KEYS)), "[[paper]] for each paper", least=1
    ),
    "headline": kinds.several(Kind("a table", _read_headline), "[[headline]] for each result", least=1),
}


def read_headlines(file: pathlib.Path = HEADLINES / "headlines.toml") -> Headlines:
    """Read headlines.toml. Raises SpecError; `problems` has one line for each offender, in the order of the file."""
    source = load_toml(file)
    found = read_keys(Node(source.document, (), source), _TABLES, tuple(_TABLES))
    check_problems(file, source, "every key is in quiclab.spec.headlines")
    return Headlines(found["paper"], found["headline"])
