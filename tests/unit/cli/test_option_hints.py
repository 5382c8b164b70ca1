# SPDX-License-Identifier: Apache-2.0
"""Hints about a place that cannot be written: they name the option by which it was given."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("figure", "differences", "OLD", "-o", "FILE/x.html"), "-o"),
        (("compare", "OLD", "NEW", "--junit", "FILE/x.xml", "--fail-if", "ttlb > +3%"), "--junit"),
        (("compare", "OLD", "NEW", "--markdown", "FILE/x.md", "--fail-if", "ttlb > +3%"), "--markdown"),
        (("report", "OLD", "--single-file", "FILE/x.html"), "--single-file"),
    ],
)
def test_a_hint_names_the_option_that_was_typed(
    words: tuple[str, ...],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file is where a folder should be."""
    shape = Shape(("1 MB",), ("clean",), blocks=3, aa_blocks=0)
    for seed, name in enumerate(("OLD", "NEW")):
        write_study(tmp_path / name, Shape(shape.workloads, shape.paths, blocks=3, aa_blocks=0, seed=seed))
    if words[0] == "report":
        monkeypatch.setattr("quiclab.cli.analyse.make_tables_visibly", lambda *_, **__: None)
        with open_ledger(StudyDir(tmp_path / "OLD")):
            pass
    (tmp_path / "FILE").touch()
    monkeypatch.chdir(tmp_path)
    assert main(list(words)) == ExitCode.HOST
    assert f"choose another place with {option}" in capsys.readouterr().err
