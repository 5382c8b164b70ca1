// SPDX-License-Identifier: Apache-2.0
//! Instants of ISO 8601 as HAR uses it: `2009-07-24T19:20:30.45+01:00`.

const NS_PER_S: i64 = 1_000_000_000;

/// Nanoseconds of the Unix epoch; `None` if `text` is no instant, or lies beyond what they can count.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (
        number(date.next()?, 4)?,
        number(date.next()?, 2)?,
        number(date.next()?, 2)?,
    );
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let mut clock = clock.splitn(3, ':');
    let (hour, minute) = (number(clock.next()?, 2)?, number(clock.next()?, 2)?);
    let (second, fraction) = clock.next().map_or(Some((0, 0)), seconds)?;
    let is_possible = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 25
        && minute < 60
        && second < 61;
    if !is_possible {
        return None;
    }
    let s = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset_s(zone)?;
    s.checked_mul(NS_PER_S)?.checked_add(fraction)
}

fn number(text: &str, most_digits: usize) -> Option<i64> {
    let is_number = !text.is_empty()
        && text.len() <= most_digits
        && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Whole seconds, and nanoseconds.
fn seconds(text: &str) -> Option<(i64, i64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    Some((number(whole, 2)?, number(&digits, 9)?))
}

/// Seconds by which local time is ahead of UTC.
fn offset_s(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next() {
        None | Some('Z' | 'z') => return Some(0),
        Some('-') => -1,
        Some(_) => 1,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let hours = number(digits.get(..2)?, 2)?;
    let minutes = digits
        .get(2..4)
        .map_or(Some(0), |minutes| number(minutes, 2))?;
    Some(sign * (hours * 3600 + minutes * 60))
}

/// Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn instants_are_placed_whatever_their_zone() {
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            parse("2009-07-24T19:20:30.45+01:00"),
            Some(1_248_459_630_450_000_000)
        );
        assert_eq!(
            parse("2024-02-29T23:59:59.123456-0830"),
            Some(1_709_281_799_123_456_000)
        );
        for none in [
            "",
            "2009-07-24",
            "2009-13-24T00:00Z",
            "2009-07-24T99:00:00Z",
            "9999-12-31T00:00:00Z",
            "٢009-07-24T00:00Z",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
