# SPDX-License-Identifier: Apache-2.0
"""A context from which every endpoint can make its command."""

from __future__ import annotations

from pathlib import Path

from quiclab.lab.endpoints import Context
from quiclab.model.study import Program

WORK = Path("/lab/trial/home")
CONTEXT = Context(
    program=Program("any"),
    protocols=("h3",),
    ip_version=4,
    address="10.77.0.2",
    port=443,
    host="server.test",
    object_name="1MB",
    work_dir=WORK,
    root=Path("/lab/www"),
    certificate=Path("/lab/tls/server.crt"),
    key=Path("/lab/tls/server.key"),
    ca=Path("/lab/tls/ca.crt"),
    qlog_dir=Path("/lab/trial/raw/qlog"),
    keylog=Path("/lab/trial/raw/keys.log"),
    output=Path("/lab/trial/raw/client.json"),
    session_file=WORK / "session",
)
