// SPDX-License-Identifier: Apache-2.0
//! Frames of extensions that are told by name and passed over: multiple paths (draft-ietf-quic-multipath; its
//! codepoints for experiments, and those that it was given in the end), timestamps (draft-huitema-quic-ts) and observed
//! addresses (draft-ietf-quic-address-discovery).

use super::super::ack::Ack;
use super::super::wire::{varint, ConnectionId};
use super::{Frame, Stop};
use crate::tls::Reader;

/// Content of a frame of an extension, as far as anything rests on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::quic) struct Extension {
    pub(in crate::quic) name: &'static str,
    /// The path, the limit or the timestamp.
    pub(in crate::quic) value: Option<u64>,
    pub(in crate::quic) is_ack_eliciting: bool,
    /// A connection id that its sender gives, with its stateless reset token.
    pub(in crate::quic) id: Option<(ConnectionId, [u8; 16])>,
}

/// The frame of this type, if it is one of those.
pub(super) fn next<'a>(kind: u64, reader: &mut Reader<'a>) -> Result<Frame<'a>, Stop> {
    let frame = match kind {
        0x02f5 => plain(reader, "time_stamp", 1, false),
        0x3e | 0x3f | 0x1522_8c00 | 0x1522_8c01 => path_ack(reader, kind & 1 == 1),
        // Some drafts have a reason behind it: one without text reads like PADDING.
        0x3e75 | 0x1522_8c05 => plain(reader, "path_abandon", 2, true),
        0x1522_8c06 => plain(reader, "path_status", 3, true),
        0x3e76 | 0x1522_8c07 => plain(reader, "path_status_backup", 2, true),
        0x3e77 | 0x1522_8c08 => plain(reader, "path_status_available", 2, true),
        0x3e78 | 0x1522_8c09 => path_new_connection_id(reader),
        0x3e79 | 0x1522_8c0a => plain(reader, "path_retire_connection_id", 2, true),
        0x1522_8c0b => plain(reader, "max_paths", 1, true),
        0x3e7a | 0x1522_8c0c => plain(reader, "max_path_id", 1, true),
        0x3e7b | 0x1522_8c0d => plain(reader, "paths_blocked", 1, true),
        0x3e7c | 0x1522_8c0e => plain(reader, "path_cids_blocked", 2, true),
        0x9f_81a6 => observed_address(reader, 4),
        0x9f_81a7 => observed_address(reader, 16),
        _ => return Err(Stop::Unknown(kind)),
    };
    frame.ok_or(Stop::Malformed)
}

/// Read a frame that is this many integers; the first one is its value.
fn plain<'a>(
    reader: &mut Reader<'a>,
    name: &'static str,
    integers: usize,
    is_ack_eliciting: bool,
) -> Option<Frame<'a>> {
    let value = varint(reader)?;
    for _ in 1..integers {
        varint(reader)?;
    }
    Some(Frame::Extension(Extension {
        name,
        value: Some(value),
        is_ack_eliciting,
        id: None,
    }))
}

/// Packets of other paths have numbers of their own: only what is said of the first path is an ACK like any other.
fn path_ack<'a>(reader: &mut Reader<'a>, with_ecn: bool) -> Option<Frame<'a>> {
    let path = varint(reader)?;
    let ack = Ack::parse(reader, with_ecn)?;
    Some(Frame::PathAck { path, ack })
}

fn path_new_connection_id<'a>(reader: &mut Reader<'a>) -> Option<Frame<'a>> {
    let path = varint(reader)?;
    varint(reader)?;
    varint(reader)?;
    let id = ConnectionId::new(reader.vector(1)?.rest())?;
    let reset_token = reader.bytes(16)?.try_into().ok()?;
    Some(Frame::Extension(Extension {
        name: "path_new_connection_id",
        value: Some(path),
        is_ack_eliciting: true,
        id: Some((id, reset_token)),
    }))
}

fn observed_address<'a>(reader: &mut Reader<'a>, address_bytes: usize) -> Option<Frame<'a>> {
    let value = varint(reader)?;
    reader.bytes(address_bytes + 2)?;
    Some(Frame::Extension(Extension {
        name: "observed_address",
        value: Some(value),
        is_ack_eliciting: true,
        id: None,
    }))
}
