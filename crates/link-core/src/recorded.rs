// SPDX-License-Identifier: Apache-2.0
//! Delays and losses as somebody recorded them: lines of text.

use crate::random::Chance;
use crate::timeline::Timeline;
use crate::units::Nanos;

/// Most lines of a recording.
pub const MOST_LINES: usize = 1_000_000;
/// Longest delay, and last instant, in milliseconds.
const MOST_MS: u64 = 86_400_000;
const LONGEST_DELAY: Nanos = Nanos(60_000_000_000);

/// Reads a recording of delays: an instant and the delay from then on a line, both in milliseconds with at most six
/// decimals. The first instant is 0, and each is after the one above. Empty lines, and those that begin with `#`, say
/// nothing.
///
/// # Errors
/// A sentence that names the offending line.
pub fn parse_delays(text: &str) -> Result<Timeline<Nanos>, String> {
    timed(text, |field| {
        milliseconds(field)
            .filter(|&delay| delay <= LONGEST_DELAY)
            .ok_or("is not a delay in milliseconds, from 0 to 60000")
    })
}

/// Reads a recording of losses in time: an instant in milliseconds and the share of packets that is lost from then on,
/// in per cent, a line; as [`parse_delays`] else.
///
/// # Errors
/// A sentence that names the offending line.
pub fn parse_timed_losses(text: &str) -> Result<Timeline<Chance>, String> {
    timed(text, |field| {
        plain(field, 9)
            .and_then(|(_, _)| field.parse::<f64>().ok())
            .and_then(|percent| Chance::new(percent / 100.0))
            .ok_or("is not a share in per cent, from 0 to 100")
    })
}

/// Reads a recording of losses by packet: a line for each packet, 1 if it was lost, else 0.
///
/// # Errors
/// A sentence that names the offending line.
pub fn parse_packet_losses(text: &str) -> Result<Vec<bool>, String> {
    let mut lost = Vec::new();
    for (number, line) in lines(text) {
        lost.push(match line {
            "0" => false,
            "1" => true,
            _ => {
                return Err(format!(
                    "line {number}: '{}' is neither 0 nor 1",
                    shown(line)
                ))
            }
        });
        check_length(lost.len())?;
    }
    if lost.is_empty() {
        return Err("it has no line".to_owned());
    }
    Ok(lost)
}

/// Lines that say something, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn timed<T>(
    text: &str,
    value: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<Timeline<T>, String> {
    let mut course: Option<(Nanos, usize, Timeline<T>)> = None;
    for (number, line) in lines(text) {
        let mut fields = line.split_ascii_whitespace();
        let (Some(at), Some(field), None) = (fields.next(), fields.next(), fields.next()) else {
            return Err(format!(
                "line {number}: '{}' is not an instant and a value",
                shown(line)
            ));
        };
        let at = milliseconds(at)
            .ok_or_else(|| format!("line {number}: '{}' is not an instant in milliseconds, with at most six decimals and below a day", shown(at)))?;
        let value =
            value(field).map_err(|what| format!("line {number}: '{}' {what}", shown(field)))?;
        course = Some(match course {
            None if at != Nanos::ZERO => {
                return Err(format!("line {number}: the first instant is not 0"));
            }
            None => (at, 1, Timeline::constant(value)),
            Some((last, ..)) if at <= last => {
                return Err(format!(
                    "line {number}: the instant is not after the one above"
                ));
            }
            Some((_, length, course)) => {
                check_length(length + 1)?;
                (at, length + 1, course.then(at, value))
            }
        });
    }
    course
        .map(|(_, _, course)| course)
        .ok_or_else(|| "it has no line".to_owned())
}

fn check_length(lines: usize) -> Result<(), String> {
    if lines > MOST_LINES {
        return Err(format!("it has more than {MOST_LINES} lines"));
    }
    Ok(())
}

/// A number without sign and exponent: its digits before and behind the point, of which there are at most `decimals`.
fn plain(text: &str, decimals: usize) -> Option<(&str, &str)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = digits(whole) && digits(fraction) && whole.len() <= 12 && fraction.len() <= decimals;
    fits.then_some((whole, fraction))
}

/// Milliseconds with at most six decimals, below a day: exact to the nanosecond.
fn milliseconds(text: &str) -> Option<Nanos> {
    let (whole, fraction) = plain(text, 6)?;
    let whole: u64 = whole.parse().ok().filter(|&ms| ms < MOST_MS)?;
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    Some(Nanos(whole * 1_000_000 + fraction))
}

/// The beginning of what stands in a file that may be no recording at all.
fn shown(text: &str) -> String {
    text.chars()
        .take(40)
        .flat_map(char::escape_default)
        .collect()
}
