# SPDX-License-Identifier: Apache-2.0
"""The verdict on an attempt whose logs cannot be judged, as something in them meets a mistake."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

from quiclab.evidence.verify.artefacts import register
from quiclab.evidence.verify.trial import Verdict, short_reason
from quiclab.model.errors import QuiclabError
from quiclab.store.disk import write_atomically
from quiclab.store.record_form import as_json

MISTAKE = "mistake.txt"
"""Name of the file in the attempt's folder that says where judging it ended."""


def judge_as_unreadable(folder: Path, error: Exception) -> Verdict:
    """Write into trial.json that the attempt has failed, and why, and the trace beside it. An attempt that the
    laboratory spoiled stays void."""
    document: dict[str, object] = json.loads((folder / "trial.json").read_text())
    told = error.message if isinstance(error, QuiclabError) else f"{type(error).__name__}: {error}"
    spoiled = str(document.get("void") or "")
    reason = short_reason(spoiled or f"its logs cannot be judged: {told} ({MISTAKE} says where)")
    verdict = Verdict("void" if spoiled else "failed", reason)
    write_atomically(folder / MISTAKE, "".join(traceback.format_exception(error)).encode(errors="replace").decode())
    document |= {"status": verdict.status, "reason": verdict.reason, "proof": {}, "disturbance": None}
    document["own_failure"] = None if spoiled else reason
    document["artefacts"] = [as_json(each) for each in register(folder)]
    write_atomically(folder / "trial.json", json.dumps(document, indent=1))
    return verdict
