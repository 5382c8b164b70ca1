# SPDX-License-Identifier: Apache-2.0
"""Metrics about which a study has a page: the usual one, and those that were asked for besides."""

from __future__ import annotations

import polars as pl

from quiclab.compare.analyse import usual_metric
from quiclab.compare.study import Study
from quiclab.model.errors import SpecError


def metrics_of_pages(study: Study, asked: str | None = None) -> list[str]:
    """Return the usual metric, those of the pages that lie beside it already, and the one that is asked for.

    Raises SpecError where that one has no value here, or no better side.
    """
    known = comparable(study)
    usual = usual_metric(study)
    if asked not in (None, usual, *known):
        hint = f"there are {', '.join(known) or 'none'}"
        raise SpecError(f"{asked} cannot be compared: no trial of this study has a value for it", hint)
    there = sorted(path.stem.removeprefix("report-") for path in study.directory.glob("report-*.html"))
    return list(dict.fromkeys([usual, *(name for name in there if name in known), *([asked] if asked else [])]))


def comparable(study: Study) -> list[str]:
    """Return the metrics that have a better side and a value in some trial."""
    known = study.metrics.filter(pl.col("value").is_finite() & (pl.col("better") != "none"))
    return known["name"].unique(maintain_order=True).to_list()
