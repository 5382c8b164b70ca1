// SPDX-License-Identifier: Apache-2.0
//! Transport parameters (RFC 9000 section 18) and those that extensions have registered with IANA.

use super::wire::{hex, varint, varint_vector, ConnectionId};
use crate::tls::Reader;
use serde_json::json;
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Endpoints send about fifteen.
const MAX_PARAMETERS: usize = 64;

/// Announcements of one end, as far as decoding rests on them.
#[derive(Debug, Default)]
pub(super) struct TransportParameters {
    pub(super) ack_delay_exponent: Option<u32>,
    pub(super) max_ack_delay_ms: Option<u64>,
    pub(super) initial_max_data: Option<u64>,
    pub(super) initial_max_streams_bidi: Option<u64>,
    pub(super) initial_max_streams_uni: Option<u64>,
    pub(super) stateless_reset_token: Option<[u8; 16]>,
    /// The connection id of the preferred address.
    pub(super) preferred_id: Option<ConnectionId>,
    /// Parameters whose values are not what they must be; those behind one that is cut are not counted.
    pub(super) malformed: u64,
}

impl TransportParameters {
    /// Read all, and hand each to `each` by name, as text.
    pub(super) fn parse(bytes: &[u8], mut each: impl FnMut(&str, &str)) -> Self {
        let mut parameters = Self::default();
        let mut reader = Reader::new(bytes);
        for _ in 0..MAX_PARAMETERS {
            if reader.is_empty() {
                break;
            }
            let Some((id, value)) = varint(&mut reader).zip(varint_vector(&mut reader)) else {
                parameters.malformed += 1;
                break;
            };
            // What is reserved to exercise this (RFC 9000 section 18.1) says nothing.
            if id % 31 == 27 {
                continue;
            }
            let number = varint(&mut Reader::new(value));
            match id {
                0x02 => parameters.stateless_reset_token = value.try_into().ok(),
                0x04 => parameters.initial_max_data = number,
                0x08 => parameters.initial_max_streams_bidi = number,
                0x09 => parameters.initial_max_streams_uni = number,
                // Values above 20 are invalid (RFC 9000 section 18.2).
                0x0a => {
                    parameters.ack_delay_exponent = number
                        .and_then(|number| number.try_into().ok())
                        .filter(|&exponent| exponent <= 20);
                }
                0x0b => parameters.max_ack_delay_ms = number,
                0x0d => parameters.preferred_id = preferred_address(value).map(|(_, id)| id),
                _ => {}
            }
            match text(id, value, number) {
                Some(text) => each(&name(id), &text),
                None => parameters.malformed += 1,
            }
        }
        parameters
    }
}

fn name(id: u64) -> Cow<'static, str> {
    match id {
        0x00 => "original_destination_connection_id",
        0x01 => "max_idle_timeout",
        0x02 => "stateless_reset_token",
        0x03 => "max_udp_payload_size",
        0x04 => "initial_max_data",
        0x05 => "initial_max_stream_data_bidi_local",
        0x06 => "initial_max_stream_data_bidi_remote",
        0x07 => "initial_max_stream_data_uni",
        0x08 => "initial_max_streams_bidi",
        0x09 => "initial_max_streams_uni",
        0x0a => "ack_delay_exponent",
        0x0b => "max_ack_delay",
        0x0c => "disable_active_migration",
        0x0d => "preferred_address",
        0x0e => "active_connection_id_limit",
        0x0f => "initial_source_connection_id",
        0x10 => "retry_source_connection_id",
        0x11 => "version_information",
        0x20 => "max_datagram_frame_size",
        0x173e => "discard",
        0x2ab2 => "grease_quic_bit",
        0x3127 => "initial_rtt",
        0x3128 => "google_connection_options",
        0x4752 => "google_version",
        0xff04_de1a | 0xff04_de1b => "min_ack_delay",
        other => return format!("0x{other:x}").into(),
    }
    .into()
}

/// The value as what it is; `None` where it is no such thing.
fn text(id: u64, value: &[u8], number: Option<u64>) -> Option<String> {
    Some(match id {
        0x01 | 0x03..=0x0b | 0x0e | 0x20 | 0x3127 | 0xff04_de1a | 0xff04_de1b => {
            number?.to_string()
        }
        0x0c | 0x2ab2 => "true".to_owned(),
        0x11 => {
            let versions: Vec<_> = value.chunks(4).map(hex).collect();
            json!(versions).to_string()
        }
        0x0d => preferred_address(value)?.0,
        _ => hex(value),
    })
}

/// Both addresses as text, and the connection id to use there.
fn preferred_address(value: &[u8]) -> Option<(String, ConnectionId)> {
    let mut reader = Reader::new(value);
    let v4 = Ipv4Addr::from(<[u8; 4]>::try_from(reader.bytes(4)?).ok()?);
    let v4_port = reader.u16()?;
    let v6 = Ipv6Addr::from(<[u8; 16]>::try_from(reader.bytes(16)?).ok()?);
    let v6_port = reader.u16()?;
    let id = ConnectionId::new(reader.vector(1)?.rest())?;
    Some((format!("{v4}:{v4_port} [{v6}]:{v6_port}"), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(bytes: &[u8]) -> (TransportParameters, Vec<String>) {
        let mut all = Vec::new();
        let parameters =
            TransportParameters::parse(bytes, |name, value| all.push(format!("{name}={value}")));
        (parameters, all)
    }

    #[test]
    fn parameters_are_named_and_written_as_what_they_are() {
        let bytes = [
            &[0x01, 2, 0x67, 0x10][..],
            &[0x0a, 1, 5],
            &[0x0c, 0],
            &[0x0f, 2, 0xab, 0xcd],
            &[0x1b, 1, 9],
            &[0x11, 8, 0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf],
            &[0x33, 1, 7],
        ];
        let (parameters, all) = named(&bytes.concat());
        assert_eq!(parameters.ack_delay_exponent, Some(5));
        let expected = [
            "max_idle_timeout=10000",
            "ack_delay_exponent=5",
            "disable_active_migration=true",
            "initial_source_connection_id=abcd",
            r#"version_information=["00000001","6b3343cf"]"#,
            "0x33=07",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn what_is_cut_malformed_or_beyond_its_range_is_left_out() {
        for bytes in [
            &[0x04, 4, 1][..],
            &[0x04, 0],
            &[0x04, 1, 0x40],
            &[0x0d, 1, 9],
        ] {
            let (parameters, all) = named(bytes);
            assert_eq!((parameters.malformed, all), (1, vec![]));
        }
        assert_eq!(named(&[0x0a, 1, 21]).0.ack_delay_exponent, None);
    }
}
