# SPDX-License-Identifier: Apache-2.0
"""The transport parameters of QUIC (RFC 9000 section 18)."""

from __future__ import annotations

from collections.abc import Iterable

from quiclab.verify._cursor import Cursor

# Names as in the IANA registry "QUIC Transport Parameters".
_INTEGERS = {
    0x01: "max_idle_timeout",
    0x03: "max_udp_payload_size",
    0x04: "initial_max_data",
    0x05: "initial_max_stream_data_bidi_local",
    0x06: "initial_max_stream_data_bidi_remote",
    0x07: "initial_max_stream_data_uni",
    0x08: "initial_max_streams_bidi",
    0x09: "initial_max_streams_uni",
    0x0A: "ack_delay_exponent",
    0x0B: "max_ack_delay",
    0x0E: "active_connection_id_limit",
    0x20: "max_datagram_frame_size",
}
_FLAGS = {0x0C: "disable_active_migration", 0x2AB2: "grease_quic_bit"}
_BYTES = {
    0x00: "original_destination_connection_id",
    0x02: "stateless_reset_token",
    0x0D: "preferred_address",
    0x0F: "initial_source_connection_id",
    0x10: "retry_source_connection_id",
    0x11: "version_information",
}


def parse_transport_parameters(data: bytes) -> dict[str, int | bool | str]:
    """Name to value as sent: integer, True for flags, else hex; unknown ones by number. Raises `MalformedError`."""
    parameters = Cursor(data, "quic_transport_parameters")
    raw: list[tuple[int, bytes]] = []
    while parameters:
        number = parameters.varint()
        raw.append((number, parameters.take(parameters.varint())))
    return parse_parameter_values(raw)


def parse_parameter_values(raw: Iterable[tuple[int, bytes]]) -> dict[str, int | bool | str]:
    """The same from parameters that are told apart already: number and value. Raises `MalformedError`."""
    found: dict[str, int | bool | str] = {}
    for number, value in raw:
        if number in _INTEGERS:
            found[_INTEGERS[number]] = Cursor(value, _INTEGERS[number]).varint()
        elif number in _FLAGS:
            found[_FLAGS[number]] = True
        elif number % 31 != 27:  # Those are reserved, and drawn anew for each connection (RFC 9000 section 18.1).
            found[_BYTES.get(number, f"0x{number:x}")] = value.hex()
    return found
