# SPDX-License-Identifier: Apache-2.0
"""Cells of papers: what each needs, takes and leaves, at both of its sizes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quiclab.lab.endpoints._api import Available
from quiclab.lab.endpoints._registry import find
from quiclab.spec.headlines import HEADLINES
from quiclab.spec.read import read_study
from quiclab.study import paper_studies
from quiclab.study.paper_studies import read_studies

CELLS = ("liu-setup", "liu-moderate", "yb-small")


def test_both_sizes_are_foretold_as_plan_does() -> None:
    """The small one has fewer pairs, no control, less time, and a directory of its own."""
    (study,) = read_studies(["liu-setup"])
    whole, small = study.foretold(small=False), study.foretold(small=True)
    # Two paths, two arms; eight blocks of the control, of which each arm has a study with two trials.
    assert (whole.pairs, whole.trials) == (40, 2 * 2 * 40 + 2 * 2 * 8)
    assert (small.pairs, small.trials) == (6, 2 * 2 * 6)
    assert 0 < small.expected.ns < whole.expected.ns / 4
    out = Path("somewhere")
    assert study.folder(out, small=False) == out / "liu-setup"
    assert study.folder(out, small=True) == out / "liu-setup-6-pairs"


def test_the_spec_to_run_has_the_claims_beside_it(tmp_path: Path) -> None:
    """The whole one is the file that comes with quiclab; nothing is written there."""
    (study,) = read_studies(["liu-setup"])
    assert study.spec_in(tmp_path, small=False) == HEADLINES / "liu-setup" / "spec.toml"
    assert list(tmp_path.iterdir()) == []
    spec = study.spec_in(tmp_path, small=True)
    assert read_study(spec) == study.sized(small=True)
    assert spec.with_name("paper.toml").read_bytes() == (HEADLINES / "liu-setup" / "paper.toml").read_bytes()


def test_a_program_of_many_cells_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty studies ask for a dozen programs."""
    asked: list[tuple[str, ...]] = []

    def run(argv: tuple[str, ...]) -> str | None:
        asked.append(tuple(argv))
        return None

    monkeypatch.setattr(paper_studies, "bounded_run", run)
    studies = read_studies(CELLS)
    assert len(asked) == len(set(asked))
    # A program that does not answer is missing, with what installs it.
    (nginx,) = [told for told in studies[0].missing if told.startswith("the server nginx is not here")]
    assert "; run: " in nginx


def test_what_is_here_is_not_missing() -> None:
    """Each program is told as its endpoint finds it."""
    (study,) = read_studies(["liu-setup"])
    for role, program, _ in (each for arm in study.whole.arms for each in arm.programs()):
        found = find(role, program.name).probe(paper_studies.bounded_run)
        missing = [told for told in study.missing if told.startswith(f"the {role} {program.name} ")]
        assert bool(missing) != isinstance(found, Available)


def test_what_comes_before_a_sandbox_has_no_threads() -> None:
    """Cells are read, and judged results passed on, by the process that enters it: nothing that starts threads is
    imported."""
    code = (
        "import sys, quiclab.cli.paper, quiclab.cli.paper_text, quiclab.cli.paper_judged, quiclab.cli.paper_document;"
        "from quiclab.study.paper_studies import known_headlines, read_studies; known_headlines();"
        "[each.foretold(small=True) for each in read_studies(['liu-setup'])];"
        "print(sorted({'polars', 'numpy', 'duckdb', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
