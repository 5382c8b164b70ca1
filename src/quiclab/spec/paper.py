# SPDX-License-Identifier: Apache-2.0
"""`paper.toml` → `Paper`: what a paper says, claim by claim, in a form that a study can be held against.

Read as strictly as a spec: one `SpecError` names every offender. docs/reference/paper.md describes the form.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from quiclab.model.paper_record import Side, arms_in, side_name
from quiclab.model.study import Study
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec import kinds
from quiclab.spec.claim_values import (
    PER_CENT,
    TO,
    UNITS,
    CellShare,
    Counted,
    Direction,
    PerCent,
    Quantity,
    Range,
    plain,
    read_counted,
    read_quantity,
    read_range,
    read_share,
    share_margin,
)
from quiclab.spec.nodes import FAILED, Kind, Node, ReportedError, WrongValueError, build, closest, read_or_report, show
from quiclab.spec.read import check_problems, load_toml

_YEARS = (1969, 2100)
_ENDS = 2
_MOST_SIDES = 8

Expected = Direction | Quantity | Range | CellShare


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper."""

    id: str
    """Name of the claim in tables."""
    section: str
    """Place of the claim in the paper: section, figure, table."""
    text: str
    """The claim in a sentence."""
    kind: Literal["direction", "number", "difference", "interaction", "correlation", "spread", "count"]
    """Kind of the claim: which arm is better, by how much in per cent or what the value is, how much more the second
    arm has in the unit of the metric, how the change from the third arm to the fourth differs from that from the first
    to the second, in which arm two metrics go together more strongly, in which arm the metric varies more, or in how
    many cells something is so."""
    testable: bool
    """True if this study can be held against it."""
    why: str = ""
    """Reason why a claim cannot be tested; for one that can, what keeps this study from being quite the same."""
    metric: str = ""
    """Name of a metric."""
    second_metric: str = ""
    """Name of the metric with which a correlation is."""
    statistic: Literal["median", "mean"] = "median"
    """Statistic that the paper computed over its runs."""
    arms: tuple[Side, ...] = ()
    """One arm; two, if the claim says how the second differs from the first; four of an interaction; of a count one or
    more. In the place of an arm several, whose mean within a block is the value of that block."""
    counted: Counted | None = None
    """Condition of the cells that a count counts."""
    workloads: tuple[str, ...] = ()
    """Workloads for each of which the claim is made, …"""
    paths: tuple[str, ...] = ()
    """… and paths over each of which it is made."""
    expected: Expected | None = None
    """Expected result: a direction; with one arm, a quantity; with two, the second's advantage in per cent of the
    first, or of a difference how much more it has. A range of them where the paper gives one. Of a count a share of
    cells."""
    written: str = ""
    """Expected result as the paper prints it, such as `"106 s"`."""
    margin: str = ""
    """Distance from a number that is still the paper's: a share of it, such as `"10 %"`, or a quantity, such as `"1
    s"`; of an advantage points, such as `"5 %"`. Without one, half of its last printed digit."""
    margin_value: Quantity | float | None = None
    """The margin, read; of a share of cells a share."""


@dataclass(frozen=True)
class Paper:
    """A paper, with those of its claims that a study is about."""

    authors: str
    title: str
    venue: str
    year: int
    claims: tuple[Claim, ...] = ()


PAPER_KEYS: Mapping[str, Kind[Any]] = {
    "authors": kinds.TITLE,
    "title": kinds.TITLE,
    "venue": kinds.TITLE,
    "year": kinds.whole(*_YEARS),
}
_NAMES = kinds.several(kinds.NAME, 'an array of names such as ["h2", "h3"]', least=1)
_SEVERAL = kinds.several(kinds.NAME, 'an array of arms such as ["h3-curl", "h3-quiche"]', least=2)


def _read_side(node: Node) -> Side:
    return _SEVERAL.read(node) if isinstance(node.value, list) else kinds.NAME.read(node)


_ARMS: Kind[tuple[Side, ...]] = kinds.several(
    Kind("an arm or an array of arms", _read_side),
    'an array of one or two arms such as ["h2", "h3"]',
    least=1,
    most=_MOST_SIDES,
)
_PLACES = {
    "direction": (2,),
    "number": (1, 2),
    "difference": (2,),
    "interaction": (4,),
    "correlation": (2,),
    "spread": (2,),
    "count": tuple(range(1, _MOST_SIDES + 1)),
}
"""Kind → how many arms such a claim has."""
_DIRECTED = ("direction", "interaction", "correlation", "spread")
_OF_SINGLE_ARMS = ("correlation", "spread")
"""Kinds of claims in which no mean over arms has a meaning."""
_STRENGTHS = ("lower", "higher")
"""Strength that a correlation, or a spread, may have in the second arm: those that are not shown to differ are not
shown to be the same."""
_COUNTED = {1: "one", 2: "two", 4: "four"}
CLAIM_KEYS: Mapping[str, Kind[Any]] = {
    "id": kinds.NAME,
    "section": kinds.TITLE,
    "text": kinds.TITLE,
    "kind": kinds.choice(tuple(_PLACES)),
    "testable": kinds.FLAG,
    "why": kinds.TITLE,
    "metric": kinds.NAME,
    "second_metric": kinds.NAME,
    "statistic": kinds.choice(("median", "mean")),
    "arms": _ARMS,
    "counted": kinds.text('which cells count, such as "lower", "lowest" or "above 3.4 s"'),
    "workloads": _NAMES,
    "paths": _NAMES,
    "margin": kinds.text('how far from the number is still the paper\'s, such as "10 %" or "1 s"'),
    "expected": kinds.text(
        '"lower", "higher", "same", "not lower", "not higher", or a quantity as "15 s", "90 %", "22 of 30"'
    ),
}
_PAPER: Kind[Paper] = Kind("a table", lambda node: build(Paper, node, PAPER_KEYS))
_NEEDED_TO_TEST = ("metric", "arms", "workloads", "paths", "expected")


def read_paper(path: pathlib.Path, metrics: Mapping[str, str] | None = None, study: Study | None = None) -> Paper:
    """Read what a paper says about the questions of `study`. `metrics` has the unit of each metric that there is.

    Without `metrics` and `study`, names are taken as they are: a small variant of a study lacks some of them.

    Raises SpecError; `problems` has one line for each offender, in the order of the file.
    """
    source = load_toml(path)
    top = Node(source.document, (), source)
    for key in top.value:
        if key not in ("paper", "claim"):
            top.child(key).report(f"there is no such table; {closest(key, ('paper', 'claim'), 'tables')}")
    paper = _paper(top)
    claims = _claims(top, metrics, study)
    check_problems(path, source, "docs/reference/paper.md describes every key")
    return replace(paper, claims=claims)


def _paper(top: Node) -> Paper:
    if "paper" not in top.value:
        top.report("the table [paper] is missing; write [paper] with authors, title, venue and year")
        return FAILED  # type: ignore[no-any-return]
    return read_or_report(top.child("paper"), _PAPER)


def _claims(top: Node, metrics: Mapping[str, str] | None, study: Study | None) -> tuple[Claim, ...]:
    if not isinstance(top.value.get("claim"), list):
        top.report("[[claim]] is missing; write one for each thing that the paper says")
        return ()
    kind: Kind[Claim] = Kind("a table", lambda node: _read_claim(node, metrics, study))
    claims = [read_or_report(node, kind) for node in top.child("claim").elements()]
    seen: set[str] = set()
    for node in top.child("claim").elements():
        name = node.value.get("id") if isinstance(node.value, dict) else None
        if isinstance(name, str) and name in seen:
            node.child("id").report(f'"{name}" is the id of an earlier claim; ids are unique')
        seen.add(str(name))
    return tuple(claims)


def _read_claim(node: Node, metrics: Mapping[str, str] | None, study: Study | None) -> Claim:
    before = node.source.reports
    claim = build(Claim, node, CLAIM_KEYS)
    counted, claim = claim.counted, replace(claim, counted=None)
    if not claim.testable and not claim.why:
        node.report('"why" is missing; write why this study cannot be held against the claim')
    if claim.testable:
        for key in _NEEDED_TO_TEST:
            if key not in node.value:
                node.report(f'"{key}" is missing; a claim that can be tested needs {", ".join(_NEEDED_TO_TEST)}')
    if metrics is not None:
        _check_names(node, "metric", (claim.metric,), tuple(metrics))
        _check_names(node, "second_metric", (claim.second_metric,), tuple(metrics))
    if study is not None:
        _check_names(node, "arms", arms_in(claim.arms), tuple(arm.name for arm in study.arms))
        _check_names(node, "workloads", claim.workloads, tuple(workload.name for workload in study.workloads))
        _check_names(node, "paths", claim.paths, tuple(path.name for path in study.paths))
    if claim.arms and len(claim.arms) not in _PLACES[claim.kind]:
        number = " or ".join(_COUNTED[each] for each in _PLACES[claim.kind] if each in _COUNTED)
        node.child("arms").report(f'a claim of kind "{claim.kind}" is about {number}; name {number}')
    _check_repeated(node, claim)
    if claim.kind in _OF_SINGLE_ARMS and not all(isinstance(side, str) for side in claim.arms):
        node.child("arms").report(
            f"a claim of kind {claim.kind} is about single arms; name one in the place of several"
        )
    if claim.testable and (claim.kind == "count") != (counted is not None):
        told = "is missing; a count says which cells count" if counted is None else "is of a count alone; leave it out"
        node.report(f'"counted" {told}')
    if claim.testable and (claim.kind == "correlation") != bool(claim.second_metric):
        told = "is of a correlation alone; leave it out" if claim.second_metric else "is missing; a correlation has two"
        node.report(f'"second_metric" {told}')
    if claim.second_metric and (claim.second_metric == claim.metric or len(set(claim.arms)) < len(claim.arms)):
        node.report("a correlation is of two metrics, in one arm beside another; name two of each")
    if node.source.reports > before:
        raise ReportedError
    if "margin" in node.value and claim.kind in _DIRECTED:
        node.child("margin").report(f"a claim of kind {claim.kind} has none; leave it out")
        raise ReportedError
    if counted is not None:
        condition: Kind[Counted] = Kind(
            "", lambda text: read_counted(text.value, len(claim.arms), _unit(claim, metrics))
        )
        found = read_or_report(node.child("counted"), condition)
        if found is FAILED:
            raise ReportedError
        claim = replace(claim, counted=found)
    if "expected" not in node.value:
        return claim
    wanted: Kind[Expected] = Kind("", lambda expected: _expected(expected, claim, metrics))
    expected = read_or_report(node.child("expected"), wanted)
    if expected is FAILED:
        raise ReportedError
    claim = replace(claim, expected=expected, written=node.child("expected").value)
    if "margin" not in node.value:
        return claim
    read: Kind[Quantity | float] = Kind("", lambda margin: _margin(margin, expected))
    margin = read_or_report(node.child("margin"), read)
    if margin is FAILED:
        raise ReportedError
    return replace(claim, margin_value=margin)


def _unit(claim: Claim, metrics: Mapping[str, str] | None) -> str | None:
    """Unit of the claim's metric; None where metrics are not known."""
    return None if metrics is None else metrics.get(claim.metric, "%")


def _margin(node: Node, expected: Expected) -> Quantity | float:
    """The margin of a number: a share of it, or a quantity of its kind, above zero; of a share of cells a share."""
    if isinstance(expected, Range) or (isinstance(expected, CellShare) and expected.is_range):
        raise WrongValueError("a range has no margin; widen the range, or leave it out")
    text = str(node.value)
    if isinstance(expected, CellShare):
        return share_margin(text)
    match = PER_CENT.fullmatch(text)
    of_nothing = isinstance(expected, (Duration, Bitrate, ByteCount)) and not plain(expected)[0]
    if match is not None and float(match[1]) > 0 and not of_nothing:
        return PerCent(float(match[1]))
    if match is None and isinstance(expected, (Duration, Bitrate, ByteCount)):
        quantity = type(expected).parse(text)
        if plain(quantity)[0] > 0:
            return quantity
    raise WrongValueError(
        f'{show(text)}; write a share above zero, such as "10 %", or a quantity of the number\'s kind'
    )


def _check_repeated(node: Node, claim: Claim) -> None:
    """Report what is named twice. The two changes of an interaction may begin or end in the same arm."""
    pairs = [claim.arms[:2], claim.arms[2:]] if claim.kind == "interaction" else [claim.arms]
    means = [side for side in claim.arms if not isinstance(side, str)]
    named: dict[str, list[tuple[Side, ...]]] = {
        "workloads": [claim.workloads],
        "paths": [claim.paths],
        "arms": [*pairs, *means],
    }
    for key, lists in named.items():
        for twice in dict.fromkeys(each for names in lists for each in names if names.count(each) > 1):
            node.child(key).report(f"{side_name(twice)} is named twice; name each once")


def _check_names(node: Node, key: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names if key in node.value else ():
        if name not in known:
            what = "metrics" if key.endswith("metric") else key
            node.child(key).report(f'"{name}" is not one of the {what}; {closest(name, known, what)}')


def _expected(node: Node, claim: Claim, metrics: Mapping[str, str] | None) -> Expected:
    text = node.value
    if claim.kind in _DIRECTED:
        words = _STRENGTHS if claim.kind in _OF_SINGLE_ARMS else get_args(Direction)
        direction: Direction = kinds.choice(words).read(node)
        return direction
    if claim.kind == "count":
        return read_share(text)
    ends = [_value(end, claim, metrics) for end in text.split(TO)]
    return ends[0] if len(ends) == 1 else read_range(ends, text)


def _value(text: str, claim: Claim, metrics: Mapping[str, str] | None) -> Quantity:
    """A quantity in a unit of the metric; of an advantage, and of a metric without a unit, per cent."""
    match = PER_CENT.fullmatch(text)
    if len(claim.arms) == 1 or claim.kind == "difference":
        unit = _unit(claim, metrics)
        if (unit is None and match is None) or unit in UNITS:
            return read_quantity(text, unit)
    if match is None:
        advantage = len(claim.arms) == _ENDS and claim.kind == "number"
        why = "the second arm's advantage over the first" if advantage else f"{claim.metric} in per cent"
        raise WrongValueError(f'{show(text)}; write {why}, such as "90 %"')
    return PerCent(float(match[1]))
