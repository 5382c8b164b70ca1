# SPDX-License-Identifier: Apache-2.0
"""What a plain user may not read or write is told in a sentence, with what to do; never as a traceback."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from plain_user import PLAIN_ID, as_plain_user, open_folder
from small_study import quiclab, write_spec
from synthetic_study import Shape, write_study

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")]

_SMALL = Shape(("100 KB",), ("clean",), blocks=2, aa_blocks=0, voids=frozenset(), failures=frozenset())


def _give(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, PLAIN_ID, PLAIN_ID)


def test_every_verb_says_what_it_may_not(tmp_path: Path) -> None:
    """Private folders, single files, and places where nothing can be made."""
    with open_folder() as folder, as_plain_user() as before:
        study, closed, private = folder / "study", folder / "closed", folder / "private"
        write_study(study, _SMALL)
        shutil.copytree(study, closed)
        for each in (study, closed):
            _give(each)
        (closed / "metrics.parquet").chmod(0)
        private.mkdir(mode=0o700)
        spec = write_spec(folder)
        spec.chmod(0o644)
        (folder / "unreadable.toml").write_text("")
        (folder / "unreadable.toml").chmod(0)
        (folder / "x.har").write_text('{"log": {"version": "1.2", "entries": []}}')
        readable = "for this user"
        for words, code, told in (
            (["run", folder / "unreadable.toml"], 2, "cannot be read: Permission denied"),
            (["plan", private / "spec.toml"], 3, readable),
            (["run", spec, "--out", private / "study"], 3, "with --out"),
            (["run", spec, "--out", "/proc/study"], 3, "no file can be made there"),
            (["report", private], 3, readable),
            (["sql", private, "FROM trials"], 3, readable),
            (["sql", closed, "FROM metrics"], 4, readable),
            (["sql", closed, "SELECT count(*) FROM trials"], 0, "4"),
            (["figure", "differences", closed], 4, readable),
            (["figure", "differences", study, "-o", private / "x.csv"], 3, readable),
            (["decode", private / "log", "-o", folder / "tables"], 3, readable),
            (["export", "har", private / "log", "-o", folder / "out.har"], 3, readable),
            (["export", "har", folder / "x.har", "-o", private / "out.har"], 3, readable),
        ):
            done = quiclab(*words, before=before)
            said = done.stdout + done.stderr
            assert "Traceback" not in said, words
            assert (done.returncode, told in said) == (code, True), (words, said)
