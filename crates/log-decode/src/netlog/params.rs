// SPDX-License-Identifier: Apache-2.0
//! Parameters of one event, taken apart only as far as they are asked for.

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::Deserialize;
use serde_json::value::RawValue;
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

/// Names and values as they are written.
#[derive(Debug, Default)]
pub(super) struct Params<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Params<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Params<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Params(members))
            }
        }

        /// Copied only if it is written with escapes.
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        deserializer.deserialize_map(Members)
    }
}

impl<'a> Params<'a> {
    /// The parameters that stand in `raw`; `None` if it is no object.
    pub(super) fn parse(raw: Option<&'a RawValue>) -> Option<Self> {
        raw.map_or(Some(Self::default()), |raw| {
            serde_json::from_str(raw.get()).ok()
        })
    }

    /// A value as it is written.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        let (_, raw) = self.0.iter().find(|(known, _)| known == name)?;
        Some(raw.get())
    }

    /// Names, and values as text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Cow<'a, str>)> + '_ {
        self.0
            .iter()
            .map(|(name, raw)| (name.as_ref(), as_text(raw.get())))
    }

    fn get<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.get(name).map(|Number(number)| number)
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
        self.get(name)
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<u64> {
        let numbers: Vec<Number> = self.get(name).unwrap_or_default();
        (numbers.into_iter())
            .filter_map(|Number(number)| u64::try_from(number).ok())
            .collect()
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
        #[derive(Deserialize)]
        struct Source {
            id: i64,
        }
        self.get("source_dependency").map(|Source { id }| id)
    }
}

/// A text without its quotes; anything else as it is written.
fn as_text(raw: &str) -> Cow<'_, str> {
    if let Ok(text) = serde_json::from_str::<&str>(raw) {
        return Cow::Borrowed(text);
    }
    serde_json::from_str::<String>(raw).map_or(Cow::Borrowed(raw), Cow::Owned)
}
