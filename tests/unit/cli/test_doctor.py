# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor`: what it prints of an earlier `quiclab conformance`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.cli.conformance import LAST_RESULT
from quiclab.cli.conformance_page import page
from quiclab.cli.doctor import _print_conformance
from quiclab.model.conformance_record import CaseResult, ConformanceResults, TriedProgram, WrittenLogs
from quiclab.store.record_form import as_json


def test_servers_that_are_wrong_on_purpose_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are tried like all others, and help no user to choose a program."""
    clients = (TriedProgram("client", "curl", "8"),)
    fronts = tuple(TriedProgram("server", name, "0.11") for name in ("quinn", "quinn-faulty-threshold"))
    logs = WrittenLogs(client_qlog=False, server_qlog=True, keys=True)
    results = tuple(
        CaseResult("curl", each.name, "server", "h3", what, "verified", "", logs, {})
        for each in fronts
        for what in ("1KB", "1MB")
    )
    told = as_json(ConformanceResults(1, "2026-01-01T00:00:00Z", clients, fronts, results))
    (tmp_path / LAST_RESULT).write_text(json.dumps(told))
    monkeypatch.setattr("quiclab.project.stacks_folder", lambda: tmp_path)
    _print_conformance()
    printed = capsys.readouterr().out
    assert "quinn " in printed
    assert "1 of 1" in printed
    assert "faulty" not in printed


def test_the_page_has_a_line_for_each_program_with_its_logs() -> None:
    """A client's log is not that of the server which it spoke to."""
    client, front = TriedProgram("client", "curl", "8"), TriedProgram("server", "quinn", "0.11")
    logs = WrittenLogs(client_qlog=False, server_qlog=True, keys=True)
    came = CaseResult("curl", "quinn", "server", "h3", "1KB", "verified", "", logs, {})
    failed = CaseResult("curl", "quinn", "server", "h3", "1MB", "failed", "the body is empty", logs, {})
    told = page(ConformanceResults(1, "2026-01-01T00:00:00Z", (client,), (front,), (came, failed)))
    assert "| curl | client | 8 |  | no | yes |" in told
    assert "| quinn | server | 0.11 |  | yes |  |" in told
    assert "~~h3~~ [1]" in told
    assert "1. the body is empty" in told
