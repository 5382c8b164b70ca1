# SPDX-License-Identifier: Apache-2.0
"""A network that forgets the client's ports in mid-transfer: QUIC goes on from the new one, TCP does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def test_quic_survives_a_rebinding_and_tcp_does_not(tmp_path: Path) -> None:
    """The server validates the new path (RFC 9000 section 9.3); nginx knows no TCP connection from there."""
    need(("client", "quic-go"), ("server", "quic-go"), ("server", "nginx"))
    arms = {
        "quic": 'protocol = "h3"\nclient = "quic-go"\nserver = "quic-go"',
        "tcp": 'protocol = "h2"\nclient = "quic-go"\nserver = "nginx"',
    }
    found = run_arms(tmp_path, arms, size="4 MB", path='nat = {rebind = "300 ms"}')
    assert found["tcp"]["status"] == "failed", found["tcp"]
    assert found["quic"]["status"] == "verified", found["quic"]["reason"]
    assert found["quic"]["link"]["down"]["dropped"]["unmapped"] > 0
