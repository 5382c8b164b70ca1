// SPDX-License-Identifier: Apache-2.0
//! What the tests of this module share.

/// Bytes of a hexadecimal text; blanks are skipped.
pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| u8::try_from(char.to_digit(16).unwrap()).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}
