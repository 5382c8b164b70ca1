# SPDX-License-Identifier: Apache-2.0
"""The data of each figure, from the files of a study: one function a figure, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from quiclab.analysis import figure_data
from quiclab.analysis.factors import factor
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.path_table import path_table
from quiclab.analysis.study import BYTES_ACKNOWLEDGED, read_study
from quiclab.errors import SpecError
from quiclab.figures import _against_baseline as against_baseline
from quiclab.figures import _arm_bars as arm_bars
from quiclab.figures import _competing as competing
from quiclab.figures import _page_load as page_load
from quiclab.figures import _player as player
from quiclab.figures import _requests as requests
from quiclab.figures import _series as series
from quiclab.figures import _states as states
from quiclab.figures._against_best import against_best
from quiclab.figures._chosen import Chosen, choose
from quiclab.figures._cost import cost
from quiclab.figures._crossings import WHOLE, Window, sequence
from quiclab.figures._first_losses import first_loss
from quiclab.figures._handshakes import handshake
from quiclab.figures._loss_views import losses
from quiclab.opened import OpenedStudy


@dataclass(frozen=True)
class Asked:
    """What a figure is to show."""

    study: OpenedStudy
    analysis: StudyAnalysis
    cell: str | None = None
    """None is the cell with the largest significant difference."""
    block: int | None = None
    """None is the median trial of each arm."""
    other: str | None = None
    """The arm that is compared with the baseline, where a figure shows only two; None is the first."""
    factor: str | None = None
    """Which factor of the study is the x axis; None is the only one that varies."""
    overlaid: tuple[int, ...] = ()
    """Further blocks, whose trials the figures over time lay over the others."""
    window: Window = WHOLE
    """Which packets a sequence diagram shows."""
    shape: str = "box"
    """How a distribution is drawn: `box` or `violin`."""

    def chosen(self) -> Chosen:
        """Trials, one of each arm."""
        return choose(self.analysis, self.cell, self.block)

    def trials_by_arm(self) -> dict[str, list[str]]:
        """The trial of each arm in the block that is asked for; without one, all the verified ones of the cell."""
        chosen = self.chosen()
        if self.block is not None:
            return {arm: [trial] for arm, trial in chosen.trials.items()}
        rows = figure_data.distributions(self.analysis).filter(cell_id=chosen.cell_id, status="verified")
        return {arm: rows.filter(arm=arm)["trial_id"].to_list() for arm in chosen.trials}

    def trials_of_cell(self) -> pl.DataFrame:
        """All trials of the cell, in the columns of the distribution."""
        cell = self.chosen().cell_id if self.cell is None else self.cell
        rows = figure_data.distributions(self.analysis).filter(cell_id=cell, kind="main")
        if not rows.height:
            known = dict.fromkeys(c.cell_id for c in self.analysis.comparisons)
            raise SpecError(f"the study has no cell {cell!r}", f"it has {', '.join(known) or 'none'}")
        return rows


def gather(name: str, asked: Asked) -> pl.DataFrame:
    """The columns that the figure declares; empty where the study has nothing of the kind. Raises SpecError."""
    if asked.overlaid and name not in OVERLAID:
        raise SpecError(f"{name} shows one block at a time", f"several blocks go into {', '.join(sorted(OVERLAID))}")
    return _GATHERERS[name](asked)


def _differences(asked: Asked) -> pl.DataFrame:
    rows = figure_data.differences(asked.analysis).filter(kind="main")
    arms = rows["other_arm"].unique(maintain_order=True).to_list() if rows.height else []
    if asked.other is not None and asked.other not in arms:
        raise SpecError(
            f"no arm {asked.other!r} is compared with the baseline", f"there are {', '.join(arms) or 'none'}"
        )
    return rows.filter(other_arm=asked.other or arms[0]) if arms else rows


def _bytes_acknowledged(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    parts = [pl.DataFrame(schema={"arm": pl.String, **BYTES_ACKNOWLEDGED})]
    for arm, trial_id in trials.items():
        curve = study.of_trial("bytes_acknowledged", trial_id)
        if curve is not None:
            parts.append(
                curve.select(pl.lit(arm).alias("arm"), *(pl.col(n).cast(t) for n, t in BYTES_ACKNOWLEDGED.items()))
            )
    return pl.concat(parts)


def _states(
    of: Callable[[OpenedStudy, Mapping[str, Sequence[str]], Mapping[str, float]], pl.DataFrame],
) -> Callable[[Asked], pl.DataFrame]:
    def gathered(asked: Asked) -> pl.DataFrame:
        times = asked.study.metrics.filter((pl.col("name") == "ttlb_ms") & pl.col("value").is_finite())
        return of(asked.study, asked.trials_by_arm(), dict(times.select("trial_id", "value").iter_rows()))

    return gathered


def _of_trials(
    of: Callable[[OpenedStudy, Mapping[str, str]], pl.DataFrame],
) -> Callable[[Asked], pl.DataFrame]:
    return lambda asked: of(asked.study, asked.chosen().trials)


def _over_time(
    of: Callable[[OpenedStudy, Mapping[str, str]], pl.DataFrame],
) -> Callable[[Asked], pl.DataFrame]:
    """The same of every block that is asked for, told apart by the column `trial`."""

    def gathered(asked: Asked) -> pl.DataFrame:
        blocks = dict.fromkeys((asked.block, *asked.overlaid))
        return pl.concat(
            of(asked.study, replace(asked, block=block).chosen().trials).with_columns(
                pl.lit("median trial" if block is None else f"block {block}").alias("trial")
            )
            for block in blocks
        )

    return gathered


OVERLAID = frozenset({"bytes_acknowledged", "throughput", "window", "rtt", "pacing", "queue"})
"""Figures that can lay the trials of several blocks over each other."""
OF_TRIALS = frozenset(
    {
        "bytes_acknowledged",
        "throughput",
        "window",
        "rtt",
        "pacing",
        "queue",
        "losses",
        "handshake",
        "sequence",
        "states",
        "state_machine",
        "waterfall",
        "multiplexing",
        "interleaving",
        "filmstrip",
        "page_bytes",
        "fairness",
    }
)
"""Figures that show one trial of each arm: those of a pair's page. All others show a cell or the whole study.

By themselves `states` and `state_machine` show all trials of a cell together, where no block is asked for."""

_GATHERERS: Mapping[str, Callable[[Asked], pl.DataFrame]] = MappingProxyType(
    {
        "differences": _differences,
        "against_best": lambda asked: against_best(asked.analysis),
        "factor": lambda asked: factor(asked.study, asked.analysis, asked.factor),
        "proxy": lambda asked: arm_bars.proxied(asked.study, asked.analysis),
        "migration": lambda asked: arm_bars.migration(asked.study, asked.analysis),
        "distributions": lambda asked: asked.trials_of_cell().with_columns(shape=pl.lit(asked.shape)),
        "cumulative": Asked.trials_of_cell,
        "first_loss": lambda asked: first_loss(asked.study, asked.trials_of_cell()),
        "bytes_acknowledged": _over_time(_bytes_acknowledged),
        "throughput": _over_time(series.throughput),
        "window": _over_time(series.window),
        "rtt": _over_time(series.round_trip_time),
        "pacing": _over_time(series.pacing),
        "queue": _over_time(series.queue),
        "losses": _of_trials(losses),
        "handshake": _of_trials(handshake),
        "sequence": lambda asked: sequence(asked.study, asked.chosen().trials, asked.window),
        "states": _states(states.states),
        "state_machine": _states(states.state_machine),
        "waterfall": _of_trials(requests.requests),
        "multiplexing": _of_trials(requests.chunks),
        "interleaving": _of_trials(requests.runs),
        "filmstrip": _of_trials(page_load.filmstrip),
        "main_image": lambda asked: page_load.main_image(asked.study, asked.trials_of_cell()),
        "page_bytes": _of_trials(page_load.page_bytes),
        "improvement": lambda asked: against_baseline.improvement(asked.analysis),
        "zero_rtt": lambda asked: against_baseline.zero_rtt(read_study(asked.study.directory), asked.analysis),
        "video_quality": lambda asked: player.video_quality(read_study(asked.study.directory), asked.analysis),
        "stall_reduction": lambda a: against_baseline.stall_reduction(read_study(a.study.directory), a.analysis),
        "fairness": _of_trials(competing.fairness),
        "path": lambda asked: path_table(read_study(asked.study.directory), asked.analysis),
        "cost": lambda asked: cost(asked.study, asked.analysis),
    }
)
