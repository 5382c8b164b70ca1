# SPDX-License-Identifier: Apache-2.0
"""Chromium with a session from an earlier visit, without a browser: what it is told, and how its log is shared out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contexts import CONTEXT, WORK

from quiclab.lab.endpoints import objections
from quiclab.lab.endpoints._api import PageContext, ServedHost
from quiclab.lab.endpoints.clients._chromium_first_visit import split_netlog
from quiclab.lab.endpoints.clients.chromium import Chromium
from quiclab.model.page import Page
from quiclab.model.study import Arm, Knobs, Program, Tcp, Workload
from quiclab.model.units import ByteCount

_HOST = ServedHost("server.test", "10.77.0.2", ("h1", "h2", "h3"), CONTEXT.certificate, CONTEXT.key)
_PAGE = PageContext("index.html", (_HOST,), 3, 30.0)


@pytest.mark.parametrize(("session", "visits"), [(None, False), ("fresh", True), ("early_data", True)])
def test_who_asks_for_a_session_visits_first(session: Any, visits: bool) -> None:
    """It says by a file when that visit is over; without a word of sessions the browser is a cold one."""
    program = Program("chromium", knobs=Knobs(session=session))
    command = Chromium().command(replace(CONTEXT, program=program, page=_PAGE))
    job = json.loads(command.files[WORK / "client-job.json"])
    assert job["session"] == session
    assert command.first_visit_file == (Path("/lab/trial/raw/client.visited") if visits else None)


def test_what_it_cannot_resume_is_refused() -> None:
    """0-RTT over TCP, and objects, which it would fetch without a first visit."""
    program = Program("chromium", knobs=Knobs(session="early_data"))
    arm = Arm("x", "h3", program, Program("caddy"), Tcp("cubic"))
    assert "sends no 0-RTT data over TCP" in objections(replace(arm, protocol="h2"))[0]
    page = Workload("page", ByteCount(10_000), kind="page", page=Page())
    assert objections(arm, [page]) == []
    assert "visits pages first, and 1MB is none" in objections(arm, [Workload("1MB", ByteCount(10**6))])[0]


def test_a_cache_is_of_a_first_visit_and_of_servers_that_allow_it() -> None:
    """A browser that keeps nothing of that visit has an empty cache, Firefox has none, and quic-go forbids it."""
    page = Workload("page", ByteCount(10_000), kind="page", page=Page())
    resuming = Program("chromium", knobs=Knobs(session="early_data", http_cache=True))
    arm = Arm("x", "h3", resuming, Program("caddy"), Tcp("cubic"))
    assert objections(arm, [page]) == []
    fresh = Program("chromium", knobs=Knobs(session="fresh", http_cache=True))
    assert "http_cache keeps what a first visit loaded: write session" in objections(replace(arm, client=fresh))[0]
    assert "no browser keep what a page needs" in objections(replace(arm, server=Program("quic-go")))[0]
    firefox = Program("firefox", knobs=Knobs(http_cache=True))
    assert "firefox has no http_cache over h3: unsupported" in objections(replace(arm, client=firefox))[0]
    command = Chromium().command(replace(CONTEXT, program=resuming, page=_PAGE))
    assert json.loads(command.files[WORK / "client-job.json"])["http_cache"] is True


def test_the_log_of_the_first_visit_is_a_log_of_its_own(tmp_path: Path) -> None:
    """Each event stands in one of the two, both are whole, and what ends the log stays in the measured one."""
    netlog, first = tmp_path / "client-netlog.json", tmp_path / "first-visit-netlog.json"
    events = [f'{{"phase":0,"source":{{"id":{number}}},"time":"{1000 + number}","type":1}}' for number in range(4)]
    netlog.write_text(
        '{"constants":{"logEventTypes":{}},\n"events": [\n' + ",\n".join(events) + '],\n"polledData": []}\n'
    )
    split_netlog(netlog, first, 1_002_000_000)
    before, after = first.read_text(), json.loads(netlog.read_text())
    assert [event["source"]["id"] for event in after["events"]] == [2, 3]
    assert after["polledData"] == []
    assert [number for number in range(4) if f'"id":{number}' in before] == [0, 1]
    assert before.startswith('{"constants"')
