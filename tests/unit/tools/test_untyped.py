# SPDX-License-Identifier: Apache-2.0
"""The number of mappings of anything in the sources does not grow."""

from __future__ import annotations

from pathlib import Path

import untyped


def test_lines_are_found_with_their_places(tmp_path: Path) -> None:
    """An object of unknown values is none of them: what is read of it must be looked at first."""
    source = tmp_path / "src" / "quiclab" / "wing" / "module.py"
    source.parent.mkdir(parents=True)
    source.write_text("a: dict[str, Any]\nb: dict[str, object]\nc: list[Mapping[str, Any]]\n")
    found = [line.partition(": ")[0] for line in untyped.untyped_lines(tmp_path)]
    assert found == ["src/quiclab/wing/module.py:1", "src/quiclab/wing/module.py:3"]


def test_the_number_is_the_declared_one_or_the_check_fails() -> None:
    """More lines are refused; fewer are to be written down, so that they stay fewer."""
    assert untyped.problem(untyped.MOST) is None
    assert untyped.problem(untyped.MOST + 1) is not None
    assert untyped.problem(untyped.MOST - 1) is not None
