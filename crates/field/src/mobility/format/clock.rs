//! Times as people read them: hours and minutes, and dates.

use driftlock_net::Time;

use super::lines::{shown, time};

const MINUTE: u32 = 60;
const HOUR: u32 = 60 * MINUTE;
const DAY: u32 = 24 * HOUR;

/// What is counted in front of the seconds.
struct Unit {
    name: &'static str,
    seconds: u32,
    /// How many make one of the next greater unit.
    below: u64,
}

const DAYS: Unit = Unit { name: "days", seconds: DAY, below: u64::MAX };
const HOURS: Unit = Unit { name: "hours", seconds: HOUR, below: 24 };
const MINUTES: Unit = Unit { name: "minutes", seconds: MINUTE, below: 60 };

/// A time in seconds, or as `hours:minutes:seconds` or `days:hours:minutes:seconds`, as SUMO writes it for people.
pub(super) fn moment(text: &str) -> Result<Time, String> {
    if !text.contains(':') {
        return time(text);
    }
    let parts: Vec<&str> = text.trim().split(':').collect();
    let units: &[Unit] = match parts.len() {
        3 => &[HOURS, MINUTES],
        4 => &[DAYS, HOURS, MINUTES],
        _ => &[],
    };
    let whole: Option<Vec<u64>> = parts[..units.len()].iter().map(|part| digits(part)).collect();
    let seconds = seconds(parts[parts.len() - 1]);
    let (Some(whole), Some(seconds), [_, smaller @ ..]) = (whole, seconds, units) else {
        return Err(format!(
            "a time must be seconds, hours:minutes:seconds or days:hours:minutes:seconds, not {}",
            shown(text)
        ));
    };
    // Only what comes first has no limit. A part that is too large is a slip of the pen, or no clock at all.
    let too_large = whole[1..].iter().zip(smaller).find(|(count, unit)| **count >= unit.below);
    let too_large = too_large.map(|(_, unit)| (unit.name, unit.below));
    if let Some((name, below)) = too_large.or((seconds >= 60.0).then_some(("seconds", 60))) {
        return Err(format!("the {name} of a time must be less than {below}, and in {} they are not", shown(text)));
    }
    let whole: f64 = whole.iter().zip(units).map(|(count, unit)| *count as f64 * f64::from(unit.seconds)).sum();
    time(&(whole + seconds).to_string()).map_err(|_| format!("the time {} is too late", shown(text)))
}

/// A date and time, such as `2009-10-17T18:37:26Z`, as the time since 1970. Without a zone it is taken to be of
/// Greenwich.
pub(super) fn date(text: &str) -> Result<Time, String> {
    parse_date(text.trim()).ok_or_else(|| {
        format!("a date must be from 1970 to 2199 and written as 2009-10-17T18:37:26Z, not {}", shown(text))
    })
}

fn parse_date(text: &str) -> Option<Time> {
    let (day, clock) = text.split_once(['T', 't', ' '])?;
    let mut parts = day.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?)?, digits(parts.next()?)?, digits(parts.next()?)?);
    if !(1970..2200).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    if day == 0 || day > days_before(next_year, next_month, 1) - days_before(year, month, 1) {
        return None;
    }
    let (clock, zone) = split_zone(clock.trim())?;
    let mut parts = clock.splitn(3, ':');
    let (hour, minute, seconds) = (digits(parts.next()?)?, digits(parts.next()?)?, seconds(parts.next()?)?);
    // A minute with a leap second has 61 of them, and a day may end at 24:00:00.
    let is_clock = (hour < 24 && minute < 60 && seconds < 61.0) || (hour == 24 && minute == 0 && seconds <= 0.0);
    if !is_clock {
        return None;
    }
    // At most 300,000 days.
    let seconds = (days_before(year, month, day) * u64::from(DAY) + hour * u64::from(HOUR) + minute * u64::from(MINUTE))
        as f64
        + seconds
        - zone;
    (seconds >= 0.0).then(|| Time::from_units(seconds))
}

/// The clock, and how many seconds its zone is before that of Greenwich.
fn split_zone(clock: &str) -> Option<(&str, f64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0.0));
    }
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, 0.0)) };
    let (clock, zone) = clock.split_at(at);
    let digits_of_zone: String = zone[1..].chars().filter(|character| *character != ':').collect();
    let (hours, minutes) = digits_of_zone.split_at_checked(2)?;
    let hours = digits(hours)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes)? };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * u64::from(HOUR) + minutes * u64::from(MINUTE)) as f64;
    Some((clock, if zone.starts_with('-') { -seconds } else { seconds }))
}

/// How many days lie between the first of January 1970 and this one, which is later.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    // Years begin with March here, so that the day that some have more is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let before_month = (153 * month + 2) / 5;
    // The first of March of the year 0 lies 719,468 days before 1970.
    365 * year + leap_days + before_month + day - 1 - 719_468
}

/// A number without sign, point or exponent.
fn digits(text: &str) -> Option<u64> {
    let is_one = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| text.parse().ok()).flatten()
}

/// Any number without sign or exponent.
fn seconds(text: &str) -> Option<f64> {
    let is_one = text.starts_with(|character: char| character.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_one.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_days_are_seconds() {
        for (text, expected) in [
            ("0:01:05.00", 65.0),
            ("1:00:00", 3600.0),
            ("2:03:04:05.50", 183_845.5),
            ("65.00", 65.0),
            ("30:00:00", 108_000.0),
            ("30:59:59.999", 111_599.999),
            ("40:23:59:59", 3_542_399.0),
        ] {
            assert_eq!(moment(text), Ok(Time::from_units(expected)), "{text}");
        }
        for text in ["1:05", "0:-1:05", "1:2:3:4:5", "a:00:00", "0:00:", ":::", "0:1e3:00"] {
            assert!(moment(text).unwrap_err().contains("hours:minutes:seconds"), "{text}");
        }
    }

    #[test]
    fn a_clock_has_no_sixtieth_minute_or_second_and_a_day_no_twenty_fourth_hour() {
        for (text, reason) in [
            ("24:61:00", "the minutes of a time must be less than 60, and in \"24:61:00\" they are not"),
            ("1:00:61:00", "the minutes of a time must be less than 60"),
            ("0:60:00", "the minutes of a time must be less than 60"),
            ("0:01:65", "the seconds of a time must be less than 60"),
            ("0:00:60.00", "the seconds of a time must be less than 60"),
            ("1:24:00:00", "the hours of a time must be less than 24"),
        ] {
            assert!(moment(text).unwrap_err().contains(reason), "{text}: {:?}", moment(text));
        }
    }

    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2009-10-17T18:37:26Z", 1_255_804_646.0),
            ("2009-10-17T20:37:26.25+02:00", 1_255_804_646.25),
            ("2009-10-17T13:37:26-0500", 1_255_804_646.0),
            ("2000-02-29 12:00:00", 951_825_600.0),
            ("2024-03-01T00:00:00", 1_709_251_200.0),
            ("2024-02-29T24:00:00", 1_709_251_200.0),
            ("2016-12-31T23:59:60.5Z", 1_483_228_800.5),
        ] {
            assert_eq!(date(text), Ok(Time::from_units(expected)), "{text}");
        }
        for text in [
            "",
            "2009-10-17",
            "17.10.2009 12:00:00",
            "1969-12-31T00:00:00Z",
            "2009-13-01T00:00:00Z",
            "2009-02-29T00:00:00Z",
            "2009-04-31T00:00:00Z",
            "2009-12-32T00:00:00Z",
            "2009-10-17T1Z",
            "2009-10-17T24:01:00Z",
            "2009-10-17T12:60:00Z",
            "2009-10-17T12:00:61Z",
            "2009-10-17T12:00:00+24:00",
            "2009-10-17T12:00:00+01:60",
        ] {
            assert!(date(text).unwrap_err().contains("2009-10-17T18:37:26Z"), "{text}");
        }
    }
}
