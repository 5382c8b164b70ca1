# SPDX-License-Identifier: Apache-2.0
"""Contents of a study as the soak compares them: what must be equal after any number of kills."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path


def contents(study: Path) -> dict[str, str]:
    """Rows of the ledger, and the digest of each file but the report, which says when it was written; of looks at the
    results, all but when they were."""
    with contextlib.closing(sqlite3.connect(f"file:{study / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
        found = {"ledger.sqlite": str(sorted(ledger.iterdump()))}
    found["looks.jsonl"] = str([look | {"when_utc": ""} for look in looks(study)])
    for file in study.rglob("*"):
        if (
            file.is_file()
            and file.name not in (".lock", "report.html", "looks.jsonl")
            and not file.name.startswith("ledger.sqlite")
        ):
            found[str(file.relative_to(study))] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def looks(study: Path) -> Iterator[dict[str, object]]:
    """Looks at a study's results, without a line that a kill cut off."""
    file = study / "looks.jsonl"
    for line in file.read_text().splitlines() if file.is_file() else ():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def documents(study: Path) -> dict[str, str]:
    """Trial → when it was run, of those that count."""
    found = {}
    for file in study.glob("trials/[!.]*/trial.json"):
        document = json.loads(file.read_text())
        found[document["trial_id"]] = document["started_utc"]
    return found


def attempts(study: Path) -> set[tuple[str, str]]:
    """Trial and when it was run, of all attempts: one that had finished may be void later, with its block, and is run
    again then. What was merely in the way of another stands aside, and is none."""
    files = (*study.glob("trials/[!.]*/trial.json"), *study.glob("failed/[!.]*/trial.json"))
    found = [json.loads(file.read_text()) for file in files if "-aside" not in file.parent.name]
    return {(document["trial_id"], document["started_utc"]) for document in found}
