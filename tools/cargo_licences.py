# SPDX-License-Identifier: Apache-2.0
"""The licences of the Rust packages that are linked into quiclab's programs and its native module, as one text."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_HEADING = """\
Packages in Rust that are linked into quiclab's native module and programs, with their licences as published.
The Rust standard library, which is linked in as well, is "MIT OR Apache-2.0" (https://www.rust-lang.org).
"""
_LICENCE_FILE = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)([-_.].*)?")
_RULE = "=" * 100


def licences(root: Path, packages: Sequence[str]) -> str:
    """Names, versions and licences of all packages below `packages`, then each licence text once.

    Raises ValueError for a package that names no licence.
    """
    linked = _linked(_metadata(root), packages)
    texts: dict[str, list[str]] = {}
    lines = [_HEADING]
    for package in linked:
        label = f"{package['name']} {package['version']}"
        files = sorted(file for file in Path(package["manifest_path"]).parent.iterdir() if _is_licence(file))
        if not package["license"] and not files:
            raise ValueError(f"{label} names no licence")
        lines.append(f"{label}: {package['license'] or 'see below'} ({package['repository'] or 'no address'})")
        for file in files:
            texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(label)
    for text, labels in texts.items():
        lines += ["", _RULE, ", ".join(labels), _RULE, "", text]
    return "\n".join(lines) + "\n"


def _metadata(root: Path) -> Mapping[str, Any]:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", _host()]
    told = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    metadata: Mapping[str, Any] = json.loads(told)
    return metadata


def _host() -> str:
    told = subprocess.run(["rustc", "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
    return next(line.removeprefix("host: ") for line in told.splitlines() if line.startswith("host: "))


def _linked(metadata: Mapping[str, Any], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Packages of others that are reached without the dependencies of tests and build scripts."""
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: [need["pkg"] for need in node["deps"] if _is_linked(need["dep_kinds"])]
             for node in metadata["resolve"]["nodes"]}  # fmt: skip
    reached: set[str] = set()
    todo = [each for each in metadata["workspace_members"] if packages[each]["name"] in names]
    while todo:
        if (each := todo.pop()) not in reached:
            reached.add(each)
            todo += needs[each]
    others = (packages[each] for each in reached if packages[each]["source"] is not None)
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def _is_linked(kinds: Iterable[Mapping[str, Any]]) -> bool:
    return any(kind["kind"] is None for kind in kinds)


def _is_licence(file: Path) -> bool:
    return file.is_file() and _LICENCE_FILE.fullmatch(file.name) is not None
