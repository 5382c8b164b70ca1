# SPDX-License-Identifier: Apache-2.0
"""Declarations and verdicts as files of a study: STUDY/confirm/NAME is a study of its own, with both in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quiclab.compare.model import Comparison
from quiclab.compare.statistics import Interval
from quiclab.model.confirmation_record import KeptInterval, KeptVerdict
from quiclab.store.disk import write_atomically
from quiclab.store.layout import DECLARATION
from quiclab.store.own_files import is_own_file, read_own
from quiclab.store.record_form import view_of
from quiclab.why.confirm.declaration import Declared, declared_from
from quiclab.why.confirm.judge import Check, Effect, Judgement, State, Verdict

FOLDER = "confirm"
"""Folder below a study with the studies that confirm its causes."""
VERDICT = "verdict.json"


@dataclass(frozen=True)
class Confirmation:
    """One cause of a study that was put to the test."""

    directory: Path
    """The confirming study."""
    declared: Declared
    judgement: Judgement | None
    """Result of its run; None where it has not been judged yet."""
    sound: bool
    """True if declaration, spec and verdict are those whose hashes were kept with them."""

    def is_of(self, comparison: Comparison) -> bool:
        """True if it was of these two arms in this cell."""
        arms = {comparison.baseline.arm, comparison.other.arm}
        return self.declared.cell == comparison.cell_id and {self.declared.arm, self.declared.other} == arms


def unreadable(study: Path) -> list[str]:
    """A sentence for each declaration of a study that cannot be read, so that its run is not told."""
    folder = study / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = []
    for each in sorted(folder.iterdir()):
        told = _read(each / DECLARATION, each)
        if (each / DECLARATION).exists() and (told is None or declared_from(told.get("declared")) is None):
            found.append(f"{each / DECLARATION} is damaged or of another version: its run is left out")
        elif (each / VERDICT).exists() and (
            (shown := _read(each / VERDICT, each)) is None or _judgement(shown) is None
        ):
            found.append(f"{each / VERDICT} is damaged: its run is told as not judged; the same command judges it anew")
    return found


def confirmations(study: Path) -> list[Confirmation]:
    """Everything of a study that was put to the test, in the order of its folders' names."""
    folder = study / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = (read_confirmation(each) for each in sorted(folder.iterdir()))
    return [each for each in found if each is not None]


def read_confirmation(directory: Path) -> Confirmation | None:
    """Declaration and result of a confirming study; None where the folder has no declaration that can be read."""
    told = _read(directory / DECLARATION, directory)
    declared = declared_from(told.get("declared")) if told else None
    if told is None or declared is None:
        return None
    spec = directory / "spec.toml"
    own = is_own_file(spec, directory) and hashlib.sha256(read_own(spec)).hexdigest() == declared.spec_sha256
    shown = _read(directory / VERDICT, directory)
    judgement = None if shown is None else _judgement(shown)
    sound = own and told.get("sha256") == declared.sha256 and (shown is None or _is_own(shown, declared))
    return Confirmation(directory, declared, judgement, sound)


def _is_own(shown: dict[str, object], declared: Declared) -> bool:
    """True if a verdict is of this declaration, and as it was written."""
    judged = {name: value for name, value in shown.items() if name not in ("version", "sha256", "verdict_sha256")}
    return shown.get("sha256") == declared.sha256 and shown.get("verdict_sha256") == _sha256(judged)


def _sha256(document: dict[str, object]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def keep_declaration(directory: Path, declared: Declared) -> None:
    """Write the declaration with its hash, before anything runs."""
    content = {"version": 1, "sha256": declared.sha256, "declared": declared.document()}
    write_atomically(directory / DECLARATION, json.dumps(content, indent=1, ensure_ascii=False))


def keep_judgement(directory: Path, declared: Declared, judgement: Judgement) -> None:
    """Write what the run showed beside its declaration."""
    shown = judgement_document(judgement)
    content = {"version": 1, "sha256": declared.sha256, "verdict_sha256": _sha256(shown)} | shown
    write_atomically(directory / VERDICT, json.dumps(content, indent=1, ensure_ascii=False))


def judgement_document(judgement: Judgement) -> dict[str, object]:
    """The judgement as JSON has it; an infinite end of an interval is null."""
    return {
        "verdict": judgement.verdict.value,
        "checks": [
            {
                "name": each.name,
                "state": each.state.value,
                "median": _finite(each.median),
                "interval": _ends(each.interval),
                "blocks": each.blocks,
            }
            for each in judgement.checks
        ],
        "effects": [
            {"name": each.name, "ms": _finite(each.ms), "interval": _ends(each.interval), "blocks": each.blocks}
            for each in judgement.effects
        ],
        "blocks": judgement.blocks,
        "lacking": judgement.lacking,
        "limits_next": judgement.limits_next,
        "limits_next_ms": judgement.limits_next_ms,
    }


def _judgement(document: Mapping[str, object]) -> Judgement | None:
    kept = view_of(document, KeptVerdict)
    if kept is None:
        return None
    try:
        return Judgement(
            Verdict(kept.verdict),
            tuple(
                Check(each.name, State(each.state), each.median, _interval(each.interval), each.blocks)
                for each in kept.checks
            ),
            tuple(Effect(each.name, each.ms, _interval(each.interval), each.blocks) for each in kept.effects),
            kept.blocks,
            kept.lacking,
            kept.limits_next,
            float(kept.limits_next_ms),
        )
    except ValueError:
        return None


def _interval(kept: KeptInterval | None) -> Interval | None:
    if kept is None:
        return None
    low, high = kept.low, kept.high
    return Interval(-float("inf") if low is None else low, float("inf") if high is None else high, kept.confidence)


def _ends(interval: Interval | None) -> dict[str, object] | None:
    if interval is None:
        return None
    return {"low": _finite(interval.low), "high": _finite(interval.high), "confidence": interval.confidence}


def _finite(value: float | None) -> float | None:
    return None if value is None or value in (float("inf"), -float("inf")) else value


def _read(file: Path, root: Path) -> dict[str, object] | None:
    try:
        document = json.loads(read_own(file)) if is_own_file(file, root) else None
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
