# SPDX-License-Identifier: Apache-2.0
"""The studies that come with the project: each can be planned, its arms can run, its paper can be held against it."""

from __future__ import annotations

import pathlib

import pytest
from may_fail import read_may_fail

from quiclab.evidence.metrics import METRICS
from quiclab.lab.endpoints import names_by_role, objections
from quiclab.model.study import Study
from quiclab.plan.size import plan_size
from quiclab.spec.paper import read_paper
from quiclab.spec.read import read_study

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[3] / "experiments"
SPECS = sorted(path for name in ("spec", "small") for path in EXPERIMENTS.glob(f"*/{name}.toml"))
PAPERS = sorted(EXPERIMENTS.glob("*/paper.toml"))
HEADLINES = sorted(EXPERIMENTS.glob("headlines/*/spec.toml"))
SMALL_MINUTES = 20


def name_of(path: pathlib.Path) -> str:
    """`kak-size/small`."""
    return f"{path.parent.name}/{path.stem}"


def study_of(spec: pathlib.Path, folder: pathlib.Path) -> Study:
    """The study as it is read where `make stacks` was run: there are folders of other releases."""
    for release in ("trixie", "trixie-backports", "sid"):
        (folder / release).mkdir()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("QUICLAB_STACKS", str(folder))
        return read_study(spec, names_by_role())


@pytest.mark.parametrize("spec", SPECS, ids=name_of)
def test_every_study_can_be_planned_and_run(spec: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """No arm asks a program for what it does not have; a small variant is named so, and takes minutes."""
    study = study_of(spec, tmp_path)
    assert [f"{arm.name}: {why}" for arm, work in study.runs() for why in objections(arm, work)] == []
    size = plan_size(study)
    assert size.trials >= len(study.measured_workloads) * len(study.paths) * len(study.measured_arms) * study.blocks
    assert study.name == spec.parent.name + ("-small" if spec.stem == "small" else "")
    if spec.stem == "small":
        assert size.expected(study).s < 60 * SMALL_MINUTES


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_every_paper_can_be_held_against_its_study(paper: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Each claim that is testable names a metric, arms and cells that there are."""
    study = study_of(paper.parent / "spec.toml", tmp_path)
    assert read_paper(paper, {metric.name: metric.unit for metric in METRICS}, study).claims


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_a_study_of_a_paper_is_whole(paper: pathlib.Path) -> None:
    """Beside the paper stand the spec, its small variant and the README that names both."""
    assert {"spec.toml", "small.toml", "README.md"} <= {path.name for path in paper.parent.iterdir()}
    readme = (paper.parent / "README.md").read_text(encoding="utf-8")
    assert f"experiments/{paper.parent.name}/spec.toml" in readme
    assert f"experiments/{paper.parent.name}/small.toml" in readme


@pytest.mark.parametrize("spec", HEADLINES, ids=name_of)
def test_every_headline_can_be_run_and_held_against_its_paper(spec: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Its name is no other study's; it has pairs enough for a two-sided p below 0.01; every claim of it is testable."""
    study = study_of(spec, tmp_path)
    assert [f"{arm.name}: {why}" for arm, work in study.runs() for why in objections(arm, work)] == []
    assert study.name == f"headlines-{spec.parent.name}"
    assert 2 * 0.5**study.blocks < 0.01
    paper = read_paper(spec.with_name("paper.toml"), {metric.name: metric.unit for metric in METRICS}, study)
    assert all(claim.testable for claim in paper.claims)


@pytest.mark.parametrize("may_fail", sorted(EXPERIMENTS.glob("*/may-fail.toml")), ids=name_of)
def test_only_trials_that_there_are_may_fail(may_fail: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Each entry names what its small variant has, and says why."""
    study = study_of(may_fail.with_name("small.toml"), tmp_path)
    arms, workloads, paths = ({each.name for each in named} for named in (study.arms, study.workloads, study.paths))
    for each in read_may_fail(may_fail.parent):
        assert each.arm in arms
        assert each.workload in {None, *workloads}
        assert each.path in {None, *paths}
        assert each.reason
        assert each.why


@pytest.mark.parametrize(("name", "sites"), [("liu-pages", 18), ("qin-pages", 30)])
def test_populations_of_sites_differ_in_size_and_count(name: str, sites: int, tmp_path: pathlib.Path) -> None:
    """As many sites as in the paper, each with its own requests and bytes listed."""
    study = study_of(EXPERIMENTS / name / "spec.toml", tmp_path)
    pages = [workload.page for workload in study.workloads if workload.page is not None]
    listed = {(page.requests, page.total) for page in pages if page.requests and page.total}
    assert len(pages) == len(listed) == sites
