# SPDX-License-Identifier: Apache-2.0
"""Requests that a browser kept to itself: what it does to servers that it does not take for multiplexing ones."""

from __future__ import annotations

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown


def _held_back(evidence: Evidence) -> float:
    if evidence.trial.expected.page is None:
        raise Unknown("the trial loaded no page")
    held_back = evidence.trial.first_request.requests_held_back
    if held_back is None:
        raise Unknown("no log of the browser tells of it")
    return float(held_back)


HELD_BACK = (
    Metric(
        "page_requests_held_back",
        "requests that the browser held back",
        "",
        "none",
        "Requests that Chromium did not send as soon as the page asked for them, by its NetLog. It sends few at a time "
        "to hosts that it does not know to multiplex: over HTTP/1.1, and over a forced HTTP/3 without an Alt-Svc "
        "field. Where arms differ in it, the browser did something else in one than in the other.",
        _held_back,
    ),
)
