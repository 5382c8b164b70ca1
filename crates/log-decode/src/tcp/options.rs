// SPDX-License-Identifier: Apache-2.0
//! Options of a TCP header: RFC 9293 section 3.2, RFC 7323 (window scale, timestamps), RFC 2018 (SACK).

use crate::tls::Reader;

/// A header of 60 bytes has room for four.
const MAX_SACK_BLOCKS: usize = 4;

/// Options that are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpOptions {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// `TSval` and `TSecr`.
    pub(crate) timestamps: Option<(u32, u32)>,
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    block_count: usize,
}

impl TcpOptions {
    /// No options.
    pub(crate) const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        blocks: [(0, 0); MAX_SACK_BLOCKS],
        block_count: 0,
    };

    /// Read on until one is malformed.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        // Nearly every segment of a connection has timestamps and nothing else.
        if let &[1, 1, 8, 10, a, b, c, d, e, f, g, h] = bytes {
            options.timestamps = Some((
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            ));
            return options;
        }
        let _ = options.read(Reader::new(bytes));
        options
    }

    fn read(&mut self, mut bytes: Reader<'_>) -> Option<()> {
        loop {
            let kind = match bytes.u8()? {
                0 => return None,
                1 => continue,
                kind => kind,
            };
            let length = usize::from(bytes.u8()?).checked_sub(2)?;
            let mut value = Reader::new(bytes.bytes(length)?);
            match kind {
                2 => self.mss = value.u16(),
                // RFC 7323 section 2.3: more than 14 counts as 14.
                3 => self.window_scale = value.u8().map(|scale| scale.min(14)),
                4 => self.sack_permitted = true,
                5 => {
                    while let (Some(left), Some(right)) = (value.u32(), value.u32()) {
                        if let Some(block) = self.blocks.get_mut(self.block_count) {
                            *block = (left, right);
                            self.block_count += 1;
                        }
                    }
                }
                8 => self.timestamps = value.u32().zip(value.u32()),
                _ => {}
            }
        }
    }

    /// Left and right edges of the SACK blocks, in the order of the option (RFC 2018 section 3).
    pub(crate) fn sack(&self) -> &[(u32, u32)] {
        self.blocks.get(..self.block_count).unwrap_or_default()
    }
}
