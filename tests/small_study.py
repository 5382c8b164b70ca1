# SPDX-License-Identifier: Apache-2.0
"""Small real studies for end-to-end tests: a spec in TOML, and the installed `quiclab` as a user runs it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quiclab.plan.make import make_plan
from quiclab.spec.read import read_study

QUICLAB = Path(sys.executable).with_name("quiclab")

_SPEC = """\
[study]
name = "small"
seed = {seed}
blocks = {blocks}
aa = {{ workload = "object", path = "plain", blocks = 1 }}

# A loaded machine must not void what is tested here; how late the link is has tests and benchmarks of its own.
[limits]
disturbance = "{disturbance}"
trial = "{trial_limit}"
ready = "{ready_limit}"

[[workload]]
name = "object"
size = "{size}"

[[path]]
name = "plain"
rate = "20 Mbit/s"
delay = "5 ms"
{path}

[[arm]]
name = "h2"
protocol = "h2"
client = {client}
server = {server}
tcp = {{ congestion_control = "{congestion_control}", initial_window = 32 }}

[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = {server_h3}
"""


def write_spec(folder: Path, **changes: str | int) -> Path:
    """A spec of two arms, one object and one path; `changes` replace values."""
    values: dict[str, str | int] = {
        "seed": 1,
        "blocks": 1,
        "size": "30 KB",
        "path": "",
        "client": '"curl-cffi"',
        "server": '"caddy"',
        "server_h3": '"caddy"',
        "congestion_control": "reno",
        "disturbance": "100 %",
        "trial_limit": "20 s",
        "ready_limit": "10 s",
    }
    file = folder / "spec.toml"
    file.write_text(_SPEC.format(**(values | changes)))
    return file


def main_only(spec: Path) -> Path:
    """The spec without its A/A control, two thirds of a small study: `only_blocks` names the other blocks."""
    plan = make_plan(read_study(spec))
    wanted = dict.fromkeys(row.block_id for row in plan if row.kind == "main")
    text = spec.read_text().replace("[study]\n", f"[study]\nonly_blocks = {json.dumps(list(wanted))}\n", 1)
    spec.write_text(text)
    return spec


def quiclab(
    *arguments: str | Path, timeout: float = 300, before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `quiclab` to its end."""
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.run(
        [*before, str(QUICLAB), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        check=False,
    )


def start_quiclab(*arguments: str | Path) -> subprocess.Popen[str]:
    """Run `quiclab` and go on; it hears SIGINT, which those are to ignore that a script starts in the background."""
    return subprocess.Popen(
        ["env", "--default-signal=INT", str(QUICLAB), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def trials(study: Path) -> list[dict[str, Any]]:
    """trial.json of every kept attempt, failed and void ones included; not of one that is still being moved in."""
    files = [*study.glob("trials/[!.]*/trial.json"), *study.glob("failed/[!.]*/trial.json")]
    return [json.loads(file.read_text()) for file in sorted(files)]


def with_plain_logs(folder: Path) -> Path:
    """The folder of a kept trial, or one in it, whose logs are decompressed: its study is spoiled by that."""
    for packed in folder.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


def lab_processes(study: Path) -> list[str]:
    """Command lines of processes on this machine that belong to a study."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(study) in line and int(entry.name) != os.getpid():
                found.append(line)
    return found


def wait_for_trials(study: Path, count: int) -> None:
    """Wait until so many trials are kept that count; fails where that takes too long."""
    deadline = time.monotonic() + 60
    while len(list(study.glob("trials/[!.]*"))) < count:
        assert time.monotonic() < deadline, "the study does not get on"
        time.sleep(0.01)


def wait_until_gone(study: Path) -> None:
    """Wait until no process of the study is left; fails where that takes too long."""
    deadline = time.monotonic() + 60
    while lab_processes(study):
        assert time.monotonic() < deadline, lab_processes(study)
        time.sleep(0.02)
