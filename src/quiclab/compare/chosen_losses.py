# SPDX-License-Identifier: Apache-2.0
"""Losses that a study chose: what their draws are numbered by, and whether the packets that it addressed came."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import polars as pl

from quiclab.compare.study import Study, read_record
from quiclab.model import number_text
from quiclab.model.trial_record import TrialRecord

_KEYS = {
    "class": "their number among packets of their class (at least 600 bytes, or smaller)",
    "super-packet": "what a host handed over as one (by TSO or GSO several segments), as netem draws",
    "bytes": "the 1500 bytes in which they begin (smaller than 600 bytes: by their number)",
}
_DONE = {"drop": "dropped", "spare": "spared"}


def chosen_loss_notes(study: Study) -> list[str]:
    """Sentences on losses that are not drawn by packet number, and on addressed packets that did not come."""
    return [*_keys(study), *_missed(study)]


def _keys(study: Study) -> Iterator[str]:
    paths: dict[str, list[str]] = {}
    for path in study.paths.values():
        for key in sorted({str(each.loss_by) for each in path.every_direction}):
            if key in _KEYS:
                paths.setdefault(key, []).append(path.title or path.name)
    for key, names in paths.items():
        yield f'Losses are drawn by {key} over "{number_text.listed(names)}": packets share a draw by {_KEYS[key]}.'


def _missed(study: Study) -> Iterator[str]:
    """One sentence for each path, arm and address that some trial did not meet."""
    paths = study.paths.items()
    chosen = [name for name, path in paths if any(each.drop or each.spare for each in path.every_direction)]
    if not chosen:
        return
    trials: Counter[tuple[str, str]] = Counter()
    missed: dict[tuple[str, str, str, str, str], int] = defaultdict(int)
    rows = study.trials.filter((pl.col("status") == "verified") & pl.col("path").is_in(chosen))
    for trial_id, path, arm in rows.select("trial_id", "path", "arm").sort("path", "arm").rows():
        name = str(arm).partition("#")[0]
        trials[path, name] += 1
        for key, side, address in _not_met(read_record(study.directory / "trials" / trial_id)):
            missed[path, name, key, side, address] += 1
    for (path, arm, key, side, address), count in missed.items():
        of = f"{count} of {number_text.counted(trials[path, arm], 'trial')} of {arm} over {path}"
        yield f"In {of} the packet to be {_DONE[key]} never came: {address} {side}."


def _not_met(record: TrialRecord) -> Iterator[tuple[str, str, str]]:
    """Action on a packet that did not come, its direction, and its address."""
    for link in record.link.each_link:
        for side, account in (("up", link.up), ("down", link.down)):
            for key, chosen in (("drop", account.drop), ("spare", account.spare)):
                for each in chosen.missed:
                    yield key, side, f"{each.of} {each.number}"
