# SPDX-License-Identifier: Apache-2.0
"""Folders that hold no study, or no longer all of one: the errors about them, for every command."""

from __future__ import annotations

from quiclab.model.errors import DecodeError
from quiclab.model.number_text import counted, from_here
from quiclab.store.layout import StudyDir, damage

_HINT = "give the folder that `quiclab run` made"


def no_study(study_dir: StudyDir, lacks: str = "", hint: str = _HINT) -> DecodeError:
    """Error about a path that holds no study: it does not exist, is no folder, or does not have what it `lacks`."""
    root = study_dir.root
    if not root.exists():
        return DecodeError(f"{root} does not exist", hint)
    if not root.is_dir():
        return DecodeError(f"{root} is a file, and a study is a folder", hint)
    return DecodeError(f"{root} is not a study directory{f': it has no {lacks}' if lacks else ''}", hint)


def need_ledger(study_dir: StudyDir, hint: str = _HINT) -> None:
    """Raises DecodeError where there is no ledger: where it was lost, with what makes it anew."""
    if study_dir.ledger.exists():
        return
    run = f"`quiclab run {from_here(study_dir.root)}`"
    trials = [each for place in ("trials", "failed") for each in (study_dir.root / place).glob("[!.]*")]
    if any(damage(each) is None for each in trials):
        anew = f"{run} makes it anew from the {counted(len(trials), 'attempt')} in trials/ and failed/"
        if not study_dir.spec.is_file():
            anew = f"put its spec.toml, which is gone too, back into it: then {anew}"
        told = f"{study_dir.root} has no ledger.sqlite, which says what ran: it was lost, or was not copied"
        raise DecodeError(told, anew)
    if (study_dir.tables / "trials.parquet").is_file():
        told = f"{study_dir.root} has tables and no ledger.sqlite, which says what ran: it is an archive for readers"
        raise DecodeError(told, "`quiclab sql` and `quiclab figure` read its tables")
    if study_dir.spec.is_file():
        raise DecodeError(f"nothing of {study_dir.root} has run yet", f"{run} begins it")
    raise no_study(study_dir, "ledger.sqlite", hint)
