# SPDX-License-Identifier: Apache-2.0
"""The programs that the link is compared with: examples of its crate, which use its own waiting and devices."""

from __future__ import annotations

import json
import shutil
import subprocess

from _bench import ROOT


def build() -> dict[str, str] | None:
    """Paths of the programs by name; None without a compiler."""
    if shutil.which("cargo") is None:
        return None
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--package", "link-run", "--examples"]
    lines = subprocess.run(
        [*command, "--message-format", "json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    built = (json.loads(line) for line in lines)
    return {each["target"]["name"]: each["executable"] for each in built if each.get("executable")}
