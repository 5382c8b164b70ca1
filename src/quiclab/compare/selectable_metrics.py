# SPDX-License-Identifier: Apache-2.0
"""Metrics that a study can show: the one that is asked for, or the reason why there is nothing to see."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from quiclab.compare.study import Study, read_study
from quiclab.evidence.metrics import METRICS
from quiclab.evidence.metrics.names import find_metric
from quiclab.model.errors import DecodeError, SpecError

_NEEDED = ("tables/trials.parquet", "metrics.parquet")
"""Files of a study without which nothing is chosen or compared."""


def readable(directory: Path) -> Study:
    """Read a study whose trials and metrics are there. Raises DecodeError where they are missing or damaged."""
    study = read_study(directory)
    lost = tuple(told for told in study.missing if told.startswith(_NEEDED) and "has no column" not in told)
    if lost:
        anew = f"`quiclab report {directory} --again` makes it anew"
        hint = "make it readable for this user" if "Permission denied" in lost[0] else anew
        raise DecodeError(lost[0].removesuffix("."), hint, lost[1:])
    return study


def asked_metric(study: Study, name: str | None) -> str | None:
    """Return the metric that `name` means, with or without its unit; None for none. Raises SpecError for one that does
    not exist, or that no trial of the study has."""
    if name is None:
        return None
    has = study.metrics.filter(pl.col("value").is_not_null())["name"].unique().to_list()
    metric = find_metric(name, {*has, *(each.name for each in METRICS)}, "there is no metric")
    if metric not in has:
        raise SpecError(f"no trial of this study has a value of {metric}", f"it has {', '.join(sorted(has)) or 'none'}")
    return metric


def nothing_to_show(directory: Path, files: Iterable[str], question: str, left_out: str) -> SpecError:
    """Error for a figure without data: the files that it needs and the study lacks; the cells that are left out, as
    they are not judged; or the question that the study's arms do not raise."""
    absent = [each for each in files if not any(directory.glob(each))]
    if absent:
        return SpecError(f"this study has no {' and no '.join(absent)}, of which the figure is made")
    if left_out:
        return SpecError("none of the cells that the figure could show is judged", left_out)
    return SpecError("this study has nothing that the figure could show", f"the figure answers: {question}")
