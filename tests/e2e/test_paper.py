# SPDX-License-Identifier: Apache-2.0
"""`quiclab paper` with real programs: a result of a paper, run again and held against what the paper says."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from small_study import quiclab, trials

from quiclab.cli.documents import PaperDocument
from quiclab.model.errors import RAN, ExitCode

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_a_result_is_run_and_held_against_the_paper(tmp_path: Path) -> None:
    """QUIC's handshake saves a round trip of 100 ms, with curl and nginx: no machine changes that much. The small
    variant is a study of its own, which goes on and says the same again; its report has the claims as well."""
    out = tmp_path / "studies"
    command = ("paper", "liu", "L7b", "--small", "--out", out)
    done = quiclab(*command, "--json", timeout=500)
    if done.returncode == ExitCode.HOST and "not here" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode in RAN, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document.keys() == set(PaperDocument.__dataclass_fields__)
    assert document["exit_code"] == done.returncode
    ((result,), (study,)) = document["results"], document["studies"]
    (claim,) = result["claims"]
    assert (result["id"], claim["claim"], claim["paper"]) == ("L7b", "round-trip", "-100.4 ms")
    assert -130 < claim["ours_in_unit"] < -70
    assert claim["verdict"] == claim["claim_verdict"]
    assert claim["verdict"] in ("agrees", "inconclusive", "differs")
    low, high = claim["interval_in_unit"]
    assert claim["verdict"] != "agrees" or -110.4 <= low <= high <= -90.4

    directory = out / "liu-setup-6-pairs"
    assert (Path(study["directory"]), study["pairs"], study["trials"]["planned"]) == (directory, 6, 24)
    spec = tomllib.loads((directory / "spec.toml").read_text())["study"]
    assert (spec["blocks"], spec["aa"]["blocks"]) == (6, 0)
    assert claim["here"].partition(" (")[0] in (directory / "report.html").read_text()
    assert "L7b (4.1): QUIC saves one round trip" in done.stderr
    assert f"  {claim['verdict']}: mean " in done.stderr

    before = len(trials(directory))
    again = quiclab(*command, timeout=300)
    assert again.returncode in RAN, again.stdout + again.stderr
    told = " ".join(again.stdout.split())  # a line ends where a long folder does not fit
    if study["trials"]["void"] == 0:
        assert len(trials(directory)) == before
        assert " ".join(claim["here"].split()) in told
    assert "kept: " in told
    assert "The paper's size: " in told


def test_what_the_time_does_not_reach_is_told(tmp_path: Path) -> None:
    """The end of the time is a good end: no pair has begun, and what is left is said."""
    out = tmp_path / "studies"
    done = quiclab("paper", "liu", "L7b", "--small", "--minutes", "0.001", "--out", out, timeout=300)
    if done.returncode == ExitCode.HOST and "not here" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == ExitCode.OK, done.stdout + done.stderr
    assert trials(out / "liu-setup-6-pairs") == []
    assert "0 of 1 studies ran in the time: the same command goes on with the rest" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr
