//! Parses the timestamps of sources.

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::Offset};

use crate::event::Millis;

/// Parses an ISO 8601 time (`2026-01-02T03:04:05.678901Z`, or with an offset) into milliseconds
/// since the Unix epoch. Drops digits past the millisecond. No offset means UTC; a date without a
/// time, and a time before 1970, is none.
pub(crate) fn parse_iso_millis(text: &str) -> Option<Millis> {
    let text = text.trim_ascii();
    if !text.contains(['T', 't', ' ']) {
        return None;
    }
    let parsed = text.parse::<Timestamp>().or_else(|_| {
        let without_offset = text.parse::<DateTime>()?;
        Offset::UTC.to_timestamp(without_offset)
    });
    Millis::try_from(parsed.ok()?.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            assert_eq!(parse_iso_millis(text), Some(millis), "{text}");
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
            assert_eq!(parse_iso_millis(text), None, "{text}");
        }
    }

    /// Days since 1970 of a date from then on: Howard Hinnant's `days_from_civil`.
    fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
        let year = if month <= 2 { year - 1 } else { year };
        let year_of_era = year % 400;
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        year / 400 * 146_097 + day_of_era - 719_468
    }

    proptest! {
        #[test]
        fn every_usual_form_of_a_time_is_read(
            (year, month, day) in (1971..=9998i64, 1..=12i64, 1..=28i64),
            (hour, minute, second) in (0..24i64, 0..60i64, 0..60i64),
            fraction in "[0-9]{0,9}",
            separator in "[Tt ]",
            offset in prop_oneof![Just(None), (-12..=14i64, prop_oneof![Just(0), Just(30i64)]).prop_map(Some)],
            colon in prop_oneof![Just(":"), Just("")],
        ) {
            let point = if fraction.is_empty() { "" } else { "." };
            let (zone, minutes) = match offset {
                None => ("Z".to_owned(), 0),
                Some((hours, more)) => {
                    let sign = if hours < 0 { '-' } else { '+' };
                    let total = if hours < 0 { hours * 60 - more } else { hours * 60 + more };
                    (format!("{sign}{:02}{colon}{more:02}", hours.abs()), total)
                }
            };
            let date = format!("{year:04}-{month:02}-{day:02}");
            let clock = format!("{hour:02}:{minute:02}:{second:02}{point}{fraction}");
            let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60
                + second;
            let millis: i64 = format!("{fraction:0<3}")[..3].parse().unwrap();
            let at = |seconds: i64| Some(u64::try_from(seconds * 1_000 + millis).unwrap());
            let text = format!("{date}{separator}{clock}{zone}");
            prop_assert_eq!(parse_iso_millis(&text), at(seconds - minutes * 60), "{}", text);
            let without_offset = format!(" {date}{separator}{clock}\n");
            prop_assert_eq!(parse_iso_millis(&without_offset), at(seconds), "{}", without_offset);
        }
    }
}
