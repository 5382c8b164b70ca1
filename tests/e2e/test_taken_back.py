# SPDX-License-Identifier: Apache-2.0
"""A program under test takes no trial of its own back: not by computing, not by leaving nothing, not by failing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from small_study import main_only, quiclab, trials, with_plain_logs, write_spec
from stack_study import run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

CLIENT = Path(__file__).parents[1] / "busy_client.py"
_MS = 1_000_000
_SLACK_NS = 100 * _MS
"""For looks that began before the transfer, and for what the scheduler counts later."""


def _client(how: str, protocol: str) -> str:
    """A client of the user's own, without keys and without an account."""
    words = (sys.executable, "-I", str(CLIENT), how, "{url}", "{host}:{port}:{address}", "{ca}", protocol)
    return "{ argv = [" + ", ".join(f'"{word}"' for word in words) + "] }"


def _folder(study: Path, trial: dict[str, Any]) -> Path:
    """The folder of a trial, by the instant at which it began."""
    began = f'"started_monotonic_ns": {trial["started_monotonic_ns"]}'
    return with_plain_logs(next(file.parent for file in study.glob("*/[!.]*/trial.json") if began in file.read_text()))


def _ran_and_lacked(folder: Path) -> tuple[int, int]:
    """Time that the client ran, and what it lacked of one processor, each summed over the looks at it.

    Time that it has on a second processor in one look makes up for nothing that it lacks in another.
    """
    lines = [json.loads(line) for line in (folder / "raw/run-delay.jsonl").read_text().splitlines()]
    looks = [(look["at_ns"] - look["since_ns"], look["ran_ns"]) for look in lines if look.get("role") == "client"]
    return sum(ran for _, ran in looks), sum(max(0, time - ran) for time, ran in looks)


@pytest.mark.alone
@pytest.mark.parametrize("fails", ["", "-fails"])
def test_a_client_that_computes_waits_for_itself(tmp_path: Path, fails: str) -> None:
    """The time that it ran is no wait that the laboratory owes it, however many threads or processes it has."""
    # So long that what begins and ends between two looks is a small part.
    kinds = ("threads8", "processes3")
    arms = {kind: f'protocol = "h2"\nserver = "caddy"\nclient = {_client(kind + fails, "h2")}\n' for kind in kinds}
    for kind, trial in run_arms(tmp_path, arms, size="1 MB", delay="100 ms").items():
        ran_ns, lacked_ns = _ran_and_lacked(_folder(tmp_path / "study", trial))
        all_ns = trial["host"]["cost"]["client"]["transfer"]["cpu_ns"]
        assert ran_ns >= all_ns / 2, (kind, ran_ns, all_ns)
        disturbance = trial["disturbance"]
        assert disturbance["parts"]["client"]["most_ns"] <= lacked_ns + _SLACK_NS, (kind, disturbance, ran_ns)


def test_failures_and_what_leaves_nothing_stay_what_they_are(tmp_path: Path) -> None:
    """In a study that tolerates so little that every other trial is disturbed in every attempt."""
    spec = write_spec(tmp_path, disturbance="0.0001 %", client=_client("threads0-fails", "h2"))
    arm = f'[[arm]]\nname = "silent"\nprotocol = "h3"\nserver = "caddy"\nclient = {_client("threads0", "h3")}\n'
    spec.write_text(spec.read_text() + "\n" + arm)
    study = tmp_path / "study"
    done = quiclab("run", main_only(spec), "--out", study, "--no-report")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 trial failed (1 in every attempt, in blocks that stayed disturbed)" in " ".join(done.stdout.split()), (
        done.stdout
    )
    statuses: dict[str, set[str]] = {}
    for trial in trials(study):
        statuses.setdefault(trial["row"]["arm_name"], set()).add(trial["status"])
    assert statuses["h3"] == {"void"}
    assert statuses["silent"] == {"unproven"}
    assert statuses["h2"] <= {"failed", "void"}, "void where a fifth of its time was added"
    status = quiclab("status", study, "--json").stdout
    assert '"failed": 1' in status
    assert "failed in every attempt, though its block was disturbed: the client ended with exit code 3" in status
    verified = quiclab("verify", study)
    assert verified.returncode in (0, 8), verified.stdout + verified.stderr
