# SPDX-License-Identifier: Apache-2.0
"""The wheel, as `make wheel` builds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build_wheel(folder: Path) -> Path:
    """The wheel, built into a folder; the lock of its dependencies is beside it."""
    subprocess.run([sys.executable, str(ROOT / "tools" / "wheel.py"), str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel
