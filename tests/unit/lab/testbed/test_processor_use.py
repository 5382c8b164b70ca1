# SPDX-License-Identifier: Apache-2.0
"""The kernel's sums of programs and hypervisors, and governors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quiclab.lab.testbed.processor_use import ProcessorUse, ran_s, slow_governor


def test_time_is_used_or_stolen_by_the_columns_of_the_first_line() -> None:
    """Idle time and time that waits for disks are neither; a guest's time is in that of its program already."""
    before = ProcessorUse.parse("cpu  100 10 50 9000 500 4 6 20 0 0", 10.0, 100)
    after = ProcessorUse.parse("cpu  300 20 90 9300 700 14 16 60 50 50", 12.0, 100)
    assert after.since(before) == (pytest.approx(270 / 100 / 2), pytest.approx(40 / 100 / 2))


def test_a_kernel_that_tells_nothing_gives_zeros() -> None:
    """No line, or one of a kernel without the eighth column."""
    assert ProcessorUse.parse("", 1.0, 100) == ProcessorUse(1.0, 0, 0)
    assert ProcessorUse.parse("cpu  1 2 3", 1.0, 100) == ProcessorUse(1.0, 0, 0)


def test_what_this_process_uses_is_counted() -> None:
    """Its time is in the machine's sum and in its own; a process that is not there has none."""
    machine, own = ProcessorUse.now(), ran_s(os.getpid())
    while ran_s(os.getpid()) < own + 0.05:
        pass
    assert ProcessorUse.now().used_s > machine.used_s
    assert ran_s(2**22 + 1) == 0


@pytest.mark.parametrize(
    ("governor", "driver", "slow"),
    [
        ("performance", "acpi-cpufreq", None),
        ("schedutil", "acpi-cpufreq", None),
        ("powersave", "acpi-cpufreq", "powersave"),
        ("ondemand", "acpi-cpufreq", "ondemand"),
        ("powersave", "intel_pstate", None),
    ],
)
def test_a_governor_saves_power_where_it_keeps_a_processor_slow(
    tmp_path: Path, governor: str, driver: str, slow: str | None
) -> None:
    """Under drivers that choose the speed themselves, `powersave` is the usual one and keeps nothing slow."""
    folder = tmp_path / "cpu0" / "cpufreq"
    folder.mkdir(parents=True)
    (folder / "scaling_governor").write_text(f"{governor}\n")
    (folder / "scaling_driver").write_text(f"{driver}\n")
    assert slow_governor(tmp_path) == slow
    assert slow_governor(tmp_path / "nothing") is None
