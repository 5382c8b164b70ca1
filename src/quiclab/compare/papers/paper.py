# SPDX-License-Identifier: Apache-2.0
"""Claims of a paper, as `paper.json` of a study has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.compare.study import read_json
from quiclab.model.paper_record import ClaimRecord, ExpectedRecord, PaperRecord, Sentence
from quiclab.store.record_form import view_of

FORMAT = 1
INTERACTION = "interaction"
CORRELATION = "correlation"
_ARMS = {"direction": (2,), "number": (1, 2), "difference": (2,), INTERACTION: (4,), CORRELATION: (2,)}
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


class Claim(Sentence, frozen=True, kw_only=True):
    """A sentence of the paper, with its finding."""

    expected: Expected | None

    @property
    def sides(self) -> tuple[str, ...]:
        """Sides that are held against each other: the arms, or of an interaction the ratio of the second to the first
        and that of the fourth to the third."""
        if self.kind != INTERACTION or not self.arms:
            return self.arms
        return (ratio_name(*self.arms[:2]), ratio_name(*self.arms[2:]))


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
    own = {name: getattr(entry, name) for name in Sentence.__struct_fields__}
    return Claim(**own, expected=None if entry.expected is None else _expected(entry.expected))


def _expected(entry: ExpectedRecord) -> Expected:
    if entry.direction is not None:
        return Expected(entry.text, entry.direction, 0.0, 0.0, "")
    if entry.low is None or entry.high is None or entry.unit is None:
        raise ValueError(f"{entry.text!r} is no direction, and has no bounds")
    return Expected(
        entry.text, "", float(entry.low), float(entry.high), entry.unit, entry.margin or "", is_range=entry.range
    )
