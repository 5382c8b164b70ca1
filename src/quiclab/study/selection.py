# SPDX-License-Identifier: Apache-2.0
"""The part of a plan that a study's latest run was about, such as a shard: what goes on with it is about the same."""

from __future__ import annotations

import json
import re

from quiclab.model.errors import DecodeError
from quiclab.model.part_record import KeptPart
from quiclab.plan.part import WHOLE, Part
from quiclab.store.disk import disk_errors, read_object, write_atomically
from quiclab.store.layout import StudyDir
from quiclab.store.record_form import as_json, view_of


def keep_part(study_dir: StudyDir, part: Part) -> None:
    """Keep what a run is about, in a directory that it holds. Raises HostError if the disk refuses."""
    if part.is_whole:
        with disk_errors(study_dir.part):
            study_dir.part.unlink(missing_ok=True)
    else:
        write_atomically(study_dir.part, json.dumps(as_json(KeptPart(part.cells, part.blocks, part.shard))))


def kept_part(study_dir: StudyDir) -> Part:
    """Part of the plan that the latest run was about; all of it where nothing says so, or the file is none of a
    run's."""
    try:
        found = view_of(read_object(study_dir.part), KeptPart)
    except DecodeError:
        return WHOLE
    if found is None:
        return WHOLE
    blocks, shard = found.blocks, found.shard
    possible = (
        (blocks is None or blocks > 0),
        (shard is None or (len(shard) == 2 and 1 <= shard[0] <= shard[1])),
        # A command is made of the cells, which is printed.
        all(re.fullmatch(r"[\w./-]+", cell) for cell in found.cells),
    )
    return Part(blocks, found.cells, None if shard is None else (shard[0], shard[1])) if all(possible) else WHOLE
