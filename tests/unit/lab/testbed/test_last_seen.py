# SPDX-License-Identifier: Apache-2.0
"""What processes have used that ended while nobody waited for them."""

import os
import subprocess
import sys
from dataclasses import replace

from quiclab.lab.testbed import _process_tree
from quiclab.lab.testbed.process_cost import LastSeen


def test_what_was_seen_of_the_gone_is_kept() -> None:
    """A sum never becomes less: not when a process ends, nor when a clock says less than before."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    ourselves = _process_tree.everybody()[os.getpid()]
    stat = replace(_process_tree.everybody()[process.pid], minor_faults=50)
    seen = LastSeen()
    seen.update([stat, ourselves], at_threads=True)
    first = seen.total()
    assert first.voluntary_switches > 0
    assert first.minor_faults == 50 + ourselves.minor_faults
    process.communicate(b"\n")
    seen.update([replace(stat, minor_faults=40)], at_threads=True)
    seen.update([ourselves], at_threads=False)
    assert seen.total().at_least(first) == seen.total()
    assert seen.total().minor_faults == first.minor_faults
