# SPDX-License-Identifier: Apache-2.0
"""A client in a user-mode emulator: slow by its own code, and in all else the program that it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from small_study import quiclab

import quiclab as package
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.testbed.emulator import emulated, emulator_problem

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_SPEC = """\
[study]
name = "emulated"
seed = 3
blocks = 1
aa = { blocks = 0 }

[limits]
disturbance = "100 %"
trial = "30 s"

[[workload]]
name = "object"
size = "500 KB"

[[path]]
name = "path"
rate = "20 Mbit/s"
delay = "10 ms"

[[arm]]
name = "native"
protocol = "h3"
client = "quic-go"
server = "quic-go"
tcp = { congestion_control = "cubic" }

[[arm]]
name = "emulated"
protocol = "h3"
client = { name = "quic-go", cpu_by = "emulator" }
server = "quic-go"
"""


@pytest.fixture
def emulator() -> None:
    """An emulator that is here."""
    if (problem := emulator_problem()) is not None:
        pytest.skip(problem)


@pytest.mark.usefixtures("emulator")
def test_a_program_has_its_arguments_and_its_code() -> None:
    """An emulated program prints what it would, and ends as it would."""
    done = subprocess.run(emulated((sys.executable, "-c", "print(6 * 7); raise SystemExit(3)")), capture_output=True)
    assert (done.returncode, done.stdout) == (3, b"42\n")


@pytest.mark.usefixtures("emulator")
@pytest.mark.skipif(find_program("quiclab-quic-go") is None, reason="quic-go is not installed: make stacks")
def test_only_the_clients_own_code_is_slow(tmp_path: Path) -> None:
    """The transfer of an emulated client is verified as any other, and takes several times the processor time."""
    spec = tmp_path / "spec.toml"
    spec.write_text(_SPEC)
    done = quiclab("run", spec, "--out", tmp_path / "study", "--no-report", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert quiclab("sql", tmp_path / "study").returncode == 0  # makes tables
    study = package.open(tmp_path / "study")
    wanted = pl.col("name").is_in(["client_cpu_ms", "server_cpu_ms"])
    metrics = study.table("metrics").join(study.trials.select("trial_id", "arm"), on="trial_id")
    by_arm = {(arm, name): value for arm, name, value in metrics.filter(wanted).select("arm", "name", "value").rows()}
    assert by_arm["emulated", "client_cpu_ms"] > 3 * by_arm["native", "client_cpu_ms"]
    assert by_arm["emulated", "server_cpu_ms"] < 3 * by_arm["native", "server_cpu_ms"]
    assert set(study.trials["status"]) == {"verified"}
