# SPDX-License-Identifier: Apache-2.0
"""Mahimahi traces: their mean rate, and what is not one."""

from __future__ import annotations

import pathlib

import pytest

from quiclab.model.units import Bitrate
from quiclab.spec.traces import mean_rate


@pytest.mark.parametrize(
    ("text", "bit_per_s"),
    [("1\n", 12_000_000), ("1\n1\n1\n2\n", 24_000_000), ("0\n500\n1000\n", 36_000), ("3\n\n 12 \n\n", 2_000_000)],
)
def test_the_mean_is_all_opportunities_over_the_length(tmp_path: pathlib.Path, text: str, bit_per_s: int) -> None:
    """1500 bytes for each line, over the last instant; blank lines count for nothing."""
    trace = tmp_path / "trace"
    trace.write_text(text)
    assert mean_rate(trace) == Bitrate(bit_per_s)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1\n2.5\n", "line 2"),
        (b"5\n4\n", "line 2"),
        (b"-1\n", "line 1"),
        (b"", "empty"),
        (b"0\n0\n", "ends at 0 ms"),
        (b"1\n\xff\n", "cannot be read"),
    ],
)
def test_what_is_not_a_trace_is_told(tmp_path: pathlib.Path, content: bytes, words: str) -> None:
    """With the line of the trace where there is one."""
    trace = tmp_path / "trace"
    trace.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        mean_rate(trace)
