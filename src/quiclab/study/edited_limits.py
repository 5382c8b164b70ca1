# SPDX-License-Identifier: Apache-2.0
"""Limits of a study that were edited after its run: what its trials were judged by stands in their files."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from math import isclose

from quiclab.model.errors import QuiclabError
from quiclab.model.number_text import counted, from_here
from quiclab.model.units import Share
from quiclab.store.disk import read_object
from quiclab.store.layout import TOLERATED, StudyDir, judged_document
from quiclab.study.limits import EARLIER, changed_limits, tolerated_pct
from quiclab.study.specs import form_errors, load_study


def edited_limits(study_dir: StudyDir) -> tuple[str, ...]:
    """Sentences about limits that are not those by which the trials were judged: those of spec.toml, and those of
    resolved.json. None where a file that has them is gone or cannot be read, which others tell."""
    try:
        with form_errors(study_dir.resolved):
            resolved = read_object(study_dir.resolved)
            if not resolved.get("limits"):
                return ()
            kept = [tolerated_pct(limits, resolved) for limits in (resolved["limits"], *resolved.get(EARLIER, ()))]
            told = _judged_otherwise(study_dir, kept)
    except QuiclabError:
        return ()
    changes: tuple[tuple[str, str], ...] = ()
    with suppress(QuiclabError), form_errors(study_dir.resolved):
        changes = changed_limits(resolved, load_study(study_dir.spec))
    # What an edited resolved.json has is no limit of the last run.
    named = "; ".join(change for change, _ in changes if not (told and change.startswith("limits.disturbance ")))
    if named:
        run = f"`quiclab run {from_here(study_dir.root)}`"
        told = (
            *told,
            f"spec.toml has other limits than the last run of this study, which resolved.json has ({named}): nothing "
            f"here is judged by them before {run} applies them.",
        )
    return told


def _judged_otherwise(study_dir: StudyDir, kept_pct: list[float]) -> tuple[str, ...]:
    """A sentence about trials whose trial.json has a limit that resolved.json has of no run."""
    documents = (judged_document(folder) for folder in (study_dir.root / "trials").glob("[!.]*"))
    found = Counter(
        100 * tolerated
        for document in documents
        if document is not None and not document.get("probe")
        for tolerated in (document.get(TOLERATED),)
        if isinstance(tolerated, int | float) and not any(isclose(100 * tolerated, pct) for pct in kept_pct)
    )
    if not found:
        return ()
    by = ", ".join(f"{counted(number, 'trial')} by {Share(pct / 100)}" for pct, number in sorted(found.items()))
    has = " and ".join(str(Share(pct / 100)) for pct in dict.fromkeys(kept_pct))
    return (
        f"resolved.json has limits.disturbance {has}, and was edited: its trials were judged by other limits, as each "
        f"trial.json says ({by}).",
    )
