//! UTC datetimes (time values of ECMA-262) to text, in three render modes.

use crate::error::ErrorKind;
use crate::number::PAIRS;

/// How a UTC datetime becomes text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateRenderMode {
    /// `2023-03-06 13:47:00.000Z`
    LegacyMilliseconds = 0,
    /// `2023-03-06T13:47:00.000Z`
    IsoMilliseconds = 1,
    /// `2023-03-06T13:47:00Z`
    IsoSeconds = 2,
}

impl DateRenderMode {
    /// The mode of a number, as JavaScript gives it.
    #[must_use]
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::LegacyMilliseconds),
            1 => Some(Self::IsoMilliseconds),
            2 => Some(Self::IsoSeconds),
            _ => None,
        }
    }
}

/// The largest time value, in milliseconds from the epoch on either side: 100 million days
/// (<https://tc39.es/ecma262/#sec-time-values-and-time-range>).
pub const MAX_TIME_VALUE: i64 = 8_640_000_000_000_000;

/// The longest text: `-271821-04-20T00:00:00.000Z`.
pub const MAX_TEXT: usize = 27;

const MS_PER_DAY: i64 = 86_400_000;
/// Days from 0000-03-01, where a cycle of 400 years begins, to the epoch.
const DAYS_BEFORE_EPOCH: i64 = 719_468;
const DAYS_PER_400_YEARS: i64 = 146_097;

/// Year, month and day of a day counted from the epoch, in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day is a year's last, and in cycles of 400 years, within which
/// all is unsigned. A month's first day is then a linear function of the month: `(153 * month + 2) / 5`.
#[inline]
fn civil_from_day(day: i64) -> (i64, u32, u32) {
    let day = day + DAYS_BEFORE_EPOCH;
    let cycle = day.div_euclid(DAYS_PER_400_YEARS);
    let day = day.rem_euclid(DAYS_PER_400_YEARS) as u32;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + i64::from(year) + next, month, day)
}

/// The text of a time value, in the first bytes of an array, and its length.
#[inline]
pub fn format(time_value: i64, mode: DateRenderMode) -> Result<([u8; MAX_TEXT], usize), ErrorKind> {
    if time_value.unsigned_abs() > MAX_TIME_VALUE as u64 {
        return Err(ErrorKind::TimeValue);
    }
    let (year, month, day) = civil_from_day(time_value.div_euclid(MS_PER_DAY));
    let ms = time_value.rem_euclid(MS_PER_DAY) as u32;
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    let (hour, minute) = (minutes / 60, minutes % 60);

    let pair = |number: u32| PAIRS[number as usize];
    let [m0, m1] = pair(month);
    let [d0, d1] = pair(day);
    let [h0, h1] = pair(hour);
    let [n0, n1] = pair(minute);
    let [s0, s1] = pair(second);
    let separator = if mode == DateRenderMode::LegacyMilliseconds { b' ' } else { b'T' };
    let mut text = [0; MAX_TEXT];

    // `2023` where the year is 0 to 9999, else `+012023` or `-002023`.
    let century = (year.unsigned_abs() as u32) / 100;
    let [y2, y3] = pair(year.unsigned_abs() as u32 % 100);
    let year_len = if (0..=9999).contains(&year) {
        let [y0, y1] = pair(century);
        text[..4].copy_from_slice(&[y0, y1, y2, y3]);
        4
    } else {
        let sign = if year < 0 { b'-' } else { b'+' };
        let ([t0, t1], [y0, y1]) = (pair(century / 100), pair(century % 100));
        text[..7].copy_from_slice(&[sign, t0, t1, y0, y1, y2, y3]);
        7
    };
    const REST: usize = MAX_TEXT - 7;
    let rest: &mut [u8; REST] = text[year_len..].first_chunk_mut().expect("room behind a year");
    if mode == DateRenderMode::IsoSeconds {
        let zone =
            [b'-', m0, m1, b'-', d0, d1, separator, h0, h1, b':', n0, n1, b':', s0, s1, b'Z', 0, 0, 0, 0];
        *rest = zone;
        Ok((text, year_len + REST - 4))
    } else {
        let [c0, c1] = pair(ms / 10);
        let c2 = b'0' + (ms % 10) as u8;
        *rest = [
            b'-', m0, m1, b'-', d0, d1, separator, h0, h1, b':', n0, n1, b':', s0, s1, b'.', c0, c1, c2, b'Z',
        ];
        Ok((text, year_len + REST))
    }
}

#[cfg(test)]
mod tests {
    use super::{DateRenderMode, MAX_TIME_VALUE, MS_PER_DAY, civil_from_day, format};
    use crate::error::ErrorKind;

    fn text(time_value: i64, mode: DateRenderMode) -> String {
        let (text, len) = format(time_value, mode).unwrap();
        String::from_utf8(text[..len].to_vec()).unwrap()
    }

    #[test]
    fn modes() {
        let at = 1_678_110_420_987;
        assert_eq!(text(at, DateRenderMode::LegacyMilliseconds), "2023-03-06 13:47:00.987Z");
        assert_eq!(text(at, DateRenderMode::IsoMilliseconds), "2023-03-06T13:47:00.987Z");
        assert_eq!(text(at, DateRenderMode::IsoSeconds), "2023-03-06T13:47:00Z");
        assert_eq!((0..4).map(DateRenderMode::from_number).filter(Option::is_some).count(), 3);
    }

    #[test]
    fn years_of_six_digits_and_the_limits() {
        let mode = DateRenderMode::LegacyMilliseconds;
        for (time_value, expected) in [
            (253_402_300_799_999, "9999-12-31 23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01 00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01 00:00:00.000Z"),
            (-62_167_219_200_001, "-000001-12-31 23:59:59.999Z"),
            (-1, "1969-12-31 23:59:59.999Z"),
            (MAX_TIME_VALUE, "+275760-09-13 00:00:00.000Z"),
            (-MAX_TIME_VALUE, "-271821-04-20 00:00:00.000Z"),
        ] {
            assert_eq!(text(time_value, mode), expected);
        }
        assert_eq!(text(MAX_TIME_VALUE, DateRenderMode::IsoSeconds), "+275760-09-13T00:00:00Z");
        for time_value in [MAX_TIME_VALUE + 1, -MAX_TIME_VALUE - 1, i64::MAX, i64::MIN] {
            assert_eq!(format(time_value, mode), Err(ErrorKind::TimeValue));
        }
    }

    /// The calendar as it is taught: month lengths, and leap years by 4, 100 and 400.
    #[test]
    fn every_day_of_a_cycle_follows_the_day_before() {
        let (mut year, mut month, mut day) = (-400_i64, 1, 1);
        let first = -865_625; // -000400-01-01
        assert_eq!(text(first * MS_PER_DAY, DateRenderMode::IsoSeconds), "-000400-01-01T00:00:00Z");
        for number in first..first + if cfg!(miri) { 1_000 } else { 1_200 * 366 } {
            assert_eq!(civil_from_day(number), (year, month, day), "{number}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length =
                [31, 28 + u32::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }
}
