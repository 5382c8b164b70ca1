# SPDX-License-Identifier: Apache-2.0
"""The file sequential.json of a study that goes on until it is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.store.layout import SEQUENTIAL
from quiclab.store.own_files import read_own

if TYPE_CHECKING:
    from quiclab.model.sequential_record import SequentialGrowth


def read_growth(root: Path) -> SequentialGrowth | None:
    """Growth of the study in `root` so far; None where its number of blocks is fixed, or the file cannot be read."""
    # Records are imported where one is read: most studies have none, and `quiclab status` is to be quick.
    try:
        document = json.loads(read_own(root / SEQUENTIAL))
    except (OSError, ValueError, RecursionError):
        return None
    from quiclab.model.sequential_record import SequentialGrowth
    from quiclab.store.record_form import view_of

    found = view_of(document, SequentialGrowth)
    return found if found and all(blocks <= MOST_BLOCKS for blocks in found.blocks.values()) else None
