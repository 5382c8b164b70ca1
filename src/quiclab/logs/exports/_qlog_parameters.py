# SPDX-License-Identifier: Apache-2.0
"""Rows of the table `parameters` as qlog's events of connections: old names and notations become those of the draft."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from quiclab.logs.exports._qlog_frames import Json
from quiclab.logs.exports._qlog_names import HTTP3_ERRORS, TRANSPORT_ERRORS, application_error, transport_error
from quiclab.logs.exports._tables import Row

Event = tuple[str, Json]
"""Name and data of an event."""
Reader = Callable[[str], Any]
"""Reader of a value's text. Raises ValueError, KeyError or TypeError if the text is something else."""

_ERRORS = {"connection_error": (*TRANSPORT_ERRORS, "unknown"), "application_error": (*HTTP3_ERRORS, "unknown")}
_CRYPTO_ERROR = re.compile(r"crypto_error_0x1[0-9a-f][0-9a-f]")
_CLOSE_TRIGGERS = (
    "idle_timeout", "application", "error", "version_mismatch", "stateless_reset", "aborted", "unspecified",
)  # fmt: skip
_NUMBER = re.compile(r"0x[0-9a-f]+")
_HEX_VERSION_DIGITS = 8
_EMPTY = ("(empty)", "0")
"""Ways in which programs write a connection id without bytes."""
_NAMED_VERSIONS = {"RFCv1": "00000001", "RFCv2": "6b3343cf"}
_UINT64 = range(1 << 64)


def _number(text: str) -> int:
    if text in ("true", "false"):
        return int(text == "true")
    number = int(text, 16 if text.startswith("0x") else 10)
    if number not in _UINT64:
        raise ValueError(text)
    return number


def _flag(text: str) -> bool:
    # A parameter without a value is a flag that is set.
    return {"true": True, "1": True, "": True, "false": False, "0": False}[text.lower()]


def _hex(text: str) -> str:
    content = json.loads(text)["data"] if text.startswith("{") else "" if text in _EMPTY else text
    return bytes.fromhex(str(content).removeprefix("0x")).hex()


def _version(text: str) -> str:
    """A version as eight hexadecimal digits, read from as many or fewer, from a decimal number, or from a name."""
    digits = _NAMED_VERSIONS.get(text, text).lower().removeprefix("0x")
    number = int(digits, 16) if len(digits) <= _HEX_VERSION_DIGITS else int(digits)
    return f"{number:08x}"


def _versions(text: str) -> list[str]:
    listed = json.loads(text)
    return [f"{each:08x}" if isinstance(each, int) else _version(each) for each in listed]


def _alpn(text: str) -> Json:
    content = json.loads(text) if text.startswith("{") else {"string_value": text}
    return {name: str(value) for name, value in content.items() if name in ("byte_value", "string_value")}


def _alpns(text: str) -> list[Json]:
    listed = json.loads(text) if text.startswith("[") else re.split(r"[, ]+", text)
    return [each if isinstance(each, dict) else {"string_value": str(each)} for each in listed]


def _end(text: str) -> Json:
    """Addresses and connection ids of one end, as far as they are known, read from an object or from `address:port`."""
    if not text.startswith("{"):
        address, _, port = text.rpartition(":")
        family = "v6" if ":" in address else "v4"
        return {f"ip_{family}": address.strip("[]"), f"port_{family}": int(port)}
    content = json.loads(text)
    kept = ("ip_v4", "port_v4", "ip_v6", "port_v6", "connection_ids")
    return {name: content[name] for name in kept if name in content}


def _members(names: str, kind: Reader) -> dict[str, Reader]:
    return dict.fromkeys(names.split(), kind)


_QUIC_PARAMETERS: dict[str, Reader] = {
    **_members(
        "max_idle_timeout max_udp_payload_size ack_delay_exponent max_ack_delay active_connection_id_limit "
        "initial_max_data initial_max_stream_data_bidi_local initial_max_stream_data_bidi_remote "
        "initial_max_stream_data_uni initial_max_streams_bidi initial_max_streams_uni max_datagram_frame_size",
        _number,
    ),
    **_members(
        "original_destination_connection_id initial_source_connection_id retry_source_connection_id "
        "stateless_reset_token",
        _hex,
    ),
    **_members("disable_active_migration grease_quic_bit reset_stream_at resumption_allowed early_data_enabled", _flag),
    "tls_cipher": str,
}
_HTTP3_PARAMETERS: dict[str, Reader] = {
    **_members("max_field_section_size max_table_capacity blocked_streams_count extended_connect h3_datagram", _number),
    "waits_for_settings": _flag,
}
_EVENTS: dict[str, tuple[str, dict[str, Reader]]] = {
    "version_information": (
        "quic:version_information",
        {"server_versions": _versions, "client_versions": _versions, "chosen_version": _version},
    ),
    "alpn_information": (
        "quic:alpn_information",
        {"server_alpns": _alpns, "client_alpns": _alpns, "chosen_alpn": _alpn},
    ),
    "parameters_set": ("quic:parameters_set", _QUIC_PARAMETERS),
    "parameters_restored": ("quic:parameters_restored", _QUIC_PARAMETERS),
    "settings": ("http3:parameters_set", _HTTP3_PARAMETERS),
    "settings_restored": ("http3:parameters_restored", {**_HTTP3_PARAMETERS}),
    "connection_started": ("quic:connection_started", {"local": _end, "remote": _end}),
    "connection_closed": (
        "quic:connection_closed",
        {"connection_error": str, "application_error": str, "error_code": _number, "internal_code": _number,
         "reason": str, "trigger": str},
    ),
}  # fmt: skip
"""Name of the event, its members and their readers, by the first word of `name`."""
_RENAMED = {
    "idle_timeout": "max_idle_timeout",
    "max_packet_size": "max_udp_payload_size",
    "original_connection_id": "original_destination_connection_id",
    "connection_code": "connection_error",
    "application_code": "application_error",
    "settings_qpack_max_table_capacity": "max_table_capacity",
    "qpack_max_table_capacity": "max_table_capacity",
    "settings_max_field_section_size": "max_field_section_size",
    "settings_qpack_blocked_streams": "blocked_streams_count",
    "qpack_blocked_streams": "blocked_streams_count",
    "settings_enable_connect_protocol": "extended_connect",
    "enable_connect_protocol": "extended_connect",
    "settings_h3_datagram": "h3_datagram",
    # RFC 9204 section 8.1, RFC 9114 section 11.2.2, RFC 9220 section 5, RFC 9297 section 5.1
    "0x1": "max_table_capacity",
    "0x6": "max_field_section_size",
    "0x7": "blocked_streams_count",
    "0x8": "extended_connect",
    "0x33": "h3_datagram",
}
_WITH_INITIATOR = ("parameters_set", "settings", "connection_closed")


def parameter_events(rows: Sequence[Row], left_out: Counter[str], *, whole_numbers: bool = True) -> Iterator[Event]:
    """Events of one instant; members that the draft does not have are counted.

    `whole_numbers`: see `_qlog_events.Teller`.
    """
    for (event, owner), members in groupby(rows, _event_and_owner):
        if event not in _EVENTS:
            left_out[f"parameters {event}"] += len(list(members))
            continue
        values = {row["name"].rsplit(".", 1)[1].lower(): row["value"] for row in members}
        told = values.pop("owner", None) or values.pop("initiator", None)
        if event == "parameters_set" and not whole_numbers:
            for name in [name for name in values if _NUMBER.fullmatch(name)]:
                left_out["transport parameters without a name, of whose number a NetLog has only the end"] += 1
                del values[name]
        yield from _event(event, owner or told, rows[0]["vantage"], values, left_out)


def _event_and_owner(row: Row) -> tuple[str, str | None]:
    event, *owner, _ = row["name"].split(".") if "." in row["name"] else (row["name"], "")
    # Settings of HTTP/3 may be in an event that has the same short name as QUIC's.
    member = row["name"].rsplit(".", 1)[-1].lower()
    if (
        event == "parameters_set"
        and not _NUMBER.fullmatch(member)
        and _RENAMED.get(member, member) in _HTTP3_PARAMETERS
    ):
        event = "settings"
    return event, owner[0] if owner else None


def _local_or_remote(owner: str | None, vantage: str | None) -> str | None:
    if owner in ("client", "server") and vantage is not None:
        return "local" if owner == vantage else "remote"
    return owner if owner in ("local", "remote") else None


def _event(
    event: str, owner: str | None, vantage: str | None, values: dict[str, str], left_out: Counter[str]
) -> Iterator[Event]:
    name, readers = _EVENTS[event]
    initiator = _local_or_remote(owner, vantage)
    if event == "connection_started":
        values = _named_ends(values, vantage)
    data: Json = {"initiator": initiator} if initiator and event in _WITH_INITIATOR else {}
    for old, text in values.items():
        member = _RENAMED.get(old, old)
        if event == "parameters_set" and _NUMBER.fullmatch(old):
            _unknown(data, old, text, left_out)
            continue
        if member not in readers:
            left_out[f"parameters {event}.{old}"] += 1
            continue
        try:
            data[member] = readers[member](text)
        except (ValueError, KeyError, TypeError):
            left_out[f"parameters {event}.{old} that cannot be read"] += 1
    if event == "connection_started":
        data = {"local": {}, "remote": {}} | data
    elif event == "connection_closed":
        _name_errors(data, left_out)
    elif not data.keys() - {"initiator"}:
        return
    yield name, data


def _unknown(data: Json, number: str, text: str, left_out: Counter[str]) -> None:
    """Add a transport parameter that the program had no name for, by its number."""
    try:
        parameter = {"id": _number(number), "value": _hex(text)}
    except (ValueError, KeyError, TypeError):
        left_out["parameters parameters_set.unknown_parameters that cannot be read"] += 1
        return
    data.setdefault("unknown_parameters", []).append(parameter)


def _named_ends(values: dict[str, str], vantage: str | None) -> dict[str, str]:
    """Values as `local` and `remote`, however the log called them; seen from an unknown place, the client is local."""
    if "src_ip" in values:
        return {"local": _old_end(values, "src"), "remote": _old_end(values, "dst")}
    return {_local_or_remote(name, vantage or "client") or name: value for name, value in values.items()}


def _old_end(values: dict[str, str], way: str) -> str:
    """`src_ip`, `src_port` and `src_cid` of 0.3 as one object."""
    family = "v6" if ":" in values.get(f"{way}_ip", "") else "v4"
    end: Json = {f"ip_{family}": values.get(f"{way}_ip", "")}
    if values.get(f"{way}_port", "").isdigit():
        end[f"port_{family}"] = int(values[f"{way}_port"])
    if values.get(f"{way}_cid"):
        end["connection_ids"] = [values[f"{way}_cid"].lower()]
    return json.dumps(end)


def _name_errors(data: Json, left_out: Counter[str]) -> None:
    """Give errors the draft's names; one without a name becomes `unknown`, with its code or its text as the reason."""
    for member, named in (("connection_error", transport_error), ("application_error", application_error)):
        told = str(data.pop(member, ""))
        if told.isdigit():
            data[member], data["error_code"] = named(int(told)), int(told)
        elif told in _ERRORS[member] or _CRYPTO_ERROR.fullmatch(told):
            data[member] = told
        elif told:
            data[member], data["reason"] = "unknown", data.get("reason") or told
    if data.get("trigger", "unspecified") not in _CLOSE_TRIGGERS:
        left_out["parameters connection_closed.trigger that the draft does not have"] += 1
        del data["trigger"]
