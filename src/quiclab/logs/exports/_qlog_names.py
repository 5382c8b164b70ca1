# SPDX-License-Identifier: Apache-2.0
"""Names that the drafts give to numbers."""

from __future__ import annotations

_HTTP3_ERRORS_BY_CODE = (
    "http_no_error",
    "http_general_protocol_error",
    "http_internal_error",
    "http_stream_creation_error",
    "http_closed_critical_stream",
    "http_frame_unexpected",
    "http_frame_error",
    "http_excessive_load",
    "http_id_error",
    "http_settings_error",
    "http_missing_settings",
    "http_request_rejected",
    "http_request_cancelled",
    "http_request_incomplete",
    "http_message_error",
    "http_connect_error",
    "http_version_fallback",
)
"""Names of HTTP/3 error codes from 0x100 on (RFC 9114 section 8.1)."""
HTTP3_ERRORS = tuple(name for name in _HTTP3_ERRORS_BY_CODE if name != "http_message_error")
"""HTTP/3 errors that the draft names."""
TRANSPORT_ERRORS = (
    "no_error",
    "internal_error",
    "connection_refused",
    "flow_control_error",
    "stream_limit_error",
    "stream_state_error",
    "final_size_error",
    "frame_encoding_error",
    "transport_parameter_error",
    "connection_id_limit_error",
    "protocol_violation",
    "invalid_token",
    "application_error",
    "crypto_buffer_exceeded",
    "key_update_error",
    "aead_limit_reached",
    "no_viable_path",
)
"""Names of transport error codes from 0 on (RFC 9000 section 20.1)."""
_CRYPTO_ERRORS = range(0x100, 0x200)


def application_error(code: int) -> str:
    """The draft's name of an HTTP/3 error code."""
    name = dict(enumerate(_HTTP3_ERRORS_BY_CODE, 0x100)).get(code)
    return name if name in HTTP3_ERRORS else "unknown"


def transport_error(code: int) -> str:
    """The draft's name of a QUIC error code."""
    if code in _CRYPTO_ERRORS:
        return f"crypto_error_{code:#x}"
    return TRANSPORT_ERRORS[code] if code < len(TRANSPORT_ERRORS) else "unknown"
