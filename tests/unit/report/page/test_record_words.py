# SPDX-License-Identifier: Apache-2.0
"""Keys and values of JSON records in words."""

from __future__ import annotations

from typing import Any

import pytest

from quiclab.report.page.validity import LONGEST, facts_of, transport_facts


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"memory_bytes": 25276502016}, ("memory", "23.5 GiB")),
        ({"net_core_rmem_max": "4194304"}, ("largest receive buffer of a socket", "4 MiB")),
        ({"net_core_rmem_default": "212992"}, ("usual receive buffer of a socket", "212\u2009992 bytes")),
        ({"programs": {"server caddy": "2.11.7"}}, ("server caddy", "2.11.7")),
        ({"quic_parameters_client": {"initial_max_data": 786432}},
         ("QUIC parameters client: initial max data", "786\u2009432 bytes")),
        ({"quic_parameters_server": {"max_idle_timeout": 30000}},
         ("QUIC parameters server: max idle timeout", "30\u2009000 ms")),
        ({"http_settings_client": {"max_field_section_size": 2**62 - 1}},
         ("HTTP settings client: max field section size",
          "4\u2009611\u2009686\u2009018\u2009427\u2009387\u2009903 bytes")),
        ({"ecn": {"down": {"ect0_pct": 9.804}}}, ("ECN: down: ECT(0)", "9.80 %")),
        ({"ecn_client": {"not_ect": 2175}}, ("ECN client: not ect", "2\u2009175")),
        ({"resumed": False}, ("resumed", "no")),
        ({"alt_svc_use": "not_used"}, ("use of Alt-Svc", "not used")),
        ({"tls_cipher": "TLS_AES_128_GCM_SHA256"}, ("TLS cipher", "TLS_AES_128_GCM_SHA256")),
        ({"alpn_offered": ["h2", "http/1.1"]}, ("ALPN offered", "h2, http/1.1")),
    ],
)  # fmt: skip
def test_a_fact_in_words(record: dict[str, Any], told: tuple[str, str]) -> None:
    """No key of a file, a unit beside each number, and every digit of large ones."""
    assert list(facts_of(record)) == [told]


def test_what_is_empty_or_too_long_is_left_out() -> None:
    """A null, an empty list, a text of a page."""
    assert list(facts_of({"a": None, "b": [], "c": "", "d": "x" * (LONGEST + 1), "e": 0})) == [("e", "0")]


@pytest.mark.parametrize(
    ("transport", "proxy", "left"),
    [
        ("tcp", None, ["transport", "tcp_congestion_control"]),
        ("quic", None, ["transport", "quic_version", "early_data_packets"]),
        ("tcp", {"name": "caddy"}, ["transport", "tcp_congestion_control", "origin_leg"]),
        (None, None, ["transport", "tcp_congestion_control", "quic_version", "early_data_packets"]),
    ],
)  # fmt: skip
def test_what_an_arm_cannot_have_is_not_unproven(transport: str | None, proxy: object, left: list[str]) -> None:
    """A version of QUIC over TCP is no proof that is missing; without a known transport all are."""
    keys = ("tcp_congestion_control", "quic_version", "early_data_packets", "origin_leg")
    proof = {"transport": transport} | dict.fromkeys(keys, "unproven")
    assert list(transport_facts(proof, has_proxy=proxy is not None)) == left
    known = {"transport": "tcp", "quic_version": "v1"}
    assert transport_facts(known, has_proxy=False) == known
    assert transport_facts({}, has_proxy=False) == {}
