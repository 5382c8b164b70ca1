# SPDX-License-Identifier: Apache-2.0
"""Claims of a paper, as `paper.json` of a study has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.compare.study import read_json
from quiclab.model.paper_record import ClaimRecord, ExpectedRecord, PaperRecord, Sentence, arms_in, side_name
from quiclab.store.record_form import view_of

FORMAT = 1
INTERACTION = "interaction"
CORRELATION = "correlation"
SPREAD = "spread"
COUNT = "count"
_ARMS = {
    "direction": (2,),
    "number": (1, 2),
    "difference": (2,),
    INTERACTION: (4,),
    CORRELATION: (2,),
    SPREAD: (2,),
    COUNT: tuple(range(1, 9)),
}
"""Kind → how many arms such a claim has."""


@dataclass(frozen=True)
class Expected:
    """Finding of the paper."""

    text: str
    """The number or the word as the paper prints it."""
    direction: str
    """The second arm's metric beside the first's: "lower", "higher", "same", "not lower", "not higher"; empty where it
    is a number."""
    low: float
    """All numbers from here …"""
    high: float
    """… to here are printed so, or are within the margin."""
    unit: str
    margin: str = ""
    """Distance from the number that is still the paper's, as its file declares it; empty where it declares nothing."""
    is_range: bool = False
    """True if the paper gives all from `low` to `high`, and no number."""
    cells: int = 0
    """Cells of the paper, of a share of them; 0 where it gives a share alone."""
    is_above: bool = False
    """True if a share of cells is greater than `low`."""


class Claim(Sentence, frozen=True, kw_only=True):
    """A sentence of the paper, with its finding."""

    expected: Expected | None

    @property
    def arm_names(self) -> tuple[str, ...]:
        """Names of all arms that the claim is about, each once."""
        return arms_in(self.arms)

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the sides that are held against each other: the arms or means over several, or of an interaction the
        ratio of the second to the first and that of the fourth to the third."""
        names = tuple(map(side_name, self.arms))
        if self.kind != INTERACTION or not names:
            return names
        return (ratio_name(*names[:2]), ratio_name(*names[2:]))

    @property
    def first_and_second(self) -> tuple[str | None, str | None]:
        """The side that is the baseline and the one that is said to differ from it, of a count all others and the last
        one; None for what the claim has not."""
        if len(self.sides) <= 1:
            return (self.sides[0] if self.sides else None), None
        return ", ".join(self.sides[:-1]), self.sides[-1]


def ratio_name(first: str, second: str) -> str:
    """Name of the ratio of a second arm to a first one."""
    return f"{second} / {first}"


@dataclass(frozen=True)
class Paper:
    """A paper and its claims."""

    citation: str
    caution: str
    """Caution that keeps the claims as a whole from being held against this study; mostly empty."""
    changed: Mapping[str, Mapping[str, Sequence[str]]]
    """Axis → name → keys in which this study differs from the one that the claims were written for."""
    claims: tuple[Claim, ...]


def read_paper(study_dir: Path) -> Paper | None:
    """Return the study's paper, without claims but with a caution where its file is unusable; None without a paper."""
    path = study_dir / "paper.json"
    if not path.exists():
        return None
    missing: list[str] = []
    document = read_json(path, missing)
    if not missing and document.get("version") != FORMAT:
        missing.append(f"paper.json has the form {document.get('version')}, not {FORMAT}.")
    found = view_of(document, PaperRecord)
    try:
        if found is None:
            raise ValueError("a member is not of its form")
        claims = () if missing else tuple(_claim(each) for each in found.claims)
    except (KeyError, ValueError):
        return Paper("", " ".join(missing) or "paper.json does not hold a paper's claims.", {}, ())
    citation = f"{found.authors}: {found.title}. {found.venue}, {found.year}"
    return Paper(citation, " ".join([*missing, found.caution]).strip(), found.changed, claims)


def _claim(entry: ClaimRecord) -> Claim:
    counts = _ARMS[entry.kind] if entry.testable else (0, *_ARMS[entry.kind])
    if len(entry.arms) not in counts:
        raise ValueError(f"a claim of kind {entry.kind} has {len(entry.arms)} arms")
    if entry.kind in (CORRELATION, SPREAD) and not all(isinstance(side, str) for side in entry.arms):
        raise ValueError(f"a claim of kind {entry.kind} is about single arms")
    if entry.testable and (entry.kind == COUNT) != (entry.counted is not None):
        raise ValueError(f"a claim of kind {entry.kind} counts other cells than a count does")
    own = {name: getattr(entry, name) for name in Sentence.__struct_fields__}
    return Claim(**own, expected=None if entry.expected is None else _expected(entry.expected))


def _expected(entry: ExpectedRecord) -> Expected:
    if entry.direction is not None:
        return Expected(entry.text, entry.direction, 0.0, 0.0, "")
    if entry.low is None or entry.high is None or entry.unit is None:
        raise ValueError(f"{entry.text!r} is no direction, and has no bounds")
    return Expected(
        entry.text, "", float(entry.low), float(entry.high), entry.unit, entry.margin or "", is_range=entry.range,
        cells=entry.cells, is_above=entry.above,
    )  # fmt: skip
