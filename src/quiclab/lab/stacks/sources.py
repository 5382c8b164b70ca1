# SPDX-License-Identifier: Apache-2.0
"""Debian release of this machine, and the mirrors that it gets its packages from."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from quiclab.model.errors import HostError

_CHOSEN_MIRROR = "QUICLAB_DEBIAN_MIRROR"
_FIELDS = ("CREATED_BY", "COMPONENT", "ORIGIN", "CODENAME", "RELEASE", "REPO_URI")
_ARCHIVES = ("debian", "debian-security")


@dataclass(frozen=True)
class Source:
    """One release at one mirror."""

    mirror: str
    suite: str


def own_sources() -> tuple[Source, ...]:
    """The machine's own release with its updates, in whatever form its sources are written; empty if not Debian."""
    release = _os_release()
    if release.get("ID") != "debian":
        return ()
    # An index that apt has read names its publisher; where it has read none yet, the mirror's address has to do.
    codename = release.get("VERSION_CODENAME", "")
    return _published_by_debian(_targets(), codename) or _looks_like_debian(_targets("--no-release-info"), codename)


def mirror() -> str:
    """$QUICLAB_DEBIAN_MIRROR, else the machine's own mirror of Debian. Raises HostError where there is neither."""
    chosen = os.environ.get(_CHOSEN_MIRROR) or next(
        (source.mirror for source in own_sources() if "-" not in source.suite), None
    )
    if chosen is None:
        raise HostError(
            "the apt sources of this machine name no mirror of Debian", f"set {_CHOSEN_MIRROR} to the address of one"
        )
    return chosen.rstrip("/")


def _published_by_debian(targets: Iterable[Mapping[str, str]], codename: str) -> tuple[Source, ...]:
    return _sources(row for row in targets if row["ORIGIN"] == "Debian" and _is_of(row["CODENAME"], codename))


def _looks_like_debian(targets: Iterable[Mapping[str, str]], codename: str) -> tuple[Source, ...]:
    named = (row for row in targets if row["REPO_URI"].rstrip("/").rpartition("/")[2] in _ARCHIVES)
    return _sources(row for row in named if _is_of(row["RELEASE"], codename))


def _is_of(suite: str, codename: str) -> bool:
    return suite in (codename, f"{codename}-updates", f"{codename}-security")


def _sources(targets: Iterable[Mapping[str, str]]) -> tuple[Source, ...]:
    main = (row for row in targets if row["CREATED_BY"] == "Packages" and row["COMPONENT"] == "main")
    return tuple(dict.fromkeys(Source(row["REPO_URI"].rstrip("/"), row["RELEASE"]) for row in main))


def _targets(*options: str) -> list[dict[str, str]]:
    """Indexes of apt's sources, as apt itself lists them."""
    line = "|".join(f"$({field})" for field in _FIELDS)
    command = ("apt-get", "indextargets", *options, "--format", line)
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = (line.split("|") for line in text.splitlines())
    return [dict(zip(_FIELDS, row, strict=True)) for row in rows if len(row) == len(_FIELDS)]


def _os_release() -> dict[str, str]:
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
