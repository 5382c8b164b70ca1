# SPDX-License-Identifier: Apache-2.0
"""What else was measured in each cell, beside the metric that is compared."""

from __future__ import annotations

import polars as pl

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.metric_values import by_cell_and_arm, middle
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.study import Study
from quiclab.text_table import TextTable

COLUMNS = {
    "plt_ms": ("page load", "ms"),
    "speed_index_ms": ("Speed Index", "ms"),
    "fcp_ms": ("first paint", "ms"),
    "lcp_ms": ("largest paint", "ms"),
    "last_visual_change_ms": ("last change", "ms"),
    "main_image_start_ms": ("main image asked for", "ms"),
    "main_image_end_ms": ("main image there", "ms"),
    "page_bytes_h3_pct": ("bytes over HTTP/3", "%"),
    "setup_ms": ("set-up", "ms"),
    "ttfb_ms": ("first byte", "ms"),
    "ttlb_ms": ("last byte", "ms"),
    "ttlb_client_ms": ("last byte, client", "ms"),
    "slowest_object_ms": ("slowest object", "ms"),
    "median_object_ms": ("median object", "ms"),
    "fastest_object_ms": ("fastest object", "ms"),
    "to_last_packet_ms": ("last packet", "ms"),
    "startup_ms": ("start-up", "ms"),
    "stalls": ("stalls", ""),
    "stall_ms": ("stalled", "ms"),
    "decoder_stalls": ("decoder's stalls", ""),
    "fraction_loaded_pct": ("loaded", "%"),
    "mean_quality_bit_per_s": ("quality", "bit/s"),
    "quality_switches": ("switches", ""),
    "throughput_bit_per_s": ("throughput", "bit/s"),
    "throughput_drops": ("drops", ""),
    "goodput_bit_per_s": ("goodput", "bit/s"),
    "retransmitted_bytes": ("retransmitted", "bytes"),
    "lost_packets_up": ("lost up", "packets"),
    "lost_packets_down": ("lost down", "packets"),
    "queue_max_bytes": ("longest queue", "bytes"),
    "share_pct": ("share", "%"),
    "jain_index": ("Jain's index", ""),
    "converge_ms": ("even after", "ms"),
    "queue_down_mean_bytes": ("mean queue", "bytes"),
    "queue_down_p95_bytes": ("queue, p95", "bytes"),
}
"""Metric: its heading and unit."""


def metric_medians(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per metric that was measured, cell and arm: the median over the verified trials."""
    arms = {
        (comparison.cell_id, arm.arm): comparison_words.place(comparison, analysis)
        for comparison in analysis.comparisons
        for arm in (comparison.baseline, comparison.other)
    }
    rows = [
        {"cell_id": key[0], "cell_title": place, "arm": key[1], "metric": metric, "unit": unit,
         "median": middle(values[key]), "trials": values[key].len()}
        for metric, (_, unit) in COLUMNS.items()
        if (values := by_cell_and_arm(study, metric))
        for key, place in arms.items()
        if key in values
    ]  # fmt: skip
    texts = dict.fromkeys(("cell_id", "cell_title", "arm", "metric", "unit"), pl.String)
    return pl.DataFrame(rows, schema={**texts, "median": pl.Float64, "trials": pl.Int64})


def other_metrics(data: pl.DataFrame) -> TextTable:
    """Return `metric_medians` as text: one row per cell and arm, a column per metric."""
    metrics = data["metric"].unique(maintain_order=True).to_list()
    rows = []
    for (_, place, arm), group in data.group_by("cell_id", "cell_title", "arm", maintain_order=True):
        known = {row["metric"]: wording.quantity(row["median"], row["unit"]) for row in group.iter_rows(named=True)}
        rows.append((str(place), str(arm), *(known.get(metric, "–") for metric in metrics)))
    return TextTable(
        "Every metric",
        "Medians over the verified trials of a cell; times count from the client's first packet. "
        "`quiclab report STUDY --metric NAME` writes a report about one of them; the data below has their names.",
        ("cell", "arm", *(COLUMNS[metric][0] for metric in metrics)),
        tuple(rows),
        "No metric was measured.",
    )
