# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor`: what it prints of an earlier `quiclab conformance`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.cli.conformance import LAST_RESULT
from quiclab.cli.doctor import _print_conformance


def test_servers_that_are_wrong_on_purpose_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are tried like all others, and help no user to choose a program."""
    fronts = [{"role": "server", "name": name} for name in ("quinn", "quinn-faulty-threshold")]
    results = [
        {
            "role": "server",
            "front": each["name"],
            "client": "curl",
            "protocol": "h3",
            "what": what,
            "outcome": "verified",
        }
        for each in fronts
        for what in ("1KB", "1MB")
    ]
    told = {"ended_utc": "2026-01-01T00:00:00Z", "fronts": fronts, "results": results}
    (tmp_path / LAST_RESULT).write_text(json.dumps(told))
    monkeypatch.setattr("quiclab.project.stacks_folder", lambda: tmp_path)
    _print_conformance()
    printed = capsys.readouterr().out
    assert "quinn " in printed
    assert "1 of 1" in printed
    assert "faulty" not in printed
