# SPDX-License-Identifier: Apache-2.0
"""`quiclab compare` as a gate, with two builds of a real client of which the second is slower."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from small_study import quiclab, trials
from stack_study import need, spec_text

from quiclab.lab.endpoints._stacks import find_program

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_BLOCKS = 7
"""The fewest of which all of one sign stay below 0.05 with one to spare."""


def _build(folder: Path, options: str = "") -> Path:
    """An installed ngtcp2 client, by default with more `options`."""
    program = find_program("gtlsclient", None)
    assert program is not None
    installed = folder / "bin" / "gtlsclient"
    installed.parent.mkdir(parents=True)
    installed.write_text(f'#!/bin/sh\nexec {shlex.join(program.argv)} {options} "$@"\n')
    installed.chmod(0o755)
    return folder


def _spec(folder: Path, build: Path) -> Path:
    folder.mkdir()
    arms = {
        "h2": 'protocol = "h2"\nclient = "curl-cffi"\nserver = "caddy"',
        "h3": f'protocol = "h3"\nclient = {{ name = "ngtcp2", prefix = "{build}" }}\nserver = "caddy"',
    }
    spec = folder / "spec.toml"
    text = spec_text(arms, "300 KB", delay="40 ms")
    spec.write_text(text.replace("blocks = 1\n", f"blocks = {_BLOCKS}\naa = {{ blocks = 1 }}\n", 1))
    return spec


def _run(folder: Path, build: Path) -> Path:
    spec = _spec(folder, build)
    done = quiclab("run", spec, "--out", folder / "study", timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "study"


@pytest.mark.matrix
def test_a_slower_build_is_stopped(tmp_path: Path) -> None:
    """Somebody left a small window in the new build: the gate names the cell; the way back is no failure."""
    need(("client", "ngtcp2"), ("server", "caddy"))
    old = _run(tmp_path / "old", _build(tmp_path / "builds" / "old"))
    # Some 18 round trips instead of a few: no stall of a busy machine hides that.
    small = "--max-data=16384 --max-stream-data-bidi-local=16384"
    new = _run(tmp_path / "new", _build(tmp_path / "builds" / "new", small))
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"

    stopped = quiclab(
        "compare", old, new, "--arm", "h3", "--fail-if", "ttlb > +10%", "--junit", junit, "--markdown", markdown
    )
    assert stopped.returncode == 6, stopped.stdout + stopped.stderr
    suite = ElementTree.parse(junit).getroot().find(".//testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "h3" in markdown.read_text()

    passed = quiclab("compare", new, old, "--arm", "h3", "--fail-if", "ttlb > +10%")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    # The other arm ran the same programs in both: what moved there is none of the build's doing, and is shown.
    assert "ran the same programs in both studies" in " ".join(passed.stdout.split())


@pytest.mark.nightly
def test_both_builds_run_in_the_same_blocks_and_the_slower_one_is_stopped(tmp_path: Path) -> None:
    """Two specs are all that is given; asked again, the finished study is judged without a trial more."""
    need(("client", "ngtcp2"), ("server", "caddy"))
    small = "--max-data=16384 --max-stream-data-bidi-local=16384"
    old = _spec(tmp_path / "old", _build(tmp_path / "builds" / "old"))
    new = _spec(tmp_path / "new", _build(tmp_path / "builds" / "new", small))
    study = tmp_path / "study"

    asked = (
        "compare",
        "--interleave",
        old,
        new,
        "--out",
        study,
        "--fail-if",
        "ttlb > +10%",
        "--blocks",
        str(_BLOCKS),
        "--jobs",
        "2",
    )
    stopped = quiclab(*asked, timeout=400)
    assert stopped.returncode == 6, stopped.stdout + stopped.stderr
    told = " ".join(stopped.stdout.split())
    assert "Interleaved: each block ran both builds back to back" in told
    assert "Gate ttlb > +10%: FAILED 1 of 1 cell." in told
    # Each main trial once with either build, and one block of A/A control of each.
    assert len(trials(study)) == 2 * _BLOCKS + 2 * 2
    again = quiclab(*asked)
    assert again.returncode == 6, again.stdout + again.stderr
    assert len(trials(study)) == 2 * _BLOCKS + 2 * 2
