# SPDX-License-Identifier: Apache-2.0
"""Why the capture of a competition may hide a request: what another flow lacks is no reason."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics.measured_flow import measured_tables
from quiclab.evidence.verify.http_responses import CAPTURE, closed_because
from quiclab.model.tables import TABLES

MEASURED, OTHER = 443, 444
_NO_KEYS = "the client left no TLS keys that open all of its packets"


def _table(name: str, *rows: dict[str, Any]) -> pl.DataFrame:
    columns = TABLES[name].empty()
    frames = [pl.DataFrame([row], schema={key: columns.schema[key] for key in row}) for row in rows]
    return pl.concat([columns, *frames], how="diagonal")


def _tables(finding: str, closed: int | None, transport: str = "quic") -> dict[str, pl.DataFrame]:
    """Two connections, one packet each, from the clients to the servers' ports; the packets of one stayed closed."""
    at = {"source": CAPTURE}
    ports = (MEASURED, OTHER)
    packets, handshake, http = [], [], []
    for number, port in enumerate(ports):
        of = at | {"connection": f"to {port}", "transport": transport}
        quic_number = None if port == closed or transport == "tcp" else 7
        kind = "1RTT" if transport == "quic" else None
        packets.append(of | {"ip_packet": number, "packet_type": kind, "packet_number": quic_number})
        handshake.append(of | {"step": "client_hello"})
        if port != closed:
            http.append(at | {"connection": f"to {port}", "frame_type": "headers"})
    return {
        "sources": _table("sources", at),
        "decode_stats": _table("decode_stats", at | {"name": finding, "severity": "data_loss", "advice": "lost"}),
        "ip_packets": _table(
            "ip_packets", *(at | {"number": n, "dst": "10.77.0.2", "dst_port": port} for n, port in enumerate(ports))
        ),
        "packets": _table("packets", *packets),
        "handshake": _table("handshake", *handshake),
        "http_frames": _table("http_frames", *http),
    }


def _competition() -> dict[str, Any]:
    flows = [
        {"label": label, "server_address": "10.77.0.2", "server_port": port}
        for label, port in (("measured", MEASURED), ("h3-1", OTHER))
    ]
    return {"competition": {"flows": flows}}


def _closed(tables: dict[str, pl.DataFrame], document: dict[str, Any]) -> str | None:
    return closed_because(measured_tables(tables, record(document)), competes="competition" in document)


@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_keys_that_another_flow_lacks_hide_nothing(transport: str) -> None:
    """And those of the measured client do."""
    assert _closed(_tables("missing_keys", OTHER, transport), _competition()) is None
    assert _closed(_tables("missing_keys", MEASURED, transport), _competition()) == _NO_KEYS


def test_a_loss_that_may_be_any_flows_is_told_as_such() -> None:
    """The count of a finding does not say whose it is."""
    assert _closed(_tables("gap_in_capture", None), _competition()) == "lost (this flow's or another's)"


def test_a_trial_of_one_flow_has_its_own_findings() -> None:
    """Whatever its rows show."""
    assert _closed(_tables("missing_keys", None), {}) == _NO_KEYS
    assert _closed(_tables("gap_in_capture", None), {}) == "lost"
