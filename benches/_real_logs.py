# SPDX-License-Identifier: Apache-2.0
"""Logs of real trials for the benchmarks of decoding: one large object over HTTP/2 and one over HTTP/3."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from _bench import ROOT  # noqa: F401 - puts the tests' helpers on the path
from small_study import quiclab

SPEC = """
[study]
name = "large"
seed = 1
blocks = 1
aa = {{ blocks = 1 }}
captures = "{captures}"

[limits]
disturbance = "100 %"

[[workload]]
name = "object"
size = "{size}"

[[path]]
name = "fast"
rate = "400 Mbit/s"
delay = "1 ms"
queue = "4 MB"

[[arm]]
name = "h2"
protocol = "h2"
client = "{client}"
server = "caddy"
tcp = {{ congestion_control = "cubic", initial_window = 32 }}

[[arm]]
name = "h3"
protocol = "h3"
client = "{client}"
server = "caddy"
"""


@dataclass(frozen=True)
class Trial:
    """The raw files of one trial."""

    raw: Path

    @property
    def capture(self) -> Path:
        """Capture at the client."""
        return self.raw / "client.pcapng"

    @property
    def keys(self) -> Path:
        """TLS key log of the client."""
        return self.raw / "keys.log"


def run_trials(folder: Path, size: str, client: str = "curl-cffi", captures: str = "whole") -> dict[str, Trial]:
    """One verified trial of each protocol, by its name. Raises RuntimeError where the machine cannot run them."""
    spec = folder / f"{client}-{captures}.toml"
    spec.write_text(SPEC.format(size=size, client=client, captures=captures))
    study = folder / f"study-{client}-{captures}"
    shutil.rmtree(study, ignore_errors=True)
    done = quiclab("run", spec, "--out", study, "--no-report", timeout=900)
    found: dict[str, Trial] = {}
    for document in sorted(study.glob("trials/*/trial.json")):
        protocol = "h3" if '"protocol": "h3"' in document.read_text() else "h2"
        found.setdefault(protocol, Trial(document.parent / "raw"))
    if set(found) != {"h2", "h3"}:
        raise RuntimeError(f"no trial of both protocols: {done.stdout}{done.stderr}")
    return found
