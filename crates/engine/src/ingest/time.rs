//! Reading the times that sources write.

use crate::event::Millis;

/// Milliseconds since 1970 of a time such as `2026-05-04T03:02:01.5Z` or `…+02:00`.
pub(crate) fn iso_millis(text: &str) -> Option<Millis> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_at);
    let [year, month, day] = numbers(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && year <= 9999
        && hour <= 23
        && minute <= 59
        && second <= 60;
    if !in_range {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let millis = (seconds - zone_seconds(zone)?) * 1_000 + fraction_millis(fraction)?;
    Millis::try_from(millis).ok()
}

fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for slot in &mut found {
        let part = parts.next()?;
        *slot = part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()))?;
    }
    parts.next().is_none().then_some(found)
}

fn fraction_millis(digits: &str) -> Option<i64> {
    let mut millis = 0;
    let mut unit = 100;
    for byte in digits.bytes() {
        millis += i64::from(byte.is_ascii_digit().then(|| byte - b'0')?) * unit;
        unit /= 10;
    }
    Some(millis)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return (zone.len() == 1).then_some(0),
    };
    let [hours, minutes] = numbers(zone.get(1..)?, ':')?;
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Days of the Gregorian calendar, counted in years that begin in March so that a leap day is last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::iso_millis;

    #[test]
    fn times_are_read_with_fractions_and_zones() {
        assert_eq!(iso_millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(iso_millis("2000-02-29T12:00:00.25Z"), Some(951_825_600_250));
        assert_eq!(iso_millis("2026-11-15T06:16:16.224Z"), Some(1_794_723_376_224));
        assert_eq!(iso_millis("2026-11-15T08:16:16.224999+02:00"), Some(1_794_723_376_224));
        assert_eq!(iso_millis("2025-12-31T23:59:59-01:00"), Some(1_767_229_199_000));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "T",
            "2026-11-15",
            "2026-13-01T00:00:00Z",
            "2026-11-15T06:16:16",
            "2026-11-15T06:16Z",
            "1969-12-31T23:59:59Z",
            "2026-11-15T06:16:16.x1Z",
            "99999999999999999999-01-01T00:00:00Z",
            "2026-+1-01T00:00:00Z",
        ] {
            assert_eq!(iso_millis(text), None, "{text}");
        }
    }
}
