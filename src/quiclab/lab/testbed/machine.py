# SPDX-License-Identifier: Apache-2.0
"""Abilities and timekeeping of a machine, tried in a sandbox and outside it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

from quiclab.lab.testbed.host import Finding, inside_findings, outside_findings
from quiclab.lab.testbed.sandbox import run_in_sandbox
from quiclab.model.errors import HostError

NEEDED = {"namespaces", "link emulator"}
"""Findings without which no trial runs."""


def machine_findings() -> list[Finding]:
    """All findings about this machine; a link is tried for 2 s. The process must not have threads."""
    reader, writer = os.pipe()

    def inside() -> int:
        os.write(writer, json.dumps([asdict(finding) for finding in inside_findings()]).encode())
        return 0

    try:
        run_in_sandbox(inside)
    except HostError as error:
        os.close(writer)
        return [Finding("namespaces", "missing", error.message, error.hint), *outside_findings()]
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    inner = [Finding(**values) for values in json.loads(answer or "[]")]
    return [*inner, *outside_findings()]
