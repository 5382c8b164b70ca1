# SPDX-License-Identifier: Apache-2.0
"""What servers that are not ours are asked to bear."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.lab.runner.allowance import Allowance, Bounds
from quiclab.model.errors import DecodeError, TrialError
from quiclab.model.units import ByteCount, Duration

_BOUNDS = Bounds(3, ByteCount(1000), Duration(0))


def test_requests_are_counted_per_host_and_across_runs(tmp_path: Path) -> None:
    """A second run goes on where the first was killed, even in mid-request."""
    first = Allowance(tmp_path / "requests.json", _BOUNDS)
    assert first.take("a", 100) == 1000
    first.settle("a", 100, 150)
    assert first.take("a", 100) == 850
    again = Allowance(tmp_path / "requests.json", _BOUNDS)
    assert again.used("a") == (2, 250)
    assert again.take("b", 100) == 1000
    again.take("a", 100)
    with pytest.raises(TrialError, match="a has had 3 requests, as many as --max-requests allows"):
        again.take("a", 100)


@pytest.mark.parametrize(("expected", "allowed"), [(0, False), (100, False)])
def test_bytes_are_bounded(tmp_path: Path, expected: int, allowed: bool) -> None:
    """A body that would be too much is not asked for, one of unknown length not once nothing is left."""
    allowance = Allowance(tmp_path / "requests.json", _BOUNDS)
    allowance.take("a", 0)
    allowance.settle("a", 0, 1000)
    with pytest.raises(TrialError, match="more than --max-bytes allows"):
        allowance.take("a", expected)


def test_the_next_request_waits(tmp_path: Path) -> None:
    """No request to the same host before the pause is over; another host need not wait."""
    pause = Duration.from_s(0.2)
    allowance = Allowance(tmp_path / "requests.json", Bounds(9, ByteCount(1000), pause))
    allowance.take("a", 0)
    allowance.settle("a", 0, 1)
    ended = allowance._ended["a"]
    allowance.take("a", 0)
    allowance.settle("a", 0, 1)
    assert allowance._ended["a"] - ended >= pause.s


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "null", '{"a": 1}', '{"a": {}}', '{"a": {"requests": -9, "body_bytes": 0}}', '{"a": {"requests": 1.5, '
     '"body_bytes": 0}}'],
)  # fmt: skip
def test_an_account_that_no_probe_wrote_is_told(tmp_path: Path, text: str) -> None:
    """Servers of others would be asked for more than was announced."""
    (tmp_path / "requests.json").write_text(text)
    with pytest.raises(DecodeError, match="no account of requests"):
        Allowance(tmp_path / "requests.json", _BOUNDS)
