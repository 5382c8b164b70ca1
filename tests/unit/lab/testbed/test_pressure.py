# SPDX-License-Identifier: Apache-2.0
"""Pressure stall information: what of it the kernel tells, and no more."""

from __future__ import annotations

from pathlib import Path

from quiclab.lab.testbed.pressure import pressure, stalled_ns


def test_it_is_read_where_the_kernel_tells_it(tmp_path: Path) -> None:
    """Shares in per cent, sums in ns; a file of another form, and one that is not there, are left out."""
    some = "some avg10=12.50 avg60=3.00 avg300=1.00 total=9\n"
    (tmp_path / "cpu").write_text(some + "full avg10=1.00 avg60=0.00 avg300=0.00 total=1\n")
    (tmp_path / "io").write_text("nothing\n")
    assert pressure(tmp_path) == {"cpu": 12.5}
    assert stalled_ns(tmp_path) == {"cpu": 9000}
