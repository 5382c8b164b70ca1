# SPDX-License-Identifier: Apache-2.0
"""What this kernel does with slices: they are inherited, and can be taken back by the same user."""

from __future__ import annotations

import os
import struct
import subprocess

import pytest
from slices import slice_ns

from quiclab.lab.testbed.patience import be_patient, hurry


def test_a_child_is_as_patient_until_it_is_made_prompt() -> None:
    """Its threads too; our own slice is what it was before."""
    usual = slice_ns(0)
    if usual == 0:
        pytest.skip("this kernel has no slices")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        be_patient()
        with subprocess.Popen(["sleep", "60"]) as program:
            before = slice_ns(program.pid)
            hurry(program.pid)
            os.write(writer, struct.pack("qqq", slice_ns(0), before, slice_ns(program.pid)))
            program.kill()
        os._exit(0)
    os.close(writer)
    own, inherited, after = struct.unpack("qqq", os.read(reader, 24))
    os.waitpid(child, 0)
    os.close(reader)
    assert (own, inherited, after) == (100_000_000, 100_000_000, usual)
    assert slice_ns(0) == usual
