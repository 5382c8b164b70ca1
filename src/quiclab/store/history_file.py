# SPDX-License-Identifier: Apache-2.0
"""The file history.json of a study whose arms are releases of one program."""

from __future__ import annotations

import json
import os
from pathlib import Path

from quiclab.model.history_record import HistoryRecord
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.layout import HISTORY
from quiclab.store.record_form import as_json, as_record


def keep_history(root: Path, record: HistoryRecord) -> None:
    """Write it into the study in `root`. Raises HostError if the disk refuses."""
    write_atomically(root / HISTORY, json.dumps(as_json(record), indent=1, ensure_ascii=False))


def read_history(root: Path) -> HistoryRecord | None:
    """History of the study in `root`; None of another study. Raises DecodeError for a file of another form."""
    file = root / HISTORY
    return as_record(read_object(file), HistoryRecord, str(file)) if os.path.lexists(file) else None
