# SPDX-License-Identifier: Apache-2.0
"""What the latest run of a study was about: read as it was kept, and never more than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.plan.part import WHOLE, Part
from quiclab.store.layout import StudyDir
from quiclab.study.selection import keep_part, kept_part


@pytest.mark.parametrize(
    "part", [Part(shard=(2, 8)), Part(blocks=3, cells=("1MB/plain", "1MB/plain/aa-h2")), Part(blocks=1, shard=(1, 2))]
)
def test_it_is_what_was_kept(tmp_path: Path, part: Part) -> None:
    """A shard, a first look, or both; a run of all of the plan forgets it."""
    study = StudyDir(tmp_path)
    assert kept_part(study) == WHOLE
    keep_part(study, part)
    assert kept_part(study) == part
    keep_part(study, WHOLE)
    assert kept_part(study) == WHOLE
    assert not study.part.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"blocks": "x", "cells": [], "shard": null}',
        '{"blocks": null, "cells": 3, "shard": 1}',
        '{"blocks": null, "cells": ["a\\u001b[31m"], "shard": null}',
        '{"blocks": 1e400, "cells": [], "shard": null}',
        '{"blocks": -3, "cells": [], "shard": null}',
        '{"blocks": null, "cells": "a", "shard": null}',
        '{"blocks": null, "cells": [], "shard": [1, 2, 3]}',
        '{"blocks": null, "cells": [], "shard": [1, 0]}',
    ],
)
def test_what_no_run_has_written_is_all_of_the_plan(tmp_path: Path, text: str) -> None:
    """A study from elsewhere may hold anything."""
    (tmp_path / "part.json").write_text(text)
    assert kept_part(StudyDir(tmp_path)) == WHOLE
