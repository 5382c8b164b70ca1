# SPDX-License-Identifier: Apache-2.0
"""`quiclab compare`: exit codes, refusals, files."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import polars as pl
import pytest
from synthetic_study import ARMS, Shape, write_study

from quiclab.cli.main import main
from quiclab.store.look_records import read_looks

PROGRAMS = {"client curl": "8.1", "server caddy": "2.1", "server ngtcp2 of /old": "1.0", "server ngtcp2 of /new": "1.1"}


def shape(build: str, seed: int, factor: float = 1, host: dict[str, Any] | None = None) -> Shape:
    """A small study in which h3's server is of this build."""
    servers = {"h2": {"name": "caddy"}, "h3": {"name": "ngtcp2", "prefix": build}}
    arms = [{"name": arm, "protocol": arm, "client": {"name": "curl"}, "server": servers[arm]} for arm in ARMS]
    return Shape(
        workloads=("100 KB",), paths=("clean", "far"), failures=frozenset(), voids=frozenset(), seed=seed,
        factors={"h3": factor}, host={"programs": PROGRAMS} | (host or {}), resolved={"arms": arms},
    )  # fmt: skip


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By name: the old build, the same build again, a slower one, and one on another kernel."""
    folder = tmp_path_factory.mktemp("studies")
    shapes = {
        "OLD": shape("/old", 1),
        "AGAIN": shape("/old", 2),
        "SLOWER": shape("/new", 3, 1.1),
        "KERNEL": shape("/new", 4, 1, {"kernel": "6.2", "link_backend": "veth"}),
    }
    return {name: str(write_study(folder / name.lower(), each)) for name, each in shapes.items()}


def run(studies: dict[str, str], *arguments: str) -> int:
    """The command with the studies' names replaced by their folders."""
    return main(["compare", *(studies.get(argument, argument) for argument in arguments)])


def test_a_slower_build_fails_the_gate(
    studies: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 6, with both files written; without a bound it is only told."""
    junit, summary = tmp_path / "ci" / "gate.xml", tmp_path / "gate.md"
    files = ("--junit", str(junit), "--markdown", str(summary))
    assert run(studies, "OLD", "SLOWER", "--fail-if", "ttlb > +3%", *files) == 6
    assert "Meant to change: programs.ngtcp2: 1.0 in OLD, 1.1 in NEW (of h3)." in capsys.readouterr().out
    assert Xml.parse(junit).getroot().get("failures") == "2"
    assert "FAILED 2 of 4 cells (2 passed)" in summary.read_text(encoding="utf-8")
    assert run(studies, "OLD", "SLOWER") == 0


def test_where_more_is_better_a_fall_is_worse(studies: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The slower build's goodput falls by about 9 %: worse, beyond a fall of 2 %, and not beyond any growth."""
    assert run(studies, "OLD", "SLOWER", "--metric", "goodput") == 0
    out = capsys.readouterr().out
    assert out.count("worse") == 2
    assert "better" not in out.replace("Worse, better:", "")  # the legend
    assert run(studies, "OLD", "SLOWER", "--fail-if", "goodput < -2%") == 6
    assert run(studies, "OLD", "SLOWER", "--fail-if", "goodput > +2%") == 0


def test_the_same_build_passes(studies: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, and a word that no record says what changed."""
    assert run(studies, "OLD", "AGAIN", "--fail-if", "ttlb > +3%") == 0
    out = capsys.readouterr().out
    assert "Gate ttlb > +3%: PASSED 4 of 4 cells." in out
    assert "No record says what changed" in out


def test_the_arm_and_the_metric_choose_what_is_judged(
    studies: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """h2 and the set-up time are as before; each bound judges its own metric."""
    assert run(studies, "OLD", "AGAIN", "--arm", "h2", "--metric", "setup_ms", "--fail-if", "goodput < -1%") == 0
    out = capsys.readouterr().out
    assert "handshake time" in out
    assert "Gate goodput < -1%: PASSED 2 of 2 cells." in out
    assert run(studies, "OLD", "SLOWER", "--arm", "h3", "--fail-if", "setup > +1%", "--fail-if", "ttlb > +10ms") == 6


def test_another_machine_is_refused_with_every_difference(
    studies: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2; what is accepted by name or group no longer stands in the way, and is told."""
    assert run(studies, "OLD", "KERNEL") == 2
    told = capsys.readouterr().err
    assert "kernel: 6.1.0 in OLD, 6.2 in NEW" in told
    assert "link_backend: – in OLD, veth in NEW" in told
    assert "--allow kernel,link_backend" in told
    assert "ngtcp2" not in told
    assert run(studies, "OLD", "KERNEL", "--allow", "kernel") == 2
    capsys.readouterr()
    assert run(studies, "OLD", "KERNEL", "--allow", "kernel,link_backend") == 0
    assert "Differs too, as allowed: kernel: 6.1.0 in OLD, 6.2 in NEW." in capsys.readouterr().out


def test_a_gate_that_could_not_judge_every_cell_has_not_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 8 where one of four cells lost too many blocks, or all have too few pairs; the files are not green."""
    few = Shape(blocks=3, aa_blocks=0, workloads=("100 KB",), paths=("clean",))
    voids = replace(few, blocks=9, paths=("clean", "far"), lost=frozenset(("far/100 KB", "h3", n) for n in range(4)))
    for name, made, told in (("few", few, "NOT JUDGED 2 of 2 cells"), ("voids", voids, "NOT JUDGED 1 of 4 cells")):
        folders = [str(write_study(tmp_path / f"{name}{seed}", replace(made, seed=seed))) for seed in (1, 2)]
        junit = tmp_path / f"{name}.xml"
        assert main(["compare", *folders, "--fail-if", "ttlb > +9%", "--junit", str(junit)]) == 8
        assert f"Gate ttlb > +9%: {told}" in capsys.readouterr().out
        assert Xml.parse(junit).getroot().get("errors") == told.split()[2]


def test_a_copy_is_no_second_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused with the number of trials, also where the copy went on to more blocks; without a bound, too."""
    shape = Shape(workloads=("100 KB",), paths=("clean",), aa_blocks=0)
    old = write_study(tmp_path / "old", shape)
    copy = shutil.copytree(old, tmp_path / "copy")
    assert main(["compare", str(old), str(copy)]) == 2
    assert f"{old} and {copy} share 18 trials: one is a copy of the other" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["OLD", "SLOWER", "--fail-if", "ttlb > 3%"], 2, "'ttlb > 3%' is not a bound"),
        (["OLD", "SLOWER", "--fail-if", "tlb > +3%"], 2, "did you mean ttlb?"),
        (["OLD", "SLOWER", "--fail-if", "ttlb > +3MB"], 2, "does not suit ttlb_ms"),
        (["OLD", "SLOWER", "--metric", "tlbt"], 2, "no study measured a metric 'tlbt'"),
        (["OLD", "SLOWER", "--arm", "h33"], 2, "OLD has no trial of an arm 'h33'"),
        (["OLD", "SLOWER", "--allow", "kernl"], 2, "did you mean kernel?"),
        (["OLD", "SLOWER", "--junit", "x.xml"], 2, "--fail-if"),
        (["OLD", "OLD"], 2, "the same study"),
        (["OLD", "/nowhere"], 4, "does not exist"),
    ],
)
def test_a_mistake_is_one_clear_error(
    studies: dict[str, str], arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence and a hint, before anything is compared."""
    assert run(studies, *arguments) == code
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("size", "arms", "told"),
    [
        ("1 MB", ("h2", "h3"), ("no cell in common", "OLD has 100 KB/clean", "NEW has 1 MB/clean")),
        ("100 KB", ("a", "b"), ("no arm in common", "OLD has h2, h3", "NEW has a, b")),
    ],
)
def test_studies_without_a_common_cell(
    tmp_path: Path, size: str, arms: tuple[str, str], told: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused with the cells, or the arms, that each has."""
    old = write_study(tmp_path / "old", Shape(workloads=("100 KB",), paths=("clean",), aa_blocks=0, seed=1))
    new = write_study(
        tmp_path / "new",
        Shape(workloads=(size,), paths=("clean",), aa_blocks=0, seed=2, baselines=dict(zip(arms, arms, strict=True))),
    )
    assert main(["compare", str(old), str(new)]) == 2
    said = capsys.readouterr()
    assert all(each in said.err for each in told), said.err
    assert said.out == ""


def test_a_gate_of_void_trials_alone_has_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A machine that was too busy for every trial is no misspelt metric."""
    for name, seed in (("old", 1), ("new", 2)):
        folder = write_study(tmp_path / name, shape("/old", seed))
        for file, rows in ((folder / "tables/trials.parquet", True), (folder / "metrics.parquet", False)):
            table = pl.read_parquet(file)
            (table.with_columns(status=pl.lit("void")) if rows else table.clear()).write_parquet(file)
    bound = ("--fail-if", "ttlb > +3%")
    assert run({}, str(tmp_path / "old"), str(tmp_path / "new"), *bound) == 8
    assert "NOT JUDGED 4 of 4 cells" in capsys.readouterr().out
    assert run({}, str(tmp_path / "old"), str(tmp_path / "new"), "--fail-if", "ttbl > +3%") == 2


def test_damaged_metrics_are_no_study_without_results(
    studies: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be read is an error, and no list of cells that measured nothing."""
    spoiled = shutil.copytree(studies["OLD"], tmp_path / "spoiled")
    (spoiled / "metrics.parquet").write_bytes(b"PAR1 but no more")
    assert run(studies, str(spoiled), "AGAIN") == 4
    assert "metrics.parquet cannot be read" in capsys.readouterr().err


def test_a_gate_says_where_blocks_were_added_after_a_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each comparison is a look, and one with more blocks than were planned before it is told of, at NEW alone."""
    for name, seed in (("old", 1), ("new", 2)):
        write_study(tmp_path / name, shape("/old", seed))
    resolved, trials = tmp_path / "new" / "resolved.json", tmp_path / "new" / "tables" / "trials.parquet"
    whole, spec = trials.read_bytes(), json.loads(resolved.read_text())
    pl.read_parquet(trials).filter(pl.col("block") < 6).write_parquet(trials)
    resolved.write_text(json.dumps(spec | {"blocks": 6}))
    told = []
    for _ in range(2):
        run({}, str(tmp_path / "old"), str(tmp_path / "new"), "--allow", "spec")
        told.append("were added after an interim look" in capsys.readouterr().out)
        trials.write_bytes(whole)
        resolved.write_text(json.dumps(spec))
    assert told == [False, True]
    assert [look.planned for look in read_looks(tmp_path / "new")] == [6, 9]
    assert len(read_looks(tmp_path / "old")) == 1
