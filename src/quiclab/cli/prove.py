# SPDX-License-Identifier: Apache-2.0
"""After the last trial: what only decrypted packets tell is proven of every trial; between trials it takes too long."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.progress import track

from quiclab.store.layout import Attempt, StudyDir, disk_errors
from quiclab.store.ledger import open_ledger
from quiclab.verify.proof import NOT_YET
from quiclab.verify.trial import judge

_AT_A_TIME = 2


def prove_rest(study_dir: StudyDir, console: Console) -> None:
    """Judge again, with decryption, what counts so far. What turns out not to be what was asked for has failed."""
    with open_ledger(study_dir) as ledger:
        ledger.adopt()
        damaged = ledger.damaged()
        final = [tries[-1] for trial_id, tries in ledger.attempts().items() if trial_id not in damaged]
        rest = [attempt for attempt in final if attempt.status == "verified" and not _decrypted(study_dir, attempt)]
        with ThreadPoolExecutor(_AT_A_TIME) as pool, disk_errors(study_dir.root):
            verdicts = pool.map(lambda attempt: judge(study_dir.folder(attempt), decrypt=True), rest)
            done = track(zip(rest, verdicts, strict=True), "proving", total=len(rest), console=console, transient=True)
            for attempt, verdict in done:
                if verdict.status != attempt.status:
                    ledger.overrule(attempt, verdict.status, verdict.reason)
                    console.print(f"{attempt.trial_id}: {verdict.status}: {verdict.reason}", highlight=False)


def _decrypted(study_dir: StudyDir, attempt: Attempt) -> bool:
    """Whether the second look was taken already; where it could not be, its reason stands in the proof."""
    document = json.loads((study_dir.folder(attempt) / "trial.json").read_text())
    return bool(document["proof"]["unproven_because"].get("decrypted_by") != NOT_YET)
