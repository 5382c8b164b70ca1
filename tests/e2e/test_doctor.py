# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor` on this machine: one table, the same as JSON, and the one line that adds what is missing."""

from __future__ import annotations

import json

import pytest
from small_study import quiclab

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_as_json() -> None:
    """Every endpoint has name, role, status, version and reason; what the demo needs is there."""
    done = quiclab("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    for row in report["endpoints"]:
        assert {"name", "role", "status", "version", "reason"} <= row.keys()
        assert (row["version"] is None) == (row["status"] == "unsupported")
    available = {(row["role"], row["name"]) for row in report["endpoints"] if row["status"] == "available"}
    assert {("server", "caddy"), ("client", "curl-cffi"), ("server", "aioquic"), ("client", "aioquic")} <= available
    for finding in report["machine"]:
        assert finding["state"] in ("ok", "limited", "missing")
        assert bool(finding["remedy"]) == (finding["state"] != "ok")
    (time,) = (finding["numbers"] for finding in report["machine"] if finding["name"] == "keeps time")
    assert 0 < time["packets"] <= 2000
    assert 0 <= time["p50_ns"] <= time["p99_ns"] <= time["max_ns"]


def test_as_a_table() -> None:
    """Readable without a terminal."""
    done = quiclab("doctor")
    assert "namespaces" in done.stdout
    assert "caddy" in done.stdout
    assert "quinn-time-threshold " in done.stdout
    assert "-faulty-" not in done.stdout
    assert "single verbs" in done.stdout


def test_where_user_namespaces_are_forbidden() -> None:
    """It says so, what to do, and ends with the code for a machine that cannot."""
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces"
    before = ["unshare", "--user", "--map-root-user", "sh", "-c", f'{forbid}; exec "$@"', "sh"]
    done = quiclab("doctor", before=before)
    assert done.returncode == 3
    assert "namespaces" in done.stdout
    assert "max_user_namespaces" in done.stdout
    assert "Traceback" not in done.stderr
