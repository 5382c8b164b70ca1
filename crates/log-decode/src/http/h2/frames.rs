// SPDX-License-Identifier: Apache-2.0
//! Payloads of frames, as far as they are a number and a few words (RFC 9113 section 6).

use super::reader::{FrameHeader, PADDED};
use crate::http::cursor::Cursor;
use crate::http::detail::Detail;
use crate::http::names;

pub(super) const HEADERS: u8 = 0x1;
pub(super) const PRIORITY: u8 = 0x2;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PUSH_PROMISE: u8 = 0x5;
const PING: u8 = 0x6;
const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;
const ALTSVC: u8 = 0xa;
const ORIGIN: u8 = 0xc;
pub(super) const PRIORITY_UPDATE: u8 = 0x10;

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
const HAS_PRIORITY: u8 = 0x20;

/// The payload without its padding (RFC 9113 section 6.1).
pub(super) fn without_padding(header: FrameHeader, payload: &[u8]) -> Option<Cursor<'_>> {
    if !header.has(PADDED) {
        return Some(Cursor(payload));
    }
    let (&padding, rest) = payload.split_first()?;
    let end = rest.len().checked_sub(usize::from(padding))?;
    Some(Cursor(rest.get(..end)?))
}

/// The priority of RFC 7540 section 6.3, as the column `priority` has it.
pub(super) fn tree_priority(header: FrameHeader, payload: &mut Cursor<'_>) -> Option<String> {
    if header.kind != PRIORITY && !header.has(HAS_PRIORITY) {
        return None;
    }
    let word = payload.u32()?;
    let weight = u16::from(payload.byte()?) + 1;
    let exclusive = if word >> 31 == 1 { ", exclusive" } else { "" };
    Some(format!(
        "weight={weight}, depends_on={}{exclusive}",
        word & 0x7fff_ffff
    ))
}

/// The pairs of a SETTINGS frame.
pub(super) fn settings(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> + '_ {
    let mut cursor = Cursor(payload);
    std::iter::from_fn(move || Some((cursor.u16()?, cursor.u32()?)))
}

/// The element and the Priority Field Value of a `PRIORITY_UPDATE` (RFC 9218 section 7.1).
pub(super) fn priority_update(payload: &[u8]) -> Option<(u32, &str)> {
    let mut cursor = Cursor(payload);
    let element = cursor.u32()? & 0x7fff_ffff;
    Some((element, std::str::from_utf8(cursor.0).ok()?))
}

/// The number of the column `value`, and what else there is to say; `None` if the payload is not what it must be.
pub(super) fn describe(header: FrameHeader, payload: &[u8]) -> Option<(Option<u64>, Detail)> {
    let mut detail = Detail::default();
    let mut cursor = Cursor(payload);
    let value = match header.kind {
        PRIORITY => {
            detail.text("priority", &tree_priority(header, &mut cursor)?);
            None
        }
        RST_STREAM => {
            let code = cursor.u32()?;
            detail.text("error", &names::h2_error(code));
            Some(code.into())
        }
        SETTINGS => {
            if header.has(ACK) {
                detail.number("ack", true);
            }
            for (id, value) in settings(payload) {
                detail.number(&names::h2_setting(id), value);
            }
            None
        }
        PING => {
            if header.has(ACK) {
                detail.number("ack", true);
            }
            None
        }
        GOAWAY => {
            let last = cursor.u32()? & 0x7fff_ffff;
            detail.text("error", &names::h2_error(cursor.u32()?));
            if !cursor.is_empty() {
                detail.text("debug", &String::from_utf8_lossy(cursor.0));
            }
            Some(last.into())
        }
        WINDOW_UPDATE => Some((cursor.u32()? & 0x7fff_ffff).into()),
        PRIORITY_UPDATE => {
            let (element, priority) = priority_update(payload)?;
            detail.text("priority", priority);
            Some(element.into())
        }
        ALTSVC => {
            let length = cursor.u16()?.into();
            let origin = String::from_utf8_lossy(cursor.take(length)?);
            if !origin.is_empty() {
                detail.text("origin", &origin);
            }
            detail.text("alt_svc", &String::from_utf8_lossy(cursor.0));
            None
        }
        ORIGIN => {
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
