# SPDX-License-Identifier: Apache-2.0
"""Small studies of named arms with real programs: what each arm's trial proved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_study import main_only, quiclab, trials

from quiclab.lab.endpoints import Available, find
from quiclab.lab.testbed.host import bounded_run
from quiclab.model.study import Role

_HEAD = """\
[study]
name = "stacks"
seed = 1
blocks = 1

# A loaded machine must not void what is tested here.
[limits]
disturbance = "100 %"
trial = "30 s"

[[workload]]
name = "object"
{size}
{workload}

[[path]]
name = "quiet"
rate = "50 Mbit/s"
delay = "{delay}"
{path}
"""
_ARM = """
[[arm]]
name = "{name}"
{text}
"""


def _arm(name: str, text: str) -> str:
    tcp = "" if "\ntcp = " in text else 'tcp = { congestion_control = "cubic" }\n'
    return _ARM.format(name=name, text=tcp + text)


def need(*programs: tuple[Role, str]) -> None:
    """Skip the test with its reason where a program is not installed."""
    for role, name in programs:
        found = find(role, name).probe(bounded_run)
        if not isinstance(found, Available):
            pytest.skip(f"{role} {name}: {found.reason}; {found.install}")


def are_installed(client: str, server: str) -> bool:
    """Whether a pair can run."""
    programs = (find("client", client), find("server", server))
    return all(isinstance(program.probe(bounded_run), Available) for program in programs)


def spec_text(
    arms: Mapping[str, str], size: str | None, path: str = "", delay: str = "10 ms", workload: str = ""
) -> str:
    """A spec of one block over one path. Without `size`, `workload` says what its objects are."""
    line = "" if size is None else f'size = "{size}"'
    return _HEAD.format(size=line, path=path, delay=delay, workload=workload) + "".join(
        _arm(name, text) for name, text in arms.items()
    )


def run_arms(
    folder: Path,
    arms: Mapping[str, str],
    size: str | None = "100 KB",
    path: str = "",
    delay: str = "10 ms",
    workload: str = "",
) -> dict[str, dict[str, Any]]:
    """trial.json of each arm; there is no A/A control.

    `arms`: name → its lines of TOML, without name; `tcp` is cubic's where they say none.
    """
    spec = folder / "spec.toml"
    spec.write_text(spec_text(arms, size, path, delay, workload))
    done = quiclab("run", main_only(spec), "--out", folder / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    kept = trials(folder / "study")
    return {trial["row"]["arm"]: trial for trial in kept if trial["status"] != "void"}
