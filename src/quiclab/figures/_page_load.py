# SPDX-License-Identifier: Apache-2.0
"""Page loads as browsers told them: what was to be seen and when, the main image, and bytes by protocol and type.

Times count from navigation start.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

import polars as pl
from PIL import Image

from quiclab.opened import OpenedStudy

FILMSTRIP = {**dict.fromkeys(("arm", "picture"), pl.String), "x_ms": pl.Float64, "progress": pl.Float64}
MAIN_IMAGE = {
    **dict.fromkeys(("cell_id", "cell_title", "arm"), pl.String),
    "block": pl.Int64,
    **dict.fromkeys(("start_ms", "end_ms"), pl.Float64),
}
PAGE_BYTES = {
    **dict.fromkeys(("arm", "resource_type", "protocol"), pl.String),
    **dict.fromkeys(("bytes", "requests"), pl.Int64),
}
_FRAMES = 9
_STEPS_MS = tuple(digit * 10.0**power for power in range(1, 5) for digit in (1.0, 2.0, 2.5, 5.0))
_PICTURE_PX = 220
"""Width of a frame: enough for a strip across a wide page, also at two pixels a point."""


def filmstrip(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Progress of every screenshot, and at equal steps of time what the screen showed then."""
    seen = {arm: shots for arm, trial_id in trials.items() if (shots := _screenshots(study, trial_id)) is not None}
    parts = [pl.DataFrame(schema=FILMSTRIP)]
    if seen:
        end_ms = max(_done_ms(shots) for shots in seen.values())
        step_ms = next((step for step in _STEPS_MS if end_ms / step < _FRAMES - 1), end_ms)
        instants = [number * step_ms for number in range(int(end_ms // step_ms) + 2)]
        parts += [_strip(arm, shots, instants) for arm, shots in seen.items()]
    return pl.concat(parts)


def _screenshots(study: OpenedStudy, trial_id: str) -> pl.DataFrame | None:
    """x_ms, progress and image, in order; None of a trial without screenshots."""
    progress, events = study.of_trial("page_progress", trial_id), study.of_trial("page_events", trial_id)
    if progress is None or events is None or not progress.height:
        return None
    shots = events.filter((pl.col("name") == "Screenshot") & pl.col("image").is_not_null()).sort("time_ns")
    # Progress has a row for each since navigation start; those before it show another page.
    shots = shots.tail(progress.height)
    return progress.with_columns(shots["image"]) if shots.height == progress.height else None


def _done_ms(shots: pl.DataFrame) -> float:
    """From when on progress no longer changes."""
    last = shots["progress"][-1]
    changing = shots.filter(pl.col("progress") != last).height
    return float(shots["x_ms"][min(changing, shots.height - 1)])


def _strip(arm: str, shots: pl.DataFrame, instants: list[float]) -> pl.DataFrame:
    rows: list[tuple[float, float, str | None]] = [
        (x_ms, progress, None) for x_ms, progress in shots.select("x_ms", "progress").iter_rows() if x_ms < instants[-1]
    ]
    for instant in instants:
        by_then = shots.filter(pl.col("x_ms") <= instant)
        if by_then.height:
            rows.append((instant, by_then["progress"][-1], _picture(by_then["image"][-1])))
    frame = pl.DataFrame(rows, schema=("x_ms", "progress", "picture"), orient="row").sort("x_ms", maintain_order=True)
    return frame.select(
        pl.lit(arm).alias(name) if name == "arm" else pl.col(name).cast(kind) for name, kind in FILMSTRIP.items()
    )


def _picture(image: bytes) -> str | None:
    """A small JPEG as a `data:` URI; None of what is no picture."""
    try:
        picture = Image.open(io.BytesIO(image)).convert("RGB")
    except OSError:
        return None
    picture.thumbnail((_PICTURE_PX, 4 * _PICTURE_PX))
    small = io.BytesIO()
    picture.save(small, "JPEG", quality=75)
    return "data:image/jpeg;base64," + base64.b64encode(small.getvalue()).decode("ascii")


def main_image(study: OpenedStudy, trials: pl.DataFrame) -> pl.DataFrame:
    """Request and last byte of the main image, of every trial in `trials` (rows of distributions) that tells both."""
    if "metrics" not in study.tables:
        return pl.DataFrame(schema=MAIN_IMAGE)
    names = {"main_image_start_ms": "start_ms", "main_image_end_ms": "end_ms"}
    found = trials.select("cell_id", "cell_title", "arm", "block", "trial_id")
    for metric, column in names.items():
        values = study.metrics.filter((pl.col("name") == metric) & pl.col("value").is_finite())
        found = found.join(
            values.select("trial_id", pl.col("value").alias(column)), on="trial_id", maintain_order="left"
        )
    return found.select(pl.col(name).cast(kind) for name, kind in MAIN_IMAGE.items())


def page_bytes(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Body bytes of the page's responses by the browser's word for the type and by the protocol that brought them."""
    parts = [pl.DataFrame(schema=PAGE_BYTES)]
    for arm, trial_id in trials.items():
        rows = study.of_trial("http_requests", trial_id)
        began_ns = _navigation_ns(study, trial_id)
        if rows is None or began_ns is None:
            continue
        told = pl.col("resource_type").is_not_null() & pl.col("http_version").is_not_null()
        bodies = rows.filter(told & (pl.col("time_ns") >= began_ns) & (pl.col("response_body_bytes") > 0))
        summed = bodies.group_by("resource_type", pl.col("http_version").alias("protocol")).agg(
            pl.col("response_body_bytes").sum().alias("bytes"), pl.len().alias("requests")
        )
        ordered = summed.with_columns(pl.lit(arm).alias("arm")).sort("resource_type", "protocol")
        parts.append(ordered.select(pl.col(name).cast(kind) for name, kind in PAGE_BYTES.items()))
    return pl.concat(parts)


def _navigation_ns(study: OpenedStudy, trial_id: str) -> int | None:
    """When the browser went to the page, after any page before it."""
    events = study.of_trial("page_events", trial_id)
    if events is None:
        return None
    last = events.filter(pl.col("name") == "navigationStart")["time_ns"].max()
    return last if isinstance(last, int) else None
