# SPDX-License-Identifier: Apache-2.0
"""Worth of the same seed, in studies that have run.

`replay_fidelity.py replays STUDY...`: runs of one spec, each in a directory of its own, are replays of one another. For
each cell and arm: how far times of one seed lie apart and how far those of different seeds, and how many of the lost
data packets (at least 600 bytes, down) two replays share: by packet number, by number among such packets, by the 1500
bytes of them in which they begin. Rows of two arms say the same of two arms of one block. Pairs of an A/A control are
replays too.

`replay_fidelity.py pairs STUDY...`: the correlation of the times of each arm and the baseline within blocks, by cell,
and pooled by kind of path.

Both read what `quiclab report` leaves in a study.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

import polars as pl
from replay_noise import Correlation, correlation, noise, pooled

from quiclab.compare.study import Study, read_study, read_table
from quiclab.model.resolved_record import ResolvedPath

_METRIC = "ttlb_ms"
_LARGE = 600
_SEEDS = {"trial_id": pl.String, "seed": pl.String}
_WAYS = ("index", "class", "bytes")

Losses = Mapping[str, frozenset[int]]


class Run(NamedTuple):
    """One verified trial."""

    study: Study
    trial_id: str
    cell: str
    arm: str
    seed: str
    time_ms: float


def runs(study: Study) -> Iterator[Run]:
    """Verified trials that have a time to the last byte; both twins of an A/A pair are runs of one arm and seed."""
    seeds = read_table(study.directory / "tables" / "trials.parquet", _SEEDS, [])
    times = study.metrics.filter(name=_METRIC).drop_nulls("value").select("trial_id", "value")
    rows = study.trials.filter(status="verified").join(seeds, on="trial_id").join(times, on="trial_id")
    for row in rows.unique("trial_id", maintain_order=True).iter_rows(named=True):
        cell = f"{row['workload']}/{row['path']}"
        yield Run(study, row["trial_id"], cell, row["arm"].partition("#")[0], row["seed"], row["value"])


def losses(run: Run) -> Losses | None:
    """Lost data packets of a trial by each way of numbering them; None where its packets were not kept."""
    file = run.study.directory / "tables" / "link_packets" / f"{run.trial_id}.parquet"
    if not file.is_file():
        return None
    packets = pl.read_parquet(file, columns=["direction", "index", "size_bytes", "action", "duplicate", "reason"])
    packets = packets.filter(
        pl.col("direction") == "down", pl.col("action") != "outside_model", ~pl.col("duplicate")
    ).sort("index")
    large = packets.filter(pl.col("size_bytes") >= _LARGE).with_columns(
        pl.int_range(pl.len()).alias("class"),
        ((pl.col("size_bytes").cast(pl.Int64).cum_sum() - pl.col("size_bytes")) // 1500).alias("bytes"),
    )
    lost = large.filter(pl.col("reason").is_in(["loss_entry", "loss_exit"]))
    return {way: frozenset(lost[way].to_list()) for way in _WAYS}


def shared(pairs: Iterable[tuple[Losses, Losses]]) -> list[str]:
    """Mean share of the losses of two runs that both have, by each way of numbering packets."""
    known = [(a, b) for a, b in pairs if a["index"] or b["index"]]
    if not known:
        return ["-"] * len(_WAYS)
    return [f"{statistics.fmean(100 * len(a[way] & b[way]) / len(a[way] | b[way]) for a, b in known):.0f} %"
            for way in _WAYS]  # fmt: skip


def print_replays(studies: Iterable[Study]) -> None:
    """Print a row for each cell and arm, and one for each two arms of a cell."""
    found: dict[str, dict[str, dict[str, list[tuple[Run, Losses | None]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for study in studies:
        for run in runs(study):
            found[run.cell][run.arm][run.seed].append((run, losses(run)))
    _row("cell", "arm", "seeds", "runs", "median", "replay sd", "seed sd", *(f"same {way}" for way in _WAYS))
    for cell, arms in sorted(found.items()):
        for arm, seeds in sorted(arms.items()):
            times = [[run.time_ms for run, _ in replays] for replays in seeds.values()]
            split = noise(times)
            same = shared(
                (a, b)
                for replays in seeds.values()
                for (_, a), (_, b) in combinations(replays, 2)
                if a is not None and b is not None
            )
            sds = ("-", "-") if split is None else (f"{split.replay_pct:.2f} %", f"{split.seed_pct:.2f} %")
            middle = statistics.median(chain(*times))
            _row(cell, arm, len(times), sum(map(len, times)), f"{middle:.1f} ms", *sds, *same)
        for one, two in combinations(sorted(arms), 2):
            same = shared(
                (a, b)
                for seed, replays in arms[one].items()
                for _, a in replays[:1]
                for _, b in arms[two].get(seed, [])[:1]
                if a is not None and b is not None
            )
            _row(cell, f"{one}, {two}", len(arms[one].keys() & arms[two].keys()), "", "", "", "", *same)


def print_pairs(studies: Iterable[Study]) -> None:
    """Print a row for each cell, and then one for each kind of path."""
    by_kind: dict[str, list[Correlation]] = defaultdict(list)
    _row("study", "cell", "arms", "path", "pairs", "correlation")
    for study in studies:
        kinds = {name: kind_of(path) for name, path in study.paths.items()}
        of_cells: dict[tuple[str, str], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        baselines = dict(study.trials.select("cell_id", "baseline_arm").iter_rows())
        rows = study.trials.filter((pl.col("status") == "verified") & (pl.col("kind") == "main"))
        times = study.metrics.filter(name=_METRIC).drop_nulls("value").select("trial_id", "value")
        for row in rows.join(times, on="trial_id").iter_rows(named=True):
            of_cells[row["cell_id"], row["path"]][row["arm"]][row["block"]] = row["value"]
        for (cell, path), arms in sorted(of_cells.items()):
            baseline = baselines[cell]
            for arm in sorted(arms.keys() - {baseline}):
                both = sorted(arms[arm].keys() & arms[baseline].keys())
                found = correlation((arms[arm][block], arms[baseline][block]) for block in both)
                if found is not None:
                    by_kind[kinds.get(path, "unknown")].append(found)
                    _row(
                        study.name,
                        cell,
                        f"{arm}, {baseline}",
                        kinds.get(path, "?"),
                        found.pairs,
                        _correlation_text(found),
                    )
    print()
    _row("path", "cells", "pairs", "correlation")
    for kind, cells in sorted(by_kind.items()):
        together = pooled(cells)
        _row(
            kind,
            len(cells),
            sum(each.pairs for each in cells),
            "-" if together is None else _correlation_text(together),
        )


def kind_of(path: ResolvedPath) -> str:
    """Effects of a resolved path that are drawn by chance, over all of its links: `loss, jitter`, or `nothing
    drawn`."""
    kinds: dict[str, None] = {}
    for each in path.every_direction:
        if each.loss is not None:
            key, model = each.loss_by or "index", each.loss.model
            by = "" if model in ("list", "bursts") or key == "index" else f" by {key}"
            kinds[("loss" if model == "bernoulli" else str(model)) + by] = None
        drawn = {"jitter": each.jitter, "reorder": each.reorder, "rate drawn": each.rate, "trace": each.trace}
        kinds |= dict.fromkeys(kind for kind, told in drawn.items() if told)
    return ", ".join(kinds) or "nothing drawn"


def _correlation_text(found: Correlation) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("replays", "pairs"))
    parser.add_argument("studies", nargs="+", type=Path, metavar="STUDY")
    asked = parser.parse_args()
    {"replays": print_replays, "pairs": print_pairs}[asked.what]([read_study(each) for each in asked.studies])


if __name__ == "__main__":
    main()
