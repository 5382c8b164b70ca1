# SPDX-License-Identifier: Apache-2.0
"""The measured responses as the client's decrypted capture shows them, each to its end."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics.asked_for import answers, asked_for
from quiclab.evidence.metrics.evidence import Evidence, Unknown

BY_ACCOUNT = "by the client's account of its requests, as its capture does not show each response to its end"
"""Note on a value that the capture alone would have given where it could be opened."""


def response_rows(evidence: Evidence) -> pl.DataFrame:
    """Return a row of `http_requests` for each response to what was asked for. Raises Unknown where the capture does
    not show each to its end, or where one of them came to an address that was gone, where nobody read it."""
    told = evidence.trial.requests
    asked = len(told or evidence.trial.expected.objects or [None])
    # A browser's first visit comes over the same links.
    since_ns = min((each.start_ns for each in told if each.start_ns is not None), default=evidence.zero_ns)
    found = those_asked_for(evidence, evidence.responses).filter(
        pl.col("last_byte_ns").is_null() | (pl.col("last_byte_ns") >= since_ns)
    )
    if found.height < asked or found["last_byte_ns"].null_count() or not evidence.for_nobody.is_empty():
        account = "" if told else "the client left no account of its requests, and "
        raise Unknown(f"{account}its capture does not show each response to its end")
    return found


def those_asked_for(evidence: Evidence, requests: pl.DataFrame) -> pl.DataFrame:
    """Rows of `http_requests` without requests for anything but the objects, where the trial has a list of these."""
    names = asked_for(evidence.trial)
    if names is None:
        return requests
    told = requests.select("url", "method").iter_rows()
    return requests.filter([answers(url, method, names) for url, method in told])
