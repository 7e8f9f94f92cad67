//! Times as sources write them.

use crate::event::Millis;

const DAY_MS: u64 = 86_400_000;
const DAYS_BEFORE_1970: u64 = 719_468;

/// Milliseconds since the epoch of an ISO 8601 time such as `2026-01-31T09:30:00.250Z`.
pub(crate) fn iso_millis(text: &str) -> Option<Millis> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, offset_minutes) = split_zone(time)?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && hour <= 24
        && minute <= 59
        && second <= 60;
    if !in_range {
        return None;
    }
    let seconds = hour * 3600 + minute * 60 + second;
    let millis =
        days_since_epoch(year, month, day) * DAY_MS + seconds * 1000 + thousandths(fraction)?;
    millis.checked_add_signed(-offset_minutes * 60_000)
}

fn numbers<const N: usize>(text: &str, separator: char) -> Option<[u64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for number in &mut found {
        let part = parts.next()?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// The clock, and how many minutes it is ahead of UTC.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (clock, zone) = time.split_at_checked(at)?;
    let [hours, minutes] = numbers(zone.get(1..)?, ':')?;
    let minutes = i64::try_from(hours.min(24) * 60 + minutes.min(59)).ok()?;
    Some((clock, if zone.starts_with('-') { -minutes } else { minutes }))
}

fn thousandths(fraction: &str) -> Option<u64> {
    let mut millis = 0;
    for place in 0..3 {
        let digit = fraction
            .as_bytes()
            .get(place)
            .map_or(Some(0), |byte| byte.is_ascii_digit().then(|| u64::from(byte - b'0')))?;
        millis = millis * 10 + digit;
    }
    Some(millis)
}

fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March, so that the leap day is the last one.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1;
    days.saturating_sub(DAYS_BEFORE_1970)
}

#[cfg(test)]
mod tests {
    use super::iso_millis;

    #[test]
    fn times_are_read_with_and_without_fraction_and_zone() {
        assert_eq!(iso_millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(iso_millis("2000-02-29T12:00:00.5Z"), Some(951_825_600_500));
        assert_eq!(iso_millis("2026-11-15T06:17:56.850Z"), Some(1_794_723_476_850));
        assert_eq!(iso_millis("2026-11-15T08:17:56.850123+02:00"), Some(1_794_723_476_850));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "T",
            "2026-11-15",
            "2026-13-01T00:00:00Z",
            "2026-1T1:1:1",
            "1969-01-01T0:0:0Z",
            "a-b-cTd:e:f",
        ] {
            assert_eq!(iso_millis(text), None, "{text}");
        }
    }
}
