// SPDX-License-Identifier: Apache-2.0
//! Parameters of one event, taken apart only as far as they are asked for.

use super::event::source_id;
use crate::json::{Reader, Span};
use serde::de::{Deserializer, Error, Visitor};
use serde::Deserialize;
use std::borrow::Cow;

/// A number, which Chromium writes as text where a double could not hold it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Number(pub i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Number;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a number, or one as text")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                i64::try_from(value).map(Number).map_err(E::custom)
            }

            #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value as i64))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Number, E> {
                value.parse().map(Number).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// The value of an integer as it is written.
#[inline]
pub(super) fn whole(raw: &[u8]) -> Option<i64> {
    plain(raw).or_else(|| serde_json::from_slice(raw).ok())
}

/// The value of a number as it is written, in digits or as text.
#[inline]
pub(super) fn number(raw: &[u8]) -> Option<i64> {
    let text = raw
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    plain(text.unwrap_or(raw)).or_else(|| {
        let Number(number) = serde_json::from_slice(raw).ok()?;
        Some(number)
    })
}

pub(super) fn flag(raw: &[u8]) -> Option<bool> {
    match raw {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Digits that cannot overflow; `None` for all that must be looked at more closely.
#[inline]
pub(super) fn plain(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 18 || digits.len() > 1 && digits[0] == b'0' {
        return None;
    }
    let mut value = 0_i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if digits.len() < text.len() {
        -value
    } else {
        value
    })
}

/// Places of the names (without their quotes) and values of one event.
pub(super) type Members = Vec<(Span, Span)>;

/// Names and values as they are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Params<'a> {
    text: &'a [u8],
    members: &'a [(Span, Span)],
}

impl<'a> Params<'a> {
    /// The parameters that stand in the text of an event.
    pub(super) fn new(text: &'a [u8], members: &'a [(Span, Span)]) -> Self {
        Self { text, members }
    }

    /// Names, and values as they are written.
    #[inline]
    pub(super) fn members(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let text = self.text;
        (self.members.iter()).map(move |(name, value)| (name.of(text), value.of(text)))
    }

    #[inline]
    fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        let mut members = self.members();
        members.find_map(|(known, value)| (known == name.as_bytes()).then_some(value))
    }

    /// A value as it is written.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.bytes(name).map(as_str)
    }

    /// Names, and values as text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        (self.members()).map(|(name, raw)| (as_str(name), as_text(as_str(raw))))
    }

    fn get<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        number(self.bytes(name)?)
    }

    pub(super) fn unsigned(&self, name: &str) -> Option<u64> {
        self.number(name)
            .and_then(|number| u64::try_from(number).ok())
    }

    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name)?;
        raw.starts_with('"').then(|| as_text(raw))
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.bytes(name).and_then(flag)
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<u64> {
        self.bytes(name).and_then(numbers).unwrap_or_default()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.get(name).unwrap_or_default()
    }

    /// A header field of a list of `name: value`.
    pub(super) fn header(&self, field: &str) -> Option<String> {
        (self.texts("headers").iter()).find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case(field)
                .then(|| value.trim().to_owned())
        })
    }

    /// All header fields, as in the column `detail` of `http_frames`.
    pub(super) fn header_fields(&self) -> String {
        let lines = self.texts("headers");
        let fields: Vec<(&str, &str)> = lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .collect();
        serde_json::json!({ "fields": fields }).to_string()
    }

    /// The source that this event refers to.
    pub(super) fn dependency(&self) -> Option<i64> {
        source_id(&mut Reader::new(self.bytes("source_dependency")?)).ok()?
    }
}

/// Numbers of an array that are not negative; `None` if it is not one of numbers.
fn numbers(raw: &[u8]) -> Option<Vec<u64>> {
    let mut reader = Reader::new(raw);
    let mut inside = reader.enter(b'[').ok()?;
    let mut numbers = Vec::new();
    while reader.next_item(&mut inside).ok()? {
        let number = number(reader.value().ok()?.of(raw))?;
        numbers.extend(u64::try_from(number));
    }
    Some(numbers)
}

/// Parameters that are not UTF-8 have been turned away.
fn as_str(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

/// A text without its quotes; anything else as it is written.
fn as_text(raw: &str) -> Cow<'_, str> {
    let text = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    if let Some(text) = text.filter(|text| !text.contains('\\')) {
        return Cow::Borrowed(text);
    }
    serde_json::from_str::<String>(raw).map_or(Cow::Borrowed(raw), Cow::Owned)
}
