# SPDX-License-Identifier: Apache-2.0
"""The reference of the spec is generated, complete and up to date."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from quiclab.spec import arms, impairments, paths, read, workloads
from quiclab.spec.arms import KNOB_KEYS

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "spec.md"


def test_the_page_is_up_to_date() -> None:
    """Whoever changes a key or its docstring runs the generator."""
    command = [sys.executable, str(ROOT / "tools" / "generate_reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr


def test_every_key_has_a_row_with_a_meaning() -> None:
    """Nothing can be written in a spec that the page does not explain."""
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    tables = (
        *(read.STUDY_KEYS, read.AA_KEYS, read.LIMITS_KEYS, workloads.WORKLOAD_KEYS, paths.LINK_KEYS),
        {key: kind for key, kind in paths.PATH_KEYS.items() if key != "link"},
        *(workloads.COMPETITION_KEYS, workloads.COMPETITOR_KEYS, workloads.BACKGROUND_KEYS),
        *(impairments.JITTER_KEYS, impairments.REORDER_KEYS, impairments.CHANGE_KEYS),
        *(keys for _, keys in impairments.LOSS_MODELS.values()),
        *(arms.arm_keys(), arms.PROGRAM_KEYS, KNOB_KEYS, arms.CERTIFICATE_KEYS, arms.TCP_KEYS),
    )
    missing = {key for keys in tables for key in keys if not rows.get(key, "").strip()}
    assert not missing
