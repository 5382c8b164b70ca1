# SPDX-License-Identifier: Apache-2.0
"""The file sequential.json of a study that goes on until it is decided."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.errors import DecodeError
from quiclab.store.disk import read_object
from quiclab.store.forms import misfit
from quiclab.store.layout import SEQUENTIAL

if TYPE_CHECKING:
    from quiclab.model.sequential_record import SequentialGrowth

_HINT = "put it back from a copy of the study: without it, how often the result was looked at is not known"


def read_growth(root: Path) -> SequentialGrowth | None:
    """Growth of the study in `root` so far; None where its number of blocks is fixed.

    Raises DecodeError for a file that cannot be read or is of another form: without its looks the study would be
    tested as if nobody had looked.
    """
    file = root / SEQUENTIAL
    if not os.path.lexists(file):
        return None
    document = read_object(file, _HINT)
    # Records are imported where one is read: most studies have none, and `quiclab status` is to be quick.
    from quiclab.model.sequential_record import SequentialGrowth
    from quiclab.store.record_form import as_record, form_of

    wrong = misfit(document, form_of(SequentialGrowth))
    if wrong is None:
        found = as_record(document, SequentialGrowth)
        most = max(found.blocks.values(), default=0)
        if most <= MOST_BLOCKS:
            return found
        wrong = f"blocks has {most}, and no study has more than {MOST_BLOCKS}"
    raise DecodeError(f"{file} is not of its form: {wrong}", _HINT)
