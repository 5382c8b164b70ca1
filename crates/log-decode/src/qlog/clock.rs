// SPDX-License-Identifier: Apache-2.0
//! The times of a trace in nanoseconds: absolute, relative or delta, with an epoch or without.

use super::header::{CommonFields, ReferenceTime};

const MS: f64 = 1e6;
/// An "absolute" time before September 2001 is no date: the log counts from a start of its own.
const EARLIEST_DATE_MS: f64 = 1e12;

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
    /// Added to every time; `None` where the log has no epoch.
    epoch_ns: Option<i64>,
    previous_ns: i64,
    started: bool,
}

impl Clock {
    /// `realtime_minus_monotonic_ns` maps `CLOCK_REALTIME` to `CLOCK_MONOTONIC`.
    pub(super) fn new(fields: &CommonFields, realtime_minus_monotonic_ns: Option<i64>) -> Self {
        let reference_ns = match &fields.reference_time {
            Some(ReferenceTime::Milliseconds(ms)) if *ms >= EARLIEST_DATE_MS => Some(to_ns(*ms)),
            Some(ReferenceTime::Clock {
                epoch,
                wall_clock_time,
            }) => wall_clock_time
                .as_deref()
                .or(epoch.as_deref())
                .and_then(rfc3339_ns),
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
        let epoch_ns =
            reference_ns.map(|ns| ns.saturating_sub(realtime_minus_monotonic_ns.unwrap_or(0)));
        Self {
            format,
            epoch_ns,
            previous_ns: 0,
            started: false,
        }
    }

    /// `time_ns` of an event at `time_ms`.
    pub(super) fn time_ns(&mut self, time_ms: f64) -> i64 {
        if !self.started {
            self.started = true;
            if self.format == Format::Absolute && time_ms < EARLIEST_DATE_MS {
                self.epoch_ns = None;
            }
        }
        let mut ns = to_ns(time_ms);
        if self.format == Format::Delta {
            ns = ns.saturating_add(self.previous_ns);
            self.previous_ns = ns;
        }
        ns.saturating_add(self.epoch_ns.unwrap_or(0))
    }

    /// Whether the times seen so far can be placed without joining packets.
    pub(super) fn has_epoch(&self) -> bool {
        self.epoch_ns.is_some()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is what a time out of range deserves"
)]
fn to_ns(ms: f64) -> i64 {
    (ms * MS).round() as i64
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
            "2024-01-01T00:00:00.ßZ",
        ] {
            assert_eq!(rfc3339_ns(bad), None, "{bad}");
        }
    }

    #[test]
    fn deltas_add_up() {
        let fields = CommonFields {
            time_format: Some("delta".into()),
            ..CommonFields::default()
        };
        let mut clock = Clock::new(&fields, None);
        assert_eq!(
            [1.5, 0.25, 0.0].map(|ms| clock.time_ns(ms)),
            [1_500_000, 1_750_000, 1_750_000]
        );
        assert!(!clock.has_epoch());
    }

    #[test]
    fn a_wall_clock_is_mapped_to_monotonic() {
        let reference = ReferenceTime::Clock {
            epoch: Some("unknown".into()),
            wall_clock_time: Some("1970-01-01T00:00:02Z".into()),
        };
        let fields = CommonFields {
            reference_time: Some(reference),
            ..CommonFields::default()
        };
        let mut clock = Clock::new(&fields, Some(500_000_000));
        assert_eq!(clock.time_ns(1.0), 1_501_000_000);
        assert!(clock.has_epoch());
    }

    #[test]
    fn an_absolute_time_that_is_no_date_has_no_epoch() {
        let mut clock = Clock::new(&CommonFields::default(), Some(7));
        assert_eq!((clock.time_ns(3.0), clock.has_epoch()), (3_000_000, false));
    }
}
