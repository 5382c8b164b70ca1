# SPDX-License-Identifier: Apache-2.0
"""Whole connections with their keys, as the folder of a trial that ran them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from quiclab.evidence.verify.delivered import HTTP_VERSIONS
from quiclab.evidence.verify.trial import Verdict, judge
from quiclab.logs.decoders import decode_trial

RECORDINGS = Path(__file__).parent / "recordings"


def trial(folder: Path, name: str, **changes: Any) -> Path:
    """A folder with that recording under raw/ and a trial.json of a good trial, changed as told."""
    protocol = name.partition("-")[0]
    kilobytes = 40 if name.startswith(("h3-migration", "h3-rebinding")) else 4 if name == "h3-loss" else 1
    content = {"body_bytes": 1000 * kilobytes, "sha256": "abc"}
    request = {"http_version": HTTP_VERSIONS[protocol], "status": 200, **content}
    document = {
        "trial_id": "t",
        "failure": None,
        "protocol": protocol,
        "server_port": 443,
        "tcp_congestion_control_asked": "reno",
        "expected": {"name": f"{kilobytes}k", **content},
        "host": {"server_tcp_congestion_control": "reno"},
        "link": {"sound": True, "unsound_reasons": []},
        "client": {"requests": [request]},
        "asked": {},
    }
    shutil.copytree(RECORDINGS / name, folder / "raw")
    (folder / "trial.json").write_text(json.dumps(document | changes))
    return folder


def judged(folder: Path) -> Verdict:
    """The verdict on such a folder, by its decoded logs."""
    return judge(folder, decode_trial(folder).tables)


def proof_of(folder: Path) -> dict[str, Any]:
    """What trial.json holds of it now."""
    proof: dict[str, Any] = json.loads((folder / "trial.json").read_text())["proof"]
    return proof
