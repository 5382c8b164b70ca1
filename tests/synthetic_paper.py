# SPDX-License-Identifier: Apache-2.0
"""`paper.json` for a synthetic study: claims as the measuring side writes them, and what comes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from synthetic_study import Shape

from quiclab.compare.analyse import analyse
from quiclab.compare.papers.claim_finding import Judged
from quiclab.compare.papers.claims import judge
from quiclab.compare.papers.paper import read_paper
from quiclab.compare.study import read_study

# h3 is 22 % faster over "loss", and as fast as h2 over "clean", at 20 pairs with less noise.
CLEAR = replace(
    Shape(), workloads=("100 KB", "1 MB"), paths=("clean", "loss"), blocks=20, aa_blocks=0, failures=frozenset(),
    voids=frozenset(), slower=frozenset(),
)  # fmt: skip
DIRECTION = {
    "id": "faster", "section": "4.1, Figure 4", "text": "H3 is faster.", "kind": "direction", "testable": True,
    "why": "", "metric": "ttlb_ms", "statistic": "median", "arms": ["h2", "h3"], "workloads": ["100 KB"],
    "paths": ["loss"], "expected": {"text": "lower", "direction": "lower"},
}  # fmt: skip
UNTESTABLE = DIRECTION | {
    "id": "shape", "text": "The waterfall is steep.", "testable": False, "why": "a shape is no metric", "metric": "",
    "arms": [], "workloads": [], "paths": [], "expected": None,
}  # fmt: skip


def direction(expected: str, **keys: Any) -> dict[str, Any]:
    """A claim that h3 is "lower", "higher" or the "same"."""
    return DIRECTION | {"expected": {"text": expected, "direction": expected}} | keys


def number(printed: str, low: float, high: float, unit: str, **keys: Any) -> dict[str, Any]:
    """A claim that a quantity is from `low` to `high`."""
    expected = {"text": printed, "value": (low + high) / 2, "low": low, "high": high, "unit": unit}
    return DIRECTION | {"id": "value", "kind": "number", "expected": expected} | keys


def write_paper(directory: Path, *claims: dict[str, Any], **keys: Any) -> Path:
    """Write the claims into a study directory and return it."""
    paper = {
        "version": 1, "authors": "A. Writer", "title": "On Protocols", "venue": "A workshop", "year": 2024,
        "caution": "", "changed": {}, "claims": list(claims),
    }  # fmt: skip
    (directory / "paper.json").write_text(json.dumps(paper | keys), encoding="utf-8")
    return directory


def judged(directory: Path, *claims: dict[str, Any], **keys: Any) -> tuple[Judged, ...]:
    """The claims held against the study that is there."""
    study = read_study(write_paper(directory, *claims, **keys))
    paper = read_paper(directory)
    assert paper is not None
    return judge(study, analyse(study), paper)
