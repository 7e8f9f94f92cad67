//! Times as sources write them.

use crate::event::Millis;

/// An ISO 8601 time (`2026-01-02T03:04:05.678901Z`, or with an offset) in milliseconds since the
/// Unix epoch. Digits past the millisecond are dropped. No offset means UTC.
pub(crate) fn iso_millis(text: &str) -> Option<Millis> {
    let (date, time) = text.trim_ascii().split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, offset_minutes) = split_offset(time)?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && hour <= 24
        && minute < 60
        && second <= 60;
    if !valid || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        - offset_minutes * 60;
    let millis: i64 = fraction
        .bytes()
        .chain(*b"000")
        .take(3)
        .fold(0, |millis, digit| millis * 10 + i64::from(digit - b'0'));
    Millis::try_from(seconds * 1_000 + millis).ok()
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let digits = !part.is_empty() && part.len() <= 4;
        let digits = digits && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits { part.parse().ok() } else { None }
    });
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// The time without its offset, and the offset in minutes east of Greenwich.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, offset) = time.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let value: i64 = digits.parse().ok()?;
    match digits.len() {
        2 => Some((time, sign * value * 60)),
        4 => Some((time, sign * (value / 100 * 60 + value % 100))),
        _ => None,
    }
}

/// Howard Hinnant's `days_from_civil`, for years from 1970.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year / 400;
    let year_of_era = year % 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_fractions_and_offsets_are_read() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500),
            ("2026-03-01T00:00:00.123456789Z", 1_772_323_200_123),
            ("2023-08-04T08:52:19.385406455-07:00", 1_691_164_339_385),
            ("2023-08-04 21:22:19+0530", 1_691_164_339_000),
        ] {
            assert_eq!(iso_millis(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "T",
            "2026-13-01T00:00:00Z",
            "2026-01-01",
            "x-1-1T1:1:1",
            "2026-01-01T00:00:0é",
            "1960-01-01T00:00:00Z",
            "2026-01-01T00:00:00.x",
            "99999999999-01-01T00:00:00Z",
        ] {
            assert_eq!(iso_millis(text), None, "{text}");
        }
    }
}
