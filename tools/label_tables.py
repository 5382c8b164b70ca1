# SPDX-License-Identifier: Apache-2.0
"""The tables of labels in docs/explanation/account.md, from where the labels are declared.

Each stands between two comments of the page; `generate_reference.py` writes what is between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quiclab.why.account import UNIONS, What, Why
from quiclab.why.account.levels import PARTS, Level, Part, members
from quiclab.why.mechanisms import MECHANISMS, Mechanism

_WHERE = {
    Part.CLIENT: "E1, E3 where these show the request",
    Part.ANSWER: "all of these, where packets show no rate",
}
"""Parts that a level tells of some recordings only."""
_MOST = 12
"""Labels of a sum that are named one by one."""


def with_tables(page: str) -> str:
    """The page with its tables as the labels are declared now. Raises ValueError where it lacks the place of one."""
    for name, rows in (("what", _whats()), ("why", _whys()), ("levels", _levels()), ("parts", _parts())):
        begin, end = f"<!-- labels: {name} -->", f"<!-- end of labels: {name} -->"
        before, mark, rest = page.partition(f"{begin}\n")
        _, end_mark, after = rest.partition(end)
        if not mark or not end_mark:
            raise ValueError(f"the page has no place for the table of {name}: {begin} … {end}")
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        page = f"{before}{mark}{table}{end_mark}{after}"
    return page


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    return [headings, ["---"] * len(headings), *rows]


def _whats() -> list[Sequence[str]]:
    return _table(
        ("`what`", "what is observed", "causes that take it"),
        (
            (f"`{what}`", _sentences(f"{what.meaning[0].upper()}{what.meaning[1:]}.", what.details),
             _causes(each for each in MECHANISMS if what in each.activities))
            for what in What
        ),
    )  # fmt: skip


def _whys() -> list[Sequence[str]]:
    return _table(
        ("`why`", "name", "what is observed", "causes that take it"),
        (
            (f"`{why}`", why.heading, _sentences(why.definition, why.details, _union(why)),
             _causes(each for each in MECHANISMS if why in each.reasons))
            for why in Why
        ),
    )  # fmt: skip


def _union(why: Why) -> str:
    return f"It stands for {_in_code(UNIONS[why])} where the records do not tell these apart." if why in UNIONS else ""


def _levels() -> list[Sequence[str]]:
    return _table(("level", "recorded"), ((level, level.recorded) for level in Level))


def _parts() -> list[Sequence[str]]:
    return _table(
        ("part", "told by", "observed from one end", "is the sum of"),
        (
            (f"`{part}`", ", ".join(levels) or _WHERE[part], part.definition,
             _sum(members(levels[0] if levels else Level.E1, part)) or "none: it divides the parts around it")
            for part in Part
            for levels in [[level for level, parts in PARTS.items() if part in parts]]
        ),
    )  # fmt: skip


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences)).replace("|", "\\|")


def _causes(mechanisms: Iterable[Mechanism]) -> str:
    return ", ".join(f"[`{each.name}`](../reference/causes/{each.name}.md)" for each in mechanisms)


def _sum(whys: Sequence[Why]) -> str:
    return "every other reason" if len(whys) > _MOST else _in_code(whys)


def _in_code(labels: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in labels)
