// SPDX-License-Identifier: Apache-2.0
//! The times of a trace in nanoseconds: absolute, relative or delta, in milliseconds or microseconds, with an epoch or
//! without.

use super::event::TimeKind;
use super::header::TraceHeader;
use super::resolution::Resolution;
use crate::json::number;
use serde_json::Value;

/// An "absolute" time before September 2001 is no date: the log counts from a start of its own.
const EARLIEST_DATE_NS: i64 = 1_000_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Absolute,
    Relative,
    Delta,
}

/// Turns the times of one trace's events into `time_ns`.
#[derive(Debug)]
pub(super) struct Clock {
    format: Format,
    /// A unit of its times is ten to the power of this in nanoseconds.
    exponent: u32,
    /// Added to every time; `None` where the log has no epoch.
    epoch_ns: Option<i64>,
    realtime_minus_monotonic_ns: i64,
    offset_ns: i64,
    previous_ns: i64,
    deltas: u64,
    latest_ns: Option<i64>,
    /// Steps backwards so far.
    pub(super) backwards: u64,
    resolution: Resolution,
}

impl Clock {
    /// `realtime_minus_monotonic_ns` maps `CLOCK_REALTIME` to `CLOCK_MONOTONIC`.
    pub(super) fn new(trace: &TraceHeader, realtime_minus_monotonic_ns: Option<i64>) -> Self {
        let fields = &trace.common_fields;
        let exponent = time_exponent(trace);
        let scaled = |text: &str| number::scaled(text.as_bytes(), exponent).map(|(ns, _)| ns);
        let is_date = |ns: &i64| *ns >= EARLIEST_DATE_NS;
        let reference_ns = match &fields.reference_time {
            Some(Value::Number(number)) => scaled(&number.to_string()).filter(is_date),
            Some(Value::String(text)) => scaled(text).filter(is_date).or_else(|| rfc3339_ns(text)),
            Some(Value::Object(members)) => {
                let text = |key: &str| members.get(key).and_then(Value::as_str);
                ["wall_clock_time", "epoch"]
                    .iter()
                    .find_map(|key| rfc3339_ns(text(key)?))
            }
            _ => None,
        };
        let format = match fields.time_format.as_deref() {
            Some("absolute") => Format::Absolute,
            Some("delta" | "relative_to_previous_event") => Format::Delta,
            Some(_) => Format::Relative,
            // 0.3 writes dates unless it says otherwise; with a reference, times are relative to it.
            None if fields.reference_time.is_some() => Format::Relative,
            None => Format::Absolute,
        };
        let reference_ns = if format == Format::Absolute {
            Some(0)
        } else {
            reference_ns
        };
        let offset = trace.configuration.time_offset.as_deref();
        let realtime_minus_monotonic_ns = realtime_minus_monotonic_ns.unwrap_or(0);
        Self {
            format,
            exponent,
            epoch_ns: reference_ns.map(|ns| ns.saturating_sub(realtime_minus_monotonic_ns)),
            realtime_minus_monotonic_ns,
            offset_ns: offset.and_then(scaled).unwrap_or(0),
            previous_ns: 0,
            deltas: 0,
            latest_ns: None,
            backwards: 0,
            resolution: Resolution::default(),
        }
    }

    /// `time_ns` of an event whose time is written as `text`; `None` if that is no number.
    pub(super) fn time_ns(&mut self, kind: TimeKind, text: &[u8]) -> Option<i64> {
        let (mut ns, decimals) = number::scaled(text, self.exponent)?;
        self.resolution.add(ns, decimals, self.exponent);
        let format = match kind {
            TimeKind::AsTheTraceSays => self.format,
            TimeKind::Relative => Format::Relative,
            TimeKind::Delta => Format::Delta,
        };
        if self.latest_ns.is_none() && format == Format::Absolute && ns < EARLIEST_DATE_NS {
            self.epoch_ns = None;
        }
        // OpenSSL's first delta is the date at which the log begins.
        if self.latest_ns.is_none() && format == Format::Delta && ns >= EARLIEST_DATE_NS {
            self.epoch_ns = Some(-self.realtime_minus_monotonic_ns);
        }
        if format == Format::Delta {
            ns = ns.saturating_add(self.previous_ns);
            self.deltas += 1;
        }
        self.previous_ns = ns;
        let ns = ns
            .saturating_add(self.offset_ns)
            .saturating_add(self.epoch_ns.unwrap_or(0));
        let latest_ns = *self.latest_ns.get_or_insert(ns);
        self.backwards += u64::from(ns < latest_ns);
        self.latest_ns = Some(ns.max(latest_ns));
        Some(ns)
    }

    /// Error that a time may have: what each delta lost when it was rounded adds up.
    pub(super) fn step_ns(&self) -> u64 {
        self.resolution.step_ns().saturating_mul(self.deltas.max(1))
    }

    /// The time of an event that has none: that of the one before.
    pub(super) fn latest_ns(&self) -> i64 {
        self.latest_ns.unwrap_or(self.epoch_ns.unwrap_or(0))
    }

    /// True if the times seen so far can be placed without joining packets.
    pub(super) fn has_epoch(&self) -> bool {
        self.epoch_ns.is_some()
    }
}

/// A unit of a trace's times is ten to the power of this in nanoseconds; its round-trip times have the same.
pub(super) fn time_exponent(trace: &TraceHeader) -> u32 {
    let units = &trace.configuration.time_units;
    match units
        .as_deref()
        .or(trace.common_fields.time_units.as_deref())
    {
        Some("us" | "\u{b5}s") => 3,
        Some("ns") => 0,
        Some("s") => 9,
        _ => 6,
    }
}

/// Nanoseconds since 1970 of an RFC 3339 date and time.
fn rfc3339_ns(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) {
        return None;
    }
    let rest = text.get(19..)?;
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(zone_at);
    let digits = fraction.strip_prefix('.').unwrap_or("0");
    let fraction_ns = format!("{digits:0<9}").get(..9)?.parse::<i64>().ok()?;
    let zone_s = match zone.as_bytes().first()? {
        sign @ (b'+' | b'-') => {
            let offset = zone.get(1..3)?.parse::<i64>().ok()? * 3600
                + zone.get(4..6)?.parse::<i64>().ok()? * 60;
            if *sign == b'-' {
                -offset
            } else {
                offset
            }
        }
        _ => 0,
    };
    // Days of the proleptic Gregorian calendar; years start in March, so that the leap day is a year's last.
    let years = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = years * 365 + years / 4 - years / 100 + years / 400 + day_of_year - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - zone_s;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(trace: &str, offset_ns: Option<i64>) -> Clock {
        Clock::new(&serde_json::from_str(trace).unwrap(), offset_ns)
    }

    fn times(clock: &mut Clock, texts: &[&str]) -> Vec<i64> {
        let time = |text: &&str| {
            clock
                .time_ns(TimeKind::AsTheTraceSays, text.as_bytes())
                .unwrap()
        };
        texts.iter().map(time).collect()
    }

    #[test]
    fn rfc3339_is_read_to_the_nanosecond() {
        assert_eq!(rfc3339_ns("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            rfc3339_ns("2024-02-29T12:30:15.123456789+02:00"),
            Some(1_709_202_615_123_456_789)
        );
        assert_eq!(rfc3339_ns("1969-12-31T23:59:59.5Z"), Some(-500_000_000));
        for bad in [
            "",
            "unknown",
            "2024-13-01T00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.\u{df}Z",
        ] {
            assert_eq!(rfc3339_ns(bad), None, "{bad}");
        }
    }

    #[test]
    fn deltas_add_up() {
        let mut clock = clock(r#"{"common_fields":{"time_format":"delta"}}"#, None);
        assert_eq!(
            times(&mut clock, &["1.5", "0.25", "0"]),
            [1_500_000, 1_750_000, 1_750_000]
        );
        assert!(!clock.has_epoch());
    }

    #[test]
    fn the_first_delta_may_be_a_date() {
        let mut clock = clock(r#"{"common_fields":{"time_format":"delta"}}"#, Some(5));
        assert_eq!(
            times(&mut clock, &["1700000000000", "2"]),
            [1_699_999_999_999_999_995, 1_700_000_000_001_999_995]
        );
        assert_eq!((clock.has_epoch(), clock.step_ns()), (true, 2_000_000));
    }

    #[test]
    fn an_event_may_say_that_its_own_time_is_a_delta() {
        let mut clock = clock(r#"{"common_fields":{"reference_time":0}}"#, None);
        assert_eq!(clock.time_ns(TimeKind::Delta, b"2"), Some(2_000_000));
        assert_eq!(clock.time_ns(TimeKind::Delta, b"3"), Some(5_000_000));
    }

    #[test]
    fn a_wall_clock_is_mapped_to_monotonic() {
        let fields = r#"{"common_fields":{"reference_time":{"epoch":"unknown","wall_clock_time":"1970-01-01T00:00:02Z"}}}"#;
        let mut clock = clock(fields, Some(500_000_000));
        assert_eq!(times(&mut clock, &["1.0"]), [1_501_000_000]);
        assert!(clock.has_epoch());
    }

    #[test]
    fn the_units_are_those_of_the_configuration_with_the_reference_and_the_offset() {
        let fields = r#"{"configuration":{"time_units":"us","time_offset":"5"},"common_fields":{"reference_time":"1700000000000000"}}"#;
        let mut clock = clock(fields, None);
        assert_eq!(times(&mut clock, &["7"]), [1_700_000_000_000_012_000]);
        assert!(clock.has_epoch());
    }

    #[test]
    fn an_absolute_time_that_is_no_date_has_no_epoch() {
        let mut clock = clock("{}", Some(7));
        assert_eq!(
            (times(&mut clock, &["3"]), clock.has_epoch()),
            (vec![3_000_000], false)
        );
    }

    #[test]
    fn steps_backwards_are_counted() {
        let mut clock = clock("{}", None);
        times(&mut clock, &["3", "2", "2.5", "4"]);
        assert_eq!(clock.backwards, 2);
    }
}
