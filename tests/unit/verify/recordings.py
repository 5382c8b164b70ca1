# SPDX-License-Identifier: Apache-2.0
"""Whole connections with their keys, as the folder of a trial that ran them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from quiclab.verify._tshark import tshark_version
from quiclab.verify.trial import HTTP_VERSIONS

RECORDINGS = Path(__file__).parent / "recordings"

needs_tshark = pytest.mark.skipif(tshark_version() is None, reason="tshark is not installed")


def trial(folder: Path, name: str, **changes: Any) -> Path:
    """A folder with that recording under raw/ and a trial.json of a good trial, changed as told."""
    protocol = name.partition("-")[0]
    request = {"http_version": HTTP_VERSIONS[protocol], "status": 200, "body_bytes": 1000, "sha256": "abc"}
    document = {
        "trial_id": "t",
        "failure": None,
        "protocol": protocol,
        "server_port": 443,
        "tcp_congestion_control_asked": "reno",
        "expected": {"name": "object", "body_bytes": 1000, "sha256": "abc"},
        "host": {"server_tcp_congestion_control": "reno"},
        "link": {"sound": True, "unsound_reasons": []},
        "client": {"requests": [request]},
        "asked": {},
    }
    shutil.copytree(RECORDINGS / name, folder / "raw")
    (folder / "trial.json").write_text(json.dumps(document | changes))
    return folder


def proof_of(folder: Path) -> dict[str, Any]:
    """What trial.json holds of it now."""
    proof: dict[str, Any] = json.loads((folder / "trial.json").read_text())["proof"]
    return proof
