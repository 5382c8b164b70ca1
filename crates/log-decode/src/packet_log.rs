// SPDX-License-Identifier: Apache-2.0
//! The link's packet log, version 1: one 48-byte record for every packet that reached the link.

use crate::tables::{LinkPacket, LinkPackets, Tables};
use crate::{Clock, DecodeError, Input, Options, Severity, Source, Stats};
use link_core::DropReason;
use std::io::{ErrorKind, Read};

const FORMAT: &str = "packet log";
const MAGIC: &[u8; 8] = b"QLPKTLOG";
const HEADER_BYTES: usize = 64;
const RECORD_BYTES: usize = 48;
const OUTSIDE_MODEL: u32 = u32::MAX;

/// Decode a packet log.
///
/// # Errors
/// If the input cannot be read, or does not start with the header of version 1.
pub fn decode(
    input: &Input,
    _options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let mut input = input.open()?;
    let mut head = [0; HEADER_BYTES];
    if read_up_to(&mut input, &mut head)? < HEADER_BYTES || head[..8] != *MAGIC {
        return Err(DecodeError::foreign(FORMAT, "its header is missing"));
    }
    let (version, record_bytes) = (u32_at(&head, 8), u32_at(&head, 12));
    if version != 1 || record_bytes as usize != RECORD_BYTES {
        return Err(DecodeError::foreign(
            FORMAT,
            format!("version {version} with records of {record_bytes} bytes; only version 1 with {RECORD_BYTES} is known"),
        ));
    }
    let mut record = [0; RECORD_BYTES];
    loop {
        match read_up_to(&mut input, &mut record)? {
            RECORD_BYTES => push(&record, &mut tables.link_packets, &mut tables.stats),
            0 => break,
            _ => {
                tables.count(
                    "truncated_record",
                    Severity::DataLoss,
                    "the log was cut short: the link did not end in order",
                );
                break;
            }
        }
    }
    Ok(Source {
        dialect: "version 1".to_owned(),
        clock: Clock::Monotonic,
        resolution_ns: 1,
        realtime_minus_monotonic_ns: Some(i64_at(&head, 24)),
    })
}

fn push(record: &[u8; RECORD_BYTES], rows: &mut LinkPackets, stats: &mut Stats) {
    let direction = match record[40] {
        0 => "up",
        1 => "down",
        _ => return unknown_code(stats),
    };
    let action = match record[41] {
        0 => "delivered",
        1 => "dropped",
        2 => "outside_model",
        3 => "inside_at_end",
        _ => return unknown_code(stats),
    };
    let reason = match record[42] {
        0 => None,
        number => match reason_name(number) {
            None => return unknown_code(stats),
            known => known,
        },
    };
    let left = action == "delivered" || action == "outside_model";
    let index = u32_at(record, 24);
    let flag = |bit: u8| record[43] & bit != 0;
    rows.push(LinkPacket {
        direction,
        index: (index != OUTSIDE_MODEL).then_some(index),
        arrival_ns: i64_at(record, 0),
        due_ns: (action != "dropped").then(|| i64_at(record, 8)),
        lateness_ns: left.then(|| i32::from_le_bytes(bytes_at(record, 16))),
        size_bytes: u16_at(record, 36),
        queue_bytes: u32_at(record, 20),
        queue_packets: u16_at(record, 38),
        service_ns: u32_at(record, 44),
        flow: u32_at(record, 32),
        source_burst: u32_at(record, 28),
        action,
        reason,
        duplicate: flag(1),
        corrupted: flag(2),
        reordered: flag(4),
        ecn_ce: flag(8),
        oversized: flag(16),
    });
}

/// Number and name of a reason that links of earlier versions had.
const OUTAGE: (u8, &str) = (6, "outage");

/// The name of a reason why a packet was dropped.
fn reason_name(number: u8) -> Option<&'static str> {
    if number == OUTAGE.0 {
        return Some(OUTAGE.1);
    }
    let known = DropReason::ALL
        .iter()
        .find(|reason| reason.number() == number);
    known.map(|reason| reason.name())
}

fn unknown_code(stats: &mut Stats) {
    stats.count(
        "unknown_code",
        Severity::DataLoss,
        "a record has a direction, action or reason that version 1 does not define",
    );
}

/// Fill `buffer` as far as the input reaches.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn bytes_at<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&record[at..at + N]);
    bytes
}

fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(record, at))
}

fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(record, at))
}

fn i64_at(record: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes_at(record, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Finished;

    fn header() -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend(1u32.to_le_bytes());
        head.extend(48u32.to_le_bytes());
        head.extend(1_000u64.to_le_bytes());
        head.extend((-5i64).to_le_bytes());
        head.resize(HEADER_BYTES, 0);
        head
    }

    fn decoded(log: &[u8]) -> Result<(Source, Finished), DecodeError> {
        let mut tables = Tables::default();
        let source = decode(&Input::bytes(log), &Options::default(), &mut tables)?;
        Ok((source, tables.finish()))
    }

    #[test]
    fn header_fields_are_read() {
        let (source, tables) = decoded(&header()).unwrap();
        assert_eq!(source.realtime_minus_monotonic_ns, Some(-5));
        assert_eq!(tables.rows("link_packets"), 0);
    }

    #[test]
    fn a_cut_record_is_counted_and_the_rest_kept() {
        let mut log = header();
        log.extend([0; RECORD_BYTES + 20]);
        let (_, tables) = decoded(&log).unwrap();
        assert_eq!(tables.rows("link_packets"), 1);
        assert_eq!(tables.stats.get("truncated_record"), 1);
    }

    #[test]
    fn every_reason_of_version_1_is_known() {
        let mut log = header();
        let numbers = DropReason::ALL.iter().map(|reason| reason.number());
        for reason in numbers.chain([OUTAGE.0]) {
            let mut record = [0; RECORD_BYTES];
            (record[41], record[42]) = (1, reason);
            log.extend(record);
        }
        let (_, tables) = decoded(&log).unwrap();
        assert_eq!(tables.rows("link_packets"), DropReason::ALL.len() + 1);
        assert_eq!(tables.stats.get("unknown_code"), 0);
    }

    #[test]
    fn an_undefined_code_is_counted() {
        let mut log = header();
        let mut record = [0; RECORD_BYTES];
        record[41] = 9;
        log.extend(record);
        let (_, tables) = decoded(&log).unwrap();
        assert_eq!(tables.rows("link_packets"), 0);
        assert_eq!(tables.stats.get("unknown_code"), 1);
    }

    #[test]
    fn another_version_is_refused() {
        let mut log = header();
        log[8] = 2;
        assert!(matches!(decoded(&log), Err(DecodeError::Foreign { .. })));
    }
}
