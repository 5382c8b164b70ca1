# SPDX-License-Identifier: Apache-2.0
"""Keys and values of JSON records in words: `net_core_rmem_max` and `4194304` are nothing to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from quiclab.model import number_text

LONGEST = 200
"""Characters of a value; longer ones are left out of a table of facts."""
_WHOLE: Mapping[str, str] = MappingProxyType(
    {
        "kernel": "Linux kernel",
        "machine": "architecture",
        "cpus": "processors",
        "cpu_model": "kind of processor",
        "memory_bytes": "memory",
        "tcp_available_congestion_control": "TCP congestion controls that the kernel has",
        "net_core_rmem_max": "largest receive buffer of a socket",
        "net_core_rmem_default": "usual receive buffer of a socket",
        "link_backend": "network devices of the link",
        "decrypted_by": "decrypted by",
        "early_data_bytes_by": "early data, told by",
        "alt_svc": "Alt-Svc",
        "alt_svc_use": "use of Alt-Svc",
        "http_version": "HTTP version, as the client tells",
        "http_version_seen": "HTTP version, as the packets show",
    }
)
"""Words of whole keys where those of their parts would not do."""
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        **{word: word.upper() for word in ("alpn", "ecn", "http", "ip", "quic", "tcp", "tls", "udp", "qpack", "ce")},
        "python": "Python", "pct": "", "bytes": "", "bidi": "bidirectional", "uni": "unidirectional", "id": "ID",
        "ect0": "ECT(0)", "ect1": "ECT(1)", "sha256": "SHA-256",
    }
)  # fmt: skip
_BYTES = frozenset(
    {
        "net_core_rmem_max", "net_core_rmem_default", "initial_max_data", "initial_max_stream_data_bidi_local",
        "initial_max_stream_data_bidi_remote", "initial_max_stream_data_uni", "max_udp_payload_size",
        "max_datagram_frame_size", "initial_window_size", "max_frame_size", "max_header_list_size",
        "max_field_section_size", "header_table_size", "qpack_max_table_capacity",
    }
)  # fmt: skip
"""Parts whose numbers are bytes although their names do not say so (RFC 9000, 9113, 9114 and 9204)."""
_MILLISECONDS = frozenset({"max_idle_timeout", "max_ack_delay"})
"""Parts whose numbers are milliseconds (RFC 9000 section 18.2)."""
_GIB, _MIB = 2**30, 2**20


def facts_of(record: Any) -> Iterator[tuple[str, str]]:
    """Return the leaves of nested JSON in words, each with its key's; empty and long values are left out."""
    for parts, value in _leaves(record, ()):
        told = _value(parts, value)
        if told and len(told) <= LONGEST:
            yield _key(parts), told


def of_its_transport(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that a trial's proof can have: what is QUIC's is not `unproven` of an arm over TCP, nor what is
    TCP's of one over QUIC, nor the leg behind a proxy where there is none."""
    proof = record.get("proof") or {}
    others = _OF_TRANSPORT.get(str(proof.get("transport")), ())
    alone = () if record.get("proxy") else ("origin_leg",)
    return {key: value for key, value in proof.items() if value != "unproven" or not key.startswith((*others, *alone))}


_OF_TRANSPORT = MappingProxyType({"tcp": ("quic_", "early_data_packets"), "quic": ("tcp_",)})
"""Transport → how the keys begin that are the other one's."""


def _leaves(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*parts, str(key)))
    elif value not in (None, "", []):
        yield parts, value


def _key(parts: tuple[str, ...]) -> str:
    """Key in words: `QUIC parameters client: initial max data`."""
    if parts[:1] == ("programs",):  # by its role and name
        return " ".join(parts[1:])
    return ": ".join(_WHOLE.get(part) or _part(part) for part in parts)


def _part(part: str) -> str:
    words = (_WORDS.get(word, word) for word in part.split("_"))
    return " ".join(filter(None, words))


def _value(parts: tuple[str, ...], value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return ", ".join(map(str, value))
    number = int(value) if isinstance(value, str) and value.isdecimal() and _is_bytes(parts) else value
    if isinstance(number, int | float):
        return _quantity(parts, number)
    if isinstance(value, str):
        return value.replace("_", " ") if re.fullmatch(r"[a-z]+(_[a-z]+)+", value) else value
    return json.dumps(value, ensure_ascii=False)


def _quantity(parts: tuple[str, ...], number: int | float) -> str:
    if parts[-1] in _MILLISECONDS:
        return f"{number_text.count(number)} ms"
    if parts[-1].endswith("_pct"):
        return number_text.quantity(float(number), "%")
    if not _is_bytes(parts):
        return _exact(number) if isinstance(number, int) else number_text.number(number)
    if number >= _GIB and parts[-1] == "memory_bytes":
        return f"{number_text.number(number / _GIB)} GiB"
    if number >= _MIB and number % _MIB == 0:
        return f"{_exact(int(number) // _MIB)} MiB"
    return f"{_exact(int(number))} bytes"


def _exact(number: int) -> str:
    """Every digit, of numbers beyond those that a float holds too."""
    return f"{number:,}".replace(",", "\u2009")


def _is_bytes(parts: tuple[str, ...]) -> bool:
    return any("bytes" in part.split("_") for part in parts) or parts[-1] in _BYTES
