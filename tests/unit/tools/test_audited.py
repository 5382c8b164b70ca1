# SPDX-License-Identifier: Apache-2.0
"""What lint makes of pip-audit's answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "audited.py"
FLAWED = {
    "name": "flask",
    "version": "0.5",
    "vulns": [{"id": "PYSEC-2019-179", "fix_versions": ["1.0"], "aliases": [], "description": "…"}],
}
SOUND = {"name": "jinja2", "version": "3.1.6", "vulns": []}
UNKNOWN = {"name": "polars", "skip_reason": "Dependency not found on PyPI and could not be audited: polars (2.1.0)"}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        ([SOUND], 0, ""),
        ([SOUND, FLAWED], 1, "flask 0.5: PYSEC-2019-179: mended in 1.0"),
        ([SOUND, UNKNOWN], 0, "not checked: advisories on 1 of 2 packages of x.lock"),
        ([UNKNOWN, FLAWED], 1, "PYSEC-2019-179"),
        (None, 0, "not checked: advisories on packages of x.lock"),
    ],
)
def test_only_what_is_known_fails(
    packages: list[dict[str, object]] | None, code: int, words: str, tmp_path: Path
) -> None:
    """What could not be asked is said, in one line; the answer is not asked twice."""
    found = tmp_path / "found.json"
    if packages is not None:
        found.write_text(json.dumps({"dependencies": packages, "fixes": []}))
    done = subprocess.run([sys.executable, TOOL, "x.lock", found], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    assert len(done.stdout.splitlines()) <= 2
    assert not found.exists()
