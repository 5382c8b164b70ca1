# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md leads to files that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_that_it_names_is_there() -> None:
    """Files are named by the end of their path, as they are called within their room."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [f"/{line}" for line in listed.splitlines()]
    named = re.findall(r"`([\w./-]+\.(?:py|rs|toml|go|md|js|sh))`", text)
    assert len(named) > 80
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert [link for link in links if not (ROOT / link).exists()] == []
