//! Reading the times that sources write.

use crate::event::Millis;

/// Milliseconds since the Unix epoch of an ISO 8601 time such as `2026-11-15T07:29:16.761Z`.
pub(crate) fn iso_millis(text: &str) -> Option<Millis> {
    let (date, time) = text.split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (clock, offset) = split_offset(time)?;
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || 23 < hour || 59 < minute || 60 < second {
        return None;
    }
    let seconds = days_before(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second;
    let millis = (seconds - offset * 60).checked_mul(1000)? + fraction_millis(fraction)?;
    u64::try_from(millis).ok()
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let digits = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok())?
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// The clock, and the minutes it is ahead of UTC. A time with no zone counts as UTC.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.find(['+', '-']) else {
        return Some((time, 0));
    };
    let (clock, zone) = time.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone[1..].replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes: i64 = if minutes.is_empty() {
        0
    } else {
        minutes.parse().ok()?
    };
    Some((clock, sign * (hours.parse::<i64>().ok()? * 60 + minutes)))
}

fn fraction_millis(digits: &str) -> Option<i64> {
    let mut millis = 0;
    for place in 0..3 {
        let digit = digits.as_bytes().get(place).copied().unwrap_or(b'0');
        millis = millis * 10 + i64::from(char::from(digit).to_digit(10)?);
    }
    Some(millis)
}

/// Days from the epoch to a date of the Gregorian calendar.
fn days_before(year: i64, month: i64, day: i64) -> Option<i64> {
    // Years begin in March, so that the leap day is the last.
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::iso_millis;

    #[test]
    fn times_are_milliseconds_since_the_epoch_and_nonsense_is_none() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:30:45.5Z", Some(951_827_445_500)),
            ("2026-11-15T07:29:16.761Z", Some(1_794_727_756_761)),
            ("2026-11-15T09:29:16.761+02:00", Some(1_794_727_756_761)),
            ("2026-11-15T02:29:16-0500", Some(1_794_727_756_000)),
            ("1969-12-31T23:59:59Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-11-15", None),
            ("T", None),
            ("", None),
            ("2026-11-15T07:29:16+é", None),
        ] {
            assert_eq!(iso_millis(text), millis, "{text}");
        }
    }
}
