// SPDX-License-Identifier: Apache-2.0
//! Numbers as JSON writes them, and as qlogs write them in texts: decimal, or hexadecimal behind `0x`.

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Integers below it are doubles.
const EXACT_INTEGERS: u64 = 1 << 53;

/// A decimal number without exponent, taken apart.
struct Decimal {
    negative: bool,
    /// The digits without the point.
    digits: u64,
    /// Number of them that stand behind the point.
    decimals: u32,
}

/// `None` if it is not plain, or has more digits than 64 bits hold.
#[inline]
fn plain(text: &[u8]) -> Option<Decimal> {
    let (negative, text) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let (mut digits, mut decimals, mut point, mut any) = (0_u64, 0_u32, false, false);
    for &byte in text {
        match byte {
            b'0'..=b'9' => {
                digits = digits
                    .checked_mul(10)?
                    .checked_add(u64::from(byte - b'0'))?;
                decimals += u32::from(point);
                any = true;
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    any.then_some(Decimal {
        negative,
        digits,
        decimals,
    })
}

/// The double next to it.
pub(crate) fn float(text: &[u8]) -> Option<f64> {
    if let Some(decimal) = plain(text) {
        let power = EXACT_POWERS.get(decimal.decimals as usize);
        if let (Some(power), true) = (power, decimal.digits < EXACT_INTEGERS) {
            // Both are exact, so the one division rounds correctly.
            #[expect(clippy::cast_precision_loss, reason = "it is below 2^53")]
            let value = decimal.digits as f64 / power;
            return Some(if decimal.negative { -value } else { value });
        }
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// A number that is not negative; what stands behind the point is dropped.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    if let Some(decimal) = plain(text) {
        if decimal.negative && decimal.digits != 0 {
            return None;
        }
        return Some(match decimal.decimals {
            0 => decimal.digits,
            decimals => decimal.digits / 10_u64.checked_pow(decimals)?,
        });
    }
    let text = std::str::from_utf8(text).ok()?;
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).ok();
    }
    let value: f64 = text.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its range is checked"
    )]
    (0.0..1.8e19).contains(&value).then_some(value as u64)
}

/// The integer next to it times ten to the power of `exponent`, and how many decimals it was written with.
///
/// It is exact: 1795309154274.6506 ms are that many nanoseconds, and not those of the double next to it.
pub(crate) fn scaled(text: &[u8], exponent: u32) -> Option<(i64, u32)> {
    let Some(decimal) = plain(text) else {
        let value = float(text)? * EXACT_POWERS.get(exponent as usize)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "`as` saturates, which is what a time out of range deserves"
        )]
        return Some((value.round() as i64, 17));
    };
    let size = if decimal.decimals <= exponent {
        let power = 10_u64.checked_pow(exponent - decimal.decimals)?;
        decimal.digits.saturating_mul(power)
    } else {
        let power = 10_u64.checked_pow(decimal.decimals - exponent)?;
        decimal.digits.saturating_add(power / 2) / power
    };
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let value = if decimal.negative { -size } else { size };
    Some((value, decimal.decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0.0",
            "1.5",
            "0.1",
            "333.33333333333331",
            "1795309154274.6506",
            "1e-7",
            "2.5E3",
            "123456789012345678901234567890.5",
            "9007199254740993",
            "18446744073709551615",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(
                float(text.as_bytes()).map(f64::to_bits),
                Some(expected.to_bits()),
                "{text}"
            );
        }
        for text in ["", "-", ".", "1.2.3", "NaN", "inf", "1e999", "abc"] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn negative_is_no_unsigned_number() {
        let values = [
            "7",
            "7.9",
            "0x1f",
            "18446744073709551615",
            "1e3",
            "-0",
            "-1",
            "18446744073709551616",
        ]
        .map(|text| unsigned(text.as_bytes()));
        let max = Some(u64::MAX);
        assert_eq!(
            values,
            [
                Some(7),
                Some(7),
                Some(31),
                max,
                Some(1000),
                Some(0),
                None,
                None
            ]
        );
    }

    #[test]
    fn times_are_exact() {
        let scale = |text: &str| scaled(text.as_bytes(), 6).map(|(value, _)| value);
        assert_eq!(scale("1795309154274.6506"), Some(1_795_309_154_274_650_600));
        assert_eq!(scale("0.0000005"), Some(1));
        assert_eq!(scale("-2.5"), Some(-2_500_000));
        assert_eq!(scale("1e3"), Some(1_000_000_000));
        assert_eq!(scale("99999999999999999999"), Some(i64::MAX));
        assert_eq!(scale("soon"), None);
    }
}
