# SPDX-License-Identifier: Apache-2.0
"""Releases of a program, each installed when a search first asks for it."""

from __future__ import annotations

from collections.abc import Callable

from quiclab.model.errors import QuiclabError
from quiclab.processes import in_fresh_process
from quiclab.project import release_folder
from quiclab.study.history.history_plan import HistoryPlan


def ready_release(plan: HistoryPlan, tell: Callable[[str], None]) -> Callable[[str], str | None]:
    """Installer of a plan's releases: returns the reason where one cannot be installed."""
    current = {each.name for each in plan.releases if each.is_current}

    def ready(name: str) -> str | None:
        if name in current or (release_folder(plan.program, name) / "bin").is_dir():
            return None
        tell(f"installing {plan.program} {name} …")
        # A compiler is waited for by threads, which must not be in a process that enters the sandbox.
        why: str | None = in_fresh_process(_install, f"{plan.program}@{name}")
        return why

    return ready


def _install(name: str) -> str | None:
    from quiclab.lab.stacks.install import install
    from quiclab.project import stacks_folder

    lines: list[str] = []
    try:
        if install(stacks_folder(), [name], lines.append):
            return None
    except QuiclabError as error:
        return error.message
    said = next((line for line in lines if "FAILED" in line), lines[-1] if lines else "no word")
    return f"it cannot be installed: {said.strip()}"
