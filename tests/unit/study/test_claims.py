# SPDX-License-Identifier: Apache-2.0
"""The claims that `quiclab run` keeps with a study."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import SpecError
from quiclab.spec.resolved import resolved_json
from quiclab.store.layout import StudyDir
from quiclab.study.claims import keep_claims, read_claims
from quiclab.study.specs import load_study

EXPERIMENTS = Path(__file__).resolve().parents[3] / "experiments"


def claims_of(spec: Path) -> dict[str, Any] | None:
    """What `quiclab run SPEC` reads."""
    return read_claims(spec, resolved_json(load_study(spec)))


def test_a_spec_without_a_paper_has_no_claims(tmp_path: Path) -> None:
    """Nothing is written then."""
    study_dir = StudyDir(tmp_path)
    claims = claims_of(EXPERIMENTS / "demo" / "spec.toml")
    keep_claims(study_dir, EXPERIMENTS / "demo" / "spec.toml", claims)
    assert claims is None
    assert list(tmp_path.iterdir()) == []


def test_claims_are_kept_as_written_and_as_read(tmp_path: Path) -> None:
    """Both files; a study that is continued from its own directory keeps what it has."""
    spec = EXPERIMENTS / "kak-video" / "small.toml"
    claims = claims_of(spec)
    keep_claims(StudyDir(tmp_path), spec, claims)
    assert (tmp_path / "paper.toml").read_bytes() == spec.with_name("paper.toml").read_bytes()
    assert json.loads((tmp_path / "paper.json").read_text()) == claims
    keep_claims(StudyDir(tmp_path), tmp_path / "spec.toml", {"changed": {}})
    assert json.loads((tmp_path / "paper.json").read_text()) == claims


def test_a_small_variant_tells_what_is_not_the_same_in_it() -> None:
    """kak-video's small variant plays shorter videos under the same names; the full study differs nowhere."""
    small, full = (claims_of(EXPERIMENTS / "kak-video" / f"{name}.toml") for name in ("small", "spec"))
    assert small is not None
    assert full is not None
    assert small["changed"] == {"workloads": {name: ["video"] for name in ("medium", "hd2160", "hd2160-undecoded")}}
    assert full["changed"] == {}


def test_a_full_spec_that_cannot_be_read_is_a_caution(tmp_path: Path) -> None:
    """It is not the one that is run, so it does not stop the run."""
    folder = tmp_path / "kak-0rtt"
    shutil.copytree(EXPERIMENTS / "kak-0rtt", folder)
    (folder / "spec.toml").write_text("name = 1\n")
    claims = claims_of(folder / "small.toml")
    assert claims is not None
    assert claims["caution"].startswith("spec.toml cannot be read here")


def test_a_wrong_paper_stops_the_run_before_it_begins(tmp_path: Path) -> None:
    """Every offender of the file, as for a spec."""
    folder = tmp_path / "kak-0rtt"
    shutil.copytree(EXPERIMENTS / "kak-0rtt", folder)
    (folder / "paper.toml").write_text("[paper]\nyear = 1\n")
    with pytest.raises(SpecError) as caught:
        claims_of(folder / "spec.toml")
    assert len(caught.value.problems) > 2


def test_the_run_ends_before_a_study_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`quiclab run` says what is wrong with the paper, and leaves nothing behind."""
    folder = tmp_path / "demo"
    shutil.copytree(EXPERIMENTS / "demo", folder)
    (folder / "paper.toml").write_text("[paper]\nyear = 1\n")
    assert main(["run", str(folder / "spec.toml"), "--out", str(tmp_path / "study")]) == SpecError.exit_code
    assert "paper.toml has" in capsys.readouterr().err
    assert not (tmp_path / "study").exists()
