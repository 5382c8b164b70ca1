# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --watch`: a page that follows a real run, shows no result, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from small_study import main_only, start_quiclab, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]
_PATIENCE_S = 120


def _begun(tmp_path: Path) -> tuple[subprocess.Popen[str], str]:
    """A run that is watched, and the address of its page."""
    spec = main_only(write_spec(tmp_path, blocks=2))
    run = start_quiclab("run", spec, "--out", tmp_path / "study", "--no-report", "--watch")
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith("watch: "):
            return run, line.removeprefix("watch: ").strip()
    raise AssertionError(f"no address, and exit code {run.wait()}")


def _state(address: str) -> dict[str, Any] | None:
    """Return the state that the page gets; None once nobody answers, or while there is no study yet."""
    try:
        with urllib.request.urlopen(f"{address}state", timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except OSError:
        return None


def _is_gone(address: str) -> bool:
    """True once nobody answers any more."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            return True
        time.sleep(0.2)
    return False


def test_a_run_is_followed(tmp_path: Path) -> None:
    """Each trial is seen under way, results are refused, and the last state has all trials."""
    run, address = _begun(tmp_path)
    seen, last = set[str](), None
    while run.poll() is None:
        state = _state(address)
        if state is not None and state["trials"] is not None:
            seen |= set(state["under_way"])
            last = state
            if state["running"]:
                with pytest.raises(urllib.error.HTTPError, match="409"):
                    urllib.request.urlopen(f"{address}trials", timeout=30)
        time.sleep(0.05)
    assert run.returncode == 0, run.communicate()
    assert {name.split()[1] for name in seen} == {"h2", "h3"}
    assert last is not None
    assert (last["trials"]["verified"], last["trials"]["not_run"], last["watch"]) == (4, 0, True)
    assert _is_gone(address)
    run.communicate()


def test_a_killed_run_takes_its_page_along(tmp_path: Path) -> None:
    """The page's process hears that its run is gone."""
    run, address = _begun(tmp_path)
    os.kill(run.pid, signal.SIGKILL)
    assert _is_gone(address)
    run.communicate()
