# SPDX-License-Identifier: Apache-2.0
"""A paper's claims, kept with the study: as they were written, and as the report reads them."""

from __future__ import annotations

import json
from pathlib import Path

from quiclab.model.errors import SpecError
from quiclab.store.disk import write_atomically
from quiclab.store.layout import StudyDir


def read_claims(spec_file: Path, resolved: dict[str, object]) -> dict[str, object] | None:
    """The claims of the `paper.toml` beside the spec that is run; None without one. Raises SpecError for a wrong one.

    Claims are written for `spec.toml`: of another file of that folder, a small variant, it is noted which arms,
    workloads and paths have a name of that spec but are not the same.
    """
    from quiclab.evidence.metrics import METRICS
    from quiclab.spec.paper import read_paper
    from quiclab.spec.paper_json import changes, paper_json

    paper_file, full = spec_file.with_name("paper.toml"), spec_file.with_name("spec.toml")
    if not paper_file.exists():
        return None
    paper = read_paper(paper_file, {metric.name: metric.unit for metric in METRICS})
    if full.resolve() == spec_file.resolve() or not full.exists():
        return paper_json(paper, {})
    try:
        return paper_json(paper, changes(_resolved(full), resolved))
    except SpecError:
        return paper_json(
            paper, {}, "spec.toml cannot be read here: whether this variant's names mean the same is open."
        )


def keep_claims(study_dir: StudyDir, spec_file: Path, claims: dict[str, object] | None) -> None:
    """Write the claims into the study, unless the study is continued from its own directory and has them already: that
    directory no longer tells whether the study was run from a small variant."""
    if claims is not None and (spec_file.resolve().parent != study_dir.root or not study_dir.paper.exists()):
        write_atomically(study_dir.root / "paper.toml", spec_file.with_name("paper.toml").read_bytes())
        write_atomically(study_dir.paper, json.dumps(claims, indent=1, ensure_ascii=False))


def _resolved(spec_file: Path) -> dict[str, object]:
    from quiclab.spec.resolved import resolved_json
    from quiclab.study.specs import load_study

    return resolved_json(load_study(spec_file))
