// SPDX-License-Identifier: Apache-2.0
//! Payloads of frames, as far as they are a number and a few words (RFC 9114 section 7.2).

use super::reader::FrameHeader;
use crate::http::cursor::Cursor;
use crate::http::detail::Detail;
use crate::http::names;

pub(super) const HEADERS: u64 = 0x1;
const CANCEL_PUSH: u64 = 0x3;
pub(super) const SETTINGS: u64 = 0x4;
pub(super) const PUSH_PROMISE: u64 = 0x5;
const GOAWAY: u64 = 0x7;
const ORIGIN: u64 = 0xc;
const MAX_PUSH_ID: u64 = 0xd;
/// The priority of a request, by its stream (RFC 9218 section 7.2).
pub(super) const PRIORITY_UPDATE: u64 = 0xf_0700;
/// The priority of a push, by its id.
const PRIORITY_UPDATE_PUSH: u64 = 0xf_0701;

/// The pairs of a SETTINGS frame.
pub(super) fn settings(payload: &[u8]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let mut cursor = Cursor(payload);
    std::iter::from_fn(move || Some((cursor.varint()?, cursor.varint()?)))
}

/// The element and the Priority Field Value of a `PRIORITY_UPDATE`.
pub(super) fn priority_update(payload: &[u8]) -> Option<(u64, &str)> {
    let mut cursor = Cursor(payload);
    let element = cursor.varint()?;
    Some((element, std::str::from_utf8(cursor.0).ok()?))
}

/// The number of the column `value`, and what else there is to say; `None` if the payload is not what it must be.
pub(super) fn describe(header: FrameHeader, payload: &[u8]) -> Option<(Option<u64>, Detail)> {
    let mut detail = Detail::default();
    let value = match header.kind {
        CANCEL_PUSH | GOAWAY | MAX_PUSH_ID => Some(Cursor(payload).varint()?),
        SETTINGS => {
            for (id, value) in settings(payload) {
                detail.number(&names::h3_setting(id), value);
            }
            None
        }
        PRIORITY_UPDATE | PRIORITY_UPDATE_PUSH => {
            let (element, priority) = priority_update(payload)?;
            detail.text("priority", priority);
            Some(element)
        }
        ORIGIN => {
            let mut cursor = Cursor(payload);
            let mut origins = Vec::new();
            while let Some(length) = cursor.u16() {
                origins.push(String::from_utf8_lossy(cursor.take(length.into())?));
            }
            detail.text("origins", &origins.join(" "));
            None
        }
        _ => None,
    };
    Some((value, detail))
}
