# SPDX-License-Identifier: Apache-2.0
"""Programs that are asked something, and the machine that must not show that they were."""

from __future__ import annotations

from quiclab.lab.testbed.host import bounded_run


def test_a_program_that_is_asked_something_makes_no_folder_below_its_home() -> None:
    """Some make one as they start, and root may make one nearly anywhere."""
    made = bounded_run(["/bin/sh", "-c", 'mkdir -p "$HOME/.local/share" 2>&1 && echo made; echo "$HOME"'])
    assert made is not None
    assert "made" not in made.splitlines()
    assert bounded_run(["/bin/sh", "-c", 'test -d "$HOME" && echo folder; true']) == ""
