// SPDX-License-Identifier: Apache-2.0
//! Reading of frames.

use super::super::ack::Ack;
use super::super::wire::{varint, varint_vector, ConnectionId};
use super::{extension, Frame, Stop};
use crate::tls::Reader;

/// Take the next frame off `reader`, which is not empty.
pub(in crate::quic) fn next<'a>(reader: &mut Reader<'a>) -> Result<Frame<'a>, Stop> {
    let kind = varint(reader).ok_or(Stop::Malformed)?;
    match kind {
        0 => Ok(padding(reader)),
        0x01..=0x1f | 0x24 | 0x30 | 0x31 | 0xac | 0xaf => body(kind, reader).ok_or(Stop::Malformed),
        _ => extension::next(kind, reader),
    }
}

fn padding<'a>(reader: &mut Reader<'a>) -> Frame<'a> {
    let rest = reader.rest();
    let zeros = rest
        .iter()
        .position(|&byte| byte != 0)
        .unwrap_or(rest.len());
    reader.bytes(zeros);
    Frame::Padding {
        length: zeros as u64 + 1,
    }
}

fn body<'a>(kind: u64, r: &mut Reader<'a>) -> Option<Frame<'a>> {
    Some(match kind {
        0x01 => Frame::Ping,
        0x02 | 0x03 => Frame::Ack(Ack::parse(r, kind == 0x03)?),
        0x04 | 0x24 => Frame::ResetStream {
            id: varint(r)?,
            error_code: varint(r)?,
            final_size: varint(r)?,
            reliable_size: if kind == 0x24 { Some(varint(r)?) } else { None },
        },
        0x05 => Frame::StopSending {
            id: varint(r)?,
            error_code: varint(r)?,
        },
        0x06 => Frame::Crypto {
            offset: varint(r)?,
            data: varint_vector(r)?,
        },
        0x07 => Frame::NewToken {
            length: varint_vector(r)?.len() as u64,
        },
        0x08..=0x0f => Frame::Stream {
            id: varint(r)?,
            offset: if kind & 4 != 0 { varint(r)? } else { 0 },
            fin: kind & 1 != 0,
            data: if kind & 2 != 0 {
                varint_vector(r)?
            } else {
                to_the_end(r)
            },
        },
        0x10 => Frame::MaxData(varint(r)?),
        0x11 => Frame::MaxStreamData {
            id: varint(r)?,
            limit: varint(r)?,
        },
        0x12 | 0x13 => Frame::MaxStreams {
            bidirectional: kind == 0x12,
            limit: varint(r)?,
        },
        0x14 => Frame::DataBlocked(varint(r)?),
        0x15 => Frame::StreamDataBlocked {
            id: varint(r)?,
            limit: varint(r)?,
        },
        0x16 | 0x17 => Frame::StreamsBlocked {
            bidirectional: kind == 0x16,
            limit: varint(r)?,
        },
        0x18 => {
            let (sequence, retire_prior_to) = (varint(r)?, varint(r)?);
            Frame::NewConnectionId {
                sequence,
                retire_prior_to,
                id: ConnectionId::new(r.vector(1)?.rest())?,
                reset_token: r.bytes(16)?.try_into().ok()?,
            }
        }
        0x19 => Frame::RetireConnectionId(varint(r)?),
        0x1a | 0x1b => {
            let data = r.bytes(8)?.try_into().ok()?;
            if kind == 0x1a {
                Frame::PathChallenge(data)
            } else {
                Frame::PathResponse(data)
            }
        }
        0x1c | 0x1d => {
            let error_code = varint(r)?;
            if kind == 0x1c {
                varint(r)?;
            }
            Frame::ConnectionClose {
                application: kind == 0x1d,
                error_code,
                reason: varint_vector(r)?,
            }
        }
        0x1e => Frame::HandshakeDone,
        // 0x1f since draft 08, a number for experiments before.
        0x1f | 0xac => Frame::ImmediateAck,
        0x30 => Frame::Datagram {
            length: to_the_end(r).len() as u64,
        },
        0x31 => Frame::Datagram {
            length: varint_vector(r)?.len() as u64,
        },
        0xaf => {
            let sequence = varint(r)?;
            for _ in 0..3 {
                varint(r)?;
            }
            Frame::AckFrequency { sequence }
        }
        _ => return None,
    })
}

fn to_the_end<'a>(reader: &mut Reader<'a>) -> &'a [u8] {
    let rest = reader.rest();
    reader.bytes(rest.len());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(payload: &[u8]) -> Result<Vec<&'static str>, Stop> {
        let mut reader = Reader::new(payload);
        let mut names = Vec::new();
        while !reader.is_empty() {
            names.push(next(&mut reader)?.name());
        }
        Ok(names)
    }

    /// Every type once, so that each takes exactly its own bytes off.
    const ALL: &[(&[u8], &str)] = &[
        (&[0, 0, 0], "padding"),
        (&[1], "ping"),
        (&[2, 9, 1, 1, 2, 1, 0], "ack"),
        (&[3, 9, 1, 0, 2, 7, 8, 9], "ack"),
        (&[4, 1, 2, 3], "reset_stream"),
        (&[0x24, 1, 2, 3, 3], "reset_stream_at"),
        (&[5, 1, 2], "stop_sending"),
        (&[6, 0, 2, 8, 8], "crypto"),
        (&[7, 1, 8], "new_token"),
        (&[0x0f, 4, 1, 2, 8, 8], "stream"),
        (&[0x0a, 4, 1, 8], "stream"),
        (&[0x10, 1], "max_data"),
        (&[0x11, 1, 2], "max_stream_data"),
        (&[0x12, 1], "max_streams"),
        (&[0x13, 1], "max_streams"),
        (&[0x14, 1], "data_blocked"),
        (&[0x15, 1, 2], "stream_data_blocked"),
        (&[0x16, 1], "streams_blocked"),
        (
            &[
                0x18, 1, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
            "new_connection_id",
        ),
        (&[0x19, 1], "retire_connection_id"),
        (&[0x1a, 0, 0, 0, 0, 0, 0, 0, 0], "path_challenge"),
        (&[0x1b, 0, 0, 0, 0, 0, 0, 0, 0], "path_response"),
        (&[0x1c, 1, 6, 1, b'x'], "connection_close"),
        (&[0x1d, 1, 1, b'x'], "connection_close"),
        (&[0x1e], "handshake_done"),
        (&[0x1f], "immediate_ack"),
        (&[0x31, 1, 8], "datagram"),
        (&[0x40, 0xaf, 1, 2, 3, 4], "ack_frequency"),
        (&[0x42, 0xf5, 0x44, 0], "time_stamp"),
        (&[0x3e, 0, 9, 1, 1, 2, 1, 0], "path_ack"),
        (&[0x95, 0x22, 0x8c, 1, 1, 9, 1, 0, 2, 7, 8, 9], "path_ack"),
        (&[0x7e, 0x75, 1, 0], "path_abandon"),
        (&[0x95, 0x22, 0x8c, 6, 1, 2, 3], "path_status"),
        (&[0x95, 0x22, 0x8c, 7, 1, 2], "path_status_backup"),
        (&[0x7e, 0x77, 1, 2], "path_status_available"),
        (
            &[
                0x7e, 0x78, 1, 1, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
            "path_new_connection_id",
        ),
        (&[0x7e, 0x79, 1, 2], "path_retire_connection_id"),
        (&[0x95, 0x22, 0x8c, 0x0b, 4], "max_paths"),
        (&[0x7e, 0x7a, 4], "max_path_id"),
        (&[0x7e, 0x7b, 4], "paths_blocked"),
        (&[0x7e, 0x7c, 4, 0], "path_cids_blocked"),
        (
            &[0x80, 0x9f, 0x81, 0xa6, 1, 10, 0, 0, 1, 0, 80],
            "observed_address",
        ),
        (&[0x0c, 4, 1, 8, 8, 8], "stream"),
    ];

    #[test]
    fn every_type_takes_its_own_bytes() {
        let payload: Vec<u8> = ALL
            .iter()
            .flat_map(|(bytes, _)| bytes.iter().copied())
            .collect();
        let expected: Vec<_> = ALL.iter().map(|(_, name)| *name).collect();
        assert_eq!(names(&payload).unwrap(), expected);
    }

    #[test]
    fn a_cut_frame_is_malformed() {
        for (bytes, name) in ALL
            .iter()
            .filter(|(bytes, _)| bytes[0] != 0 && bytes[0] != 0x0c)
        {
            for cut in 1..bytes.len() {
                assert_eq!(
                    names(&bytes[..cut]),
                    Err(Stop::Malformed),
                    "{name} cut to {cut}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_type_ends_the_reading() {
        assert_eq!(names(&[1, 0x20, 1]), Err(Stop::Unknown(0x20)));
    }
}
