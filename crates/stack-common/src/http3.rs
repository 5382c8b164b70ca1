// SPDX-License-Identifier: Apache-2.0
//! Numbers of HTTP/3.

/// `H3_NO_ERROR` (RFC 9114 section 8.1).
pub const NO_ERROR: u32 = 0x100;
/// `H3_INTERNAL_ERROR` (RFC 9114 section 8.1).
pub const INTERNAL_ERROR: u32 = 0x102;
