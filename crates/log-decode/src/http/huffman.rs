// SPDX-License-Identifier: Apache-2.0
//! The Huffman code of HPACK and QPACK (RFC 7541 Appendix B).

use super::cursor::FieldError;
use std::sync::LazyLock;

/// Bits of the code of every byte and of the end of the string. The code is canonical, so the lengths say all: codes
/// are given in the order of their lengths and, among equals, of their symbols.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const END_OF_STRING: u16 = 256;

/// Step that four more bits lead to.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Inner node of the code's tree.
    node: u8,
    symbol: Option<u8>,
    /// The bits are no code, or the end of the string, which must not be sent.
    wrong: bool,
}

/// The tree of the code: children of every inner node, walked one bit at a time.
#[derive(Clone, Copy)]
enum Child {
    None,
    Node(u8),
    Symbol(u16),
}

static STEPS: LazyLock<Vec<[Step; 16]>> = LazyLock::new(|| {
    let tree = tree();
    (0..tree.len())
        .map(|node| std::array::from_fn(|bits| walk(&tree, node, bits)))
        .collect()
});

fn tree() -> Vec<[Child; 2]> {
    let mut symbols: Vec<(u8, u16)> = LENGTHS.iter().copied().zip(0..).collect();
    symbols.sort_unstable();
    let mut tree = vec![[Child::None; 2]];
    let (mut code, mut length) = (0u32, 0u8);
    for (bits, symbol) in symbols {
        code <<= bits - length;
        length = bits;
        let mut at = 0;
        for bit in (1..bits).rev() {
            let side = (code >> bit & 1) as usize;
            at = if let Child::Node(node) = tree[at][side] {
                usize::from(node)
            } else {
                let node = tree.len();
                tree[at][side] =
                    Child::Node(u8::try_from(node).expect("257 symbols have 256 inner nodes"));
                tree.push([Child::None; 2]);
                node
            };
        }
        tree[at][(code & 1) as usize] = Child::Symbol(symbol);
        code += 1;
    }
    tree
}

fn walk(tree: &[[Child; 2]], from: usize, bits: usize) -> Step {
    let mut step = Step::default();
    let mut at = from;
    for bit in (0..4).rev() {
        match tree[at][bits >> bit & 1] {
            Child::Node(node) => at = usize::from(node),
            Child::Symbol(END_OF_STRING) | Child::None => {
                return Step {
                    wrong: true,
                    ..step
                }
            }
            Child::Symbol(symbol) => {
                // No code is shorter than five bits, so there is at most one.
                step.symbol = u8::try_from(symbol).ok();
                at = 0;
            }
        }
    }
    step.node = u8::try_from(at).unwrap_or_default();
    step
}

/// The bytes that `encoded` stands for; padding must be less than a byte of ones.
pub(super) fn decode(encoded: &[u8]) -> Result<Vec<u8>, FieldError> {
    let steps = &*STEPS;
    // No code is shorter than five bits.
    let mut decoded = Vec::with_capacity(encoded.len() / 5 * 8 + 8);
    let mut node = 0;
    for byte in encoded {
        for bits in [byte >> 4, byte & 0xf] {
            let step = steps
                .get(usize::from(node))
                .and_then(|row| row.get(usize::from(bits)))
                .filter(|step| !step.wrong)
                .ok_or(FieldError::Huffman)?;
            decoded.extend(step.symbol);
            node = step.node;
        }
    }
    if ENDS.get(usize::from(node)) == Some(&true) {
        Ok(decoded)
    } else {
        Err(FieldError::Huffman)
    }
}

/// Nodes at which a string may end: those that up to seven ones lead to from the root.
static ENDS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let tree = tree();
    let mut ends = vec![false; tree.len()];
    let mut at = 0;
    for _ in 0..8 {
        ends[at] = true;
        match tree[at][1] {
            Child::Node(node) => at = usize::from(node),
            _ => break,
        }
    }
    ends
});

#[cfg(test)]
mod tests {
    use super::{decode, tree, Child, FieldError};
    use crate::http::testing::hex;

    /// Strings of RFC 7541 Appendix C.4 and C.6.
    #[test]
    fn strings_of_the_rfc() {
        for (encoded, text) in [
            ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"),
            ("a8eb10649cbf", "no-cache"),
            ("25a849e95ba97d7f", "custom-key"),
            ("6402", "302"),
            ("d07abe941054d444a8200595040b8166e082a62d1bff", "Mon, 21 Oct 2013 20:13:21 GMT"),
            (
                "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ),
            ("", ""),
        ] {
            assert_eq!(decode(&hex(encoded)).unwrap(), text.as_bytes());
        }
    }

    /// Every inner node has two children: the code is complete, as RFC 7541 Appendix B's is.
    #[test]
    fn the_code_is_complete() {
        let tree = tree();
        assert_eq!(tree.len(), 256);
        assert!(tree
            .iter()
            .flatten()
            .all(|child| !matches!(child, Child::None)));
    }

    /// The end of the string, a byte of padding, and padding of zeros are refused.
    #[test]
    fn wrong_ends_are_refused() {
        for encoded in ["ffffffff", "a8eb10649cbfff", "00"] {
            assert_eq!(decode(&hex(encoded)), Err(FieldError::Huffman), "{encoded}");
        }
    }
}
