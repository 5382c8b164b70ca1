// SPDX-License-Identifier: Apache-2.0
//! Names of the IANA registries for HTTP/2 and HTTP/3, in small letters; what is reserved or unknown by its number.

use std::borrow::Cow;

/// Name of what endpoints send to keep each other used to the unknown.
pub(super) const RESERVED: &str = "reserved";

type Name = Cow<'static, str>;

fn unknown(number: u64) -> Name {
    Cow::Owned(format!("{number:#x}"))
}

/// Name of a frame's type, or `reserved` if it is one of those reserved (RFC 9114 section 7.2.8;
/// HTTP/2: by custom, 0x1f × n + 0x0b).
fn frame_or_reserved(number: u64, first_reserved: u64) -> Name {
    let is_reserved = number
        .checked_sub(first_reserved)
        .is_some_and(|above| above % 0x1f == 0);
    if is_reserved {
        Cow::Borrowed(RESERVED)
    } else {
        Cow::Owned(format!("unknown_{number:#x}"))
    }
}

/// RFC 9113 section 6, RFC 7838, RFC 8336, RFC 9218.
pub(super) fn h2_frame(number: u8) -> Name {
    Cow::Borrowed(match number {
        0x0 => "data",
        0x1 => "headers",
        0x2 => "priority",
        0x3 => "rst_stream",
        0x4 => "settings",
        0x5 => "push_promise",
        0x6 => "ping",
        0x7 => "goaway",
        0x8 => "window_update",
        0x9 => "continuation",
        0xa => "altsvc",
        0xc => "origin",
        0x10 => "priority_update",
        _ => return frame_or_reserved(number.into(), 0x0b),
    })
}

/// RFC 9114 section 7.2, RFC 9218, RFC 9412.
pub(super) fn h3_frame(number: u64) -> Name {
    Cow::Borrowed(match number {
        0x0 => "data",
        0x1 => "headers",
        0x3 => "cancel_push",
        0x4 => "settings",
        0x5 => "push_promise",
        0x7 => "goaway",
        0xc => "origin",
        0xd => "max_push_id",
        0xf_0700 | 0xf_0701 => "priority_update",
        _ => return frame_or_reserved(number, 0x21),
    })
}

/// RFC 9113 section 6.5.2, RFC 8441, RFC 9218.
pub(super) fn h2_setting(number: u16) -> Name {
    Cow::Borrowed(match number {
        0x1 => "header_table_size",
        0x2 => "enable_push",
        0x3 => "max_concurrent_streams",
        0x4 => "initial_window_size",
        0x5 => "max_frame_size",
        0x6 => "max_header_list_size",
        0x8 => "enable_connect_protocol",
        0x9 => "no_rfc7540_priorities",
        _ => return unknown(number.into()),
    })
}

/// RFC 9114 section 7.2.4.1, RFC 9204, RFC 9220, RFC 9297.
pub(super) fn h3_setting(number: u64) -> Name {
    Cow::Borrowed(match number {
        0x1 => "qpack_max_table_capacity",
        0x6 => "max_field_section_size",
        0x7 => "qpack_blocked_streams",
        0x8 => "enable_connect_protocol",
        0x33 => "h3_datagram",
        _ => return unknown(number),
    })
}

/// RFC 9113 section 7.
pub(super) fn h2_error(number: u32) -> Name {
    Cow::Borrowed(match number {
        0x0 => "NO_ERROR",
        0x1 => "PROTOCOL_ERROR",
        0x2 => "INTERNAL_ERROR",
        0x3 => "FLOW_CONTROL_ERROR",
        0x4 => "SETTINGS_TIMEOUT",
        0x5 => "STREAM_CLOSED",
        0x6 => "FRAME_SIZE_ERROR",
        0x7 => "REFUSED_STREAM",
        0x8 => "CANCEL",
        0x9 => "COMPRESSION_ERROR",
        0xa => "CONNECT_ERROR",
        0xb => "ENHANCE_YOUR_CALM",
        0xc => "INADEQUATE_SECURITY",
        0xd => "HTTP_1_1_REQUIRED",
        _ => return unknown(number.into()),
    })
}

/// RFC 9114 section 8.1, RFC 9204 section 8.3.
pub(super) fn h3_error(number: u64) -> Name {
    Cow::Borrowed(match number {
        0x100 => "H3_NO_ERROR",
        0x101 => "H3_GENERAL_PROTOCOL_ERROR",
        0x102 => "H3_INTERNAL_ERROR",
        0x103 => "H3_STREAM_CREATION_ERROR",
        0x104 => "H3_CLOSED_CRITICAL_STREAM",
        0x105 => "H3_FRAME_UNEXPECTED",
        0x106 => "H3_FRAME_ERROR",
        0x107 => "H3_EXCESSIVE_LOAD",
        0x108 => "H3_ID_ERROR",
        0x109 => "H3_SETTINGS_ERROR",
        0x10a => "H3_MISSING_SETTINGS",
        0x10b => "H3_REQUEST_REJECTED",
        0x10c => "H3_REQUEST_CANCELLED",
        0x10d => "H3_REQUEST_INCOMPLETE",
        0x10e => "H3_MESSAGE_ERROR",
        0x10f => "H3_CONNECT_ERROR",
        0x110 => "H3_VERSION_FALLBACK",
        0x200 => "QPACK_DECOMPRESSION_FAILED",
        0x201 => "QPACK_ENCODER_STREAM_ERROR",
        0x202 => "QPACK_DECODER_STREAM_ERROR",
        _ => return unknown(number),
    })
}
