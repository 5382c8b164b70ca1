# SPDX-License-Identifier: Apache-2.0
"""Every study's small variant, run as a user runs it: all its trials, report, claims and levels of evidence.

`make nightly`, or one of them: `.venv/bin/python -m pytest -m nightly -k yb-delay`. What a study left stays in
`studies/nightly/NAME` where the test fails, and is removed where it passes.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from account_facts import facts
from coarsening import in_lines, levels_of_study
from may_fail import MayFail, read_may_fail
from small_study import quiclab

pytestmark = [pytest.mark.nightly, pytest.mark.netns]

_ROOT = Path(__file__).resolve().parents[2]
_KEPT = _ROOT / "studies" / "nightly"
_STUDIES = sorted(spec.parent for spec in (_ROOT / "experiments").glob("*/small.toml"))
_LIMIT_S = 3600
"""Against one that hangs: the longest is planned for minutes, and a busy machine voids and repeats blocks."""


def _last_attempts(study: Path) -> list[tuple[dict[str, Any], str, str]]:
    """Each planned trial with the status and the reason of its last attempt; `not run` without one."""
    connection = sqlite3.connect(study / "ledger.sqlite")
    try:
        rows = {str(trial): json.loads(row) for trial, row in connection.execute("SELECT trial_id, row FROM trials")}
        # The greatest attempt's own columns: SQLite takes bare columns from the row of the maximum.
        query = "SELECT trial_id, status, reason, max(attempt) FROM attempts GROUP BY trial_id"
        last = {str(trial): (str(status), str(reason)) for trial, status, reason, _ in connection.execute(query)}
    finally:
        connection.close()
    return [(row, *last.get(trial, ("not run", ""))) for trial, row in rows.items()]


def _unexpected(study: Path, may_fail: tuple[MayFail, ...]) -> list[str]:
    """Trials that neither are verified nor may fail as they did, in words."""
    found, uses = [], Counter[MayFail]()
    for row, status, reason in _last_attempts(study):
        if status == "verified":
            continue
        allowed = next((each for each in may_fail if status == "failed" and each.covers(row, reason)), None)
        if allowed is not None and uses[allowed] < allowed.most:
            uses[allowed] += 1
            continue
        found.append(f"{row['workload']} over {row['path']}, {row['arm_name']}: {status}: {reason}")
    return found


@pytest.mark.parametrize("folder", _STUDIES, ids=lambda folder: folder.name)
def test_a_small_study_runs_whole(folder: Path) -> None:
    """Its trials are verified or fail as its may-fail.toml allows; report and claims can be written, and again."""
    study = _KEPT / folder.name
    shutil.rmtree(study, ignore_errors=True)
    ran = quiclab("run", folder / "small.toml", "--out", study, timeout=_LIMIT_S)
    told = f"kept in {study}\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}"
    assert ran.returncode in (0, 1, 8), told
    assert "Traceback" not in ran.stdout + ran.stderr, told
    unexpected = _unexpected(study, read_may_fail(folder))
    any_failed = any(status in ("failed", "unproven") for _, status, _ in _last_attempts(study))
    assert (ran.returncode == 1) == any_failed, told

    again = quiclab("report", study, timeout=_LIMIT_S)
    assert again.returncode == 0, f"kept in {study}\n{again.stdout[-4000:]}{again.stderr[-4000:]}"
    assert (study / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"), told
    accounts = facts(study)
    print("\n".join(accounts.lines()))
    assert accounts.holds, "\n".join([*accounts.lines(), told])
    if (paper := folder / "paper.toml").exists():
        wanted = [claim["id"] for claim in tomllib.loads(paper.read_text())["claim"]]
        judged = pl.read_csv(study / "report" / "data" / "claims.csv", infer_schema_length=None)
        assert judged["claim"].unique(maintain_order=True).to_list() == wanted, told
        assert judged["claim_verdict"].null_count() == 0, told
        counted = f"Of the paper's {len(wanted)} claim"
        assert all(counted in each.stdout for each in (ran, again)), told
    lines, beyond = in_lines(levels_of_study(study))
    print("\n".join(lines))
    assert not beyond, "\n".join([*lines, told])
    # Last: a machine too slow for some trials has still told whether the others' accounts are true.
    assert not unexpected, f"{unexpected}\n{told}"
    shutil.rmtree(study)
