// SPDX-License-Identifier: Apache-2.0
//! ACK frames (RFC 9000 section 19.3).

use super::wire::varint;
use crate::tls::Reader;

/// An ACK frame whose ranges have been checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    pub(super) largest: u64,
    /// The delay in units of the sender's `ack_delay_exponent`.
    pub(super) delay: u64,
    pub(super) ecn: Option<EcnCounts>,
    first_range: u64,
    ranges: Reader<'a>,
    count: u64,
}

/// Number of packets that came with each codepoint, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EcnCounts {
    pub(super) ect0: u64,
    pub(super) ect1: u64,
    pub(super) ce: u64,
}

impl<'a> Ack<'a> {
    pub(super) fn parse(reader: &mut Reader<'a>, with_ecn: bool) -> Option<Self> {
        let (largest, delay) = (varint(reader)?, varint(reader)?);
        let (count, first_range) = (varint(reader)?, varint(reader)?);
        let ranges = *reader;
        let mut smallest = largest.checked_sub(first_range)?;
        for _ in 0..count {
            (_, smallest) = next_range(smallest, reader)?;
        }
        let ecn = if with_ecn {
            Some(EcnCounts {
                ect0: varint(reader)?,
                ect1: varint(reader)?,
                ce: varint(reader)?,
            })
        } else {
            None
        };
        Some(Self {
            largest,
            delay,
            ecn,
            first_range,
            ranges,
            count,
        })
    }

    /// First and last packet number of each range, the highest range first.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let (mut reader, mut left) = (self.ranges, self.count);
        let mut range = Some((self.largest, self.largest.saturating_sub(self.first_range)));
        std::iter::from_fn(move || {
            let (last, first) = range.take()?;
            if left > 0 {
                left -= 1;
                range = next_range(first, &mut reader);
            }
            Some((first, last))
        })
    }
}

/// Last and first packet number of the range below one that starts at `smallest`.
fn next_range(smallest: u64, reader: &mut Reader<'_>) -> Option<(u64, u64)> {
    let last = smallest.checked_sub(varint(reader)?)?.checked_sub(2)?;
    let first = last.checked_sub(varint(reader)?)?;
    Some((last, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_down() {
        let mut reader = Reader::new(&[20, 3, 2, 1, 0, 2, 5, 4, 1, 2, 3]);
        let ack = Ack::parse(&mut reader, true).unwrap();
        assert_eq!(
            ack.ranges().collect::<Vec<_>>(),
            [(19, 20), (15, 17), (4, 8)]
        );
        let ecn = EcnCounts {
            ect0: 1,
            ect1: 2,
            ce: 3,
        };
        assert_eq!((ack.delay, ack.ecn), (3, Some(ecn)));
        assert!(reader.is_empty());
    }

    #[test]
    fn ranges_below_zero_are_refused() {
        for bytes in [&[1, 0, 0, 2][..], &[5, 0, 1, 0, 4, 0], &[5, 0, 1, 0, 0, 4]] {
            assert!(Ack::parse(&mut Reader::new(bytes), false).is_none());
        }
    }
}
