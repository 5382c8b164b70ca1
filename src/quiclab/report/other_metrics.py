# SPDX-License-Identifier: Apache-2.0
"""What else was measured in each cell, beside the metric that is compared."""

from __future__ import annotations

from quiclab.report import wording
from quiclab.report.metric_values import by_cell_and_arm, middle
from quiclab.report.model import StudyAnalysis
from quiclab.report.study import Study
from quiclab.report.text_table import TextTable

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


def other_metrics(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Medians over the verified trials, one row per cell and arm; only metrics that were measured."""
    measured = {metric: values for metric in COLUMNS if (values := by_cell_and_arm(study, metric))}
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for comparison in analysis.comparisons:
        for arm in (comparison.baseline.arm, comparison.other.arm):
            key = (comparison.cell_id, arm)
            medians = (
                wording.quantity(middle(values[key]), COLUMNS[metric][1]) if key in values else "–"
                for metric, values in measured.items()
            )
            rows[key] = (wording.place(comparison, analysis), arm, *medians)
    return TextTable(
        "Every metric",
        "Medians over the verified trials of a cell; times count from the client's first packet.",
        ("cell", "arm", *(COLUMNS[metric][0] for metric in measured)),
        tuple(rows.values()) if measured else (),
        "No metric was measured.",
    )
