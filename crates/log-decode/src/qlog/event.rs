// SPDX-License-Identifier: Apache-2.0
//! One event in one pass: where its name comes before its data, as in JSON-SEQ, the data is read as what it is at once.

use super::data::{MetricsData, PacketData};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Events whose members go to the table `handshake`.
const HANDSHAKE_EVENTS: [&str; 6] = [
    "version_information",
    "alpn_information",
    "parameters_set",
    "parameters_restored",
    "connection_started",
    "connection_closed",
];

/// An event with as much of its data as becomes rows.
pub(super) struct Event<'a> {
    pub time: f64,
    pub name: Cow<'a, str>,
    pub data: Data<'a>,
    pub group_id: Option<Cow<'a, str>>,
}

pub(super) enum Data<'a> {
    Packet(&'static str, PacketData<'a>),
    Metrics(MetricsData),
    Handshake(BTreeMap<Cow<'a, str>, &'a RawValue>),
    WithoutTable,
}

/// The name without its namespace.
pub(super) fn short_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Kind {
    Packet(&'static str),
    Metrics,
    Handshake,
    WithoutTable,
}

impl Kind {
    fn of(name: &str) -> Self {
        match short_name(name) {
            "packet_sent" => Self::Packet("sent"),
            "packet_received" => Self::Packet("received"),
            "packet_lost" => Self::Packet("lost"),
            "packet_dropped" => Self::Packet("dropped"),
            "metrics_updated" | "recovery_metrics_updated" => Self::Metrics,
            name if HANDSHAKE_EVENTS.contains(&name) => Self::Handshake,
            _ => Self::WithoutTable,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Kind {
    type Value = Data<'de>;

    fn deserialize<D: Deserializer<'de>>(self, data: D) -> Result<Data<'de>, D::Error> {
        Ok(match self {
            Self::Packet(event) => Data::Packet(event, PacketData::deserialize(data)?),
            Self::Metrics => Data::Metrics(MetricsData::deserialize(data)?),
            Self::Handshake => Data::Handshake(BTreeMap::deserialize(data)?),
            Self::WithoutTable => {
                IgnoredAny::deserialize(data)?;
                Data::WithoutTable
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Member {
    Time,
    Name,
    Data,
    GroupId,
    #[serde(other)]
    Other,
}

/// Text that is copied only if it is written with escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Event<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Event<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a qlog event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Event<'de>, A::Error> {
                let (mut time, mut name, mut data, mut later, mut group_id) =
                    (None, None, None, None, None);
                while let Some(member) = members.next_key()? {
                    match (member, &name) {
                        (Member::Time, _) => time = Some(members.next_value()?),
                        (Member::Name, _) => name = Some(members.next_value::<Text<'de>>()?.0),
                        (Member::Data, Some(name)) => {
                            data = Some(members.next_value_seed(Kind::of(name))?);
                        }
                        (Member::Data, None) => later = Some(members.next_value::<&RawValue>()?),
                        (Member::GroupId, _) => {
                            group_id = Some(members.next_value::<Text<'de>>()?.0);
                        }
                        (Member::Other, _) => drop(members.next_value::<IgnoredAny>()?),
                    }
                }
                let name = name.ok_or_else(|| Error::missing_field("name"))?;
                let data = match (data, later) {
                    (Some(data), _) => data,
                    (None, Some(raw)) => Kind::of(&name).deserialize(raw).map_err(Error::custom)?,
                    (None, None) => Data::WithoutTable,
                };
                Ok(Event {
                    time: time.ok_or_else(|| Error::missing_field("time"))?,
                    name,
                    data,
                    group_id,
                })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// What an event that cannot be read still tells the clock.
#[derive(Deserialize)]
pub(super) struct Time {
    pub time: f64,
}
