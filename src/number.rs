//! Numbers to text: integers, and doubles as ECMAScript's Number::toString lays them out
//! (<https://tc39.es/ecma262/#sec-numeric-types-number-tostring>).

/// The longest integer: `-9223372036854775808`.
pub const MAX_INTEGER_TEXT: usize = 20;

/// The longest double: `-0.0000012345678901234567`, sign, `0.`, five zeros, 17 digits.
pub const MAX_DOUBLE_TEXT: usize = 1 + 2 + 5 + MAX_DOUBLE_DIGITS;
/// The most digits a shortest double has.
const MAX_DOUBLE_DIGITS: usize = 17;
const _: () = assert!(MAX_DOUBLE_TEXT >= "-1.e-324".len() + MAX_DOUBLE_DIGITS - 1);

/// Integers below this are doubles exactly, and so are all their neighbours.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Decimals of at most 15 digits come back unchanged from a double.
const EXACT_DECIMAL: u64 = 1_000_000_000_000_000;

/// Room for an integer, and a byte behind it.
pub const INTEGER_ROOM: usize = 24;
/// Room for a double, likewise.
pub const DOUBLE_ROOM: usize = 32;
const _: () = assert!(INTEGER_ROOM > MAX_INTEGER_TEXT && DOUBLE_ROOM > MAX_DOUBLE_TEXT);

/// Writes an unsigned 64-bit integer; returns its length.
#[inline(always)]
pub fn write_u64(number: u64, to: &mut [u8; INTEGER_ROOM]) -> usize {
    write_digits(number, to)
}

#[inline(always)]
fn write_digits(number: u64, to: &mut [u8]) -> usize {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    to[..digits.len()].copy_from_slice(digits);
    digits.len()
}

/// Writes an int64; returns its length.
#[inline(always)]
pub fn write_i64(number: i64, to: &mut [u8; INTEGER_ROOM]) -> usize {
    to[0] = b'-';
    let sign = usize::from(number < 0);
    sign + write_digits(number.unsigned_abs(), &mut to[sign..])
}

/// Writes a finite double as Number::toString does; returns its length. `None` for NaN and the infinities.
#[inline(always)]
pub fn write_f64(number: f64, to: &mut [u8; DOUBLE_ROOM]) -> Option<usize> {
    let magnitude = number.abs();
    to[0] = b'-';
    // -0 is written as 0: it is not below zero.
    let sign = usize::from(number < 0.0);
    let to = &mut to[sign..];
    let len = if magnitude < EXACT {
        let integer = magnitude as u64;
        if integer as f64 == magnitude {
            write_digits(integer, to)
        } else {
            write_cents(magnitude, to).unwrap_or_else(|| write_shortest(magnitude, to))
        }
    } else if number.is_finite() {
        write_shortest(magnitude, to)
    } else {
        return None;
    };
    Some(sign + len)
}

/// Doubles of one or two decimals, as prices and percentages are, without the general algorithm.
///
/// Where dividing an integer of at most 15 digits by 100 gives the double back, that decimal reads as the double;
/// and no other decimal of at most 15 digits does, so none is shorter. (json_of_order 500: 74.9 µs by the general
/// algorithm alone, 47.4 with this; json_of_array prices: 3.67 and 1.17, fractions, for which it is in vain: 2.67 and
/// 2.58)
#[inline(always)]
fn write_cents(magnitude: f64, to: &mut [u8]) -> Option<usize> {
    let cents = (magnitude * 100.0 + 0.5) as u64;
    if cents >= EXACT_DECIMAL || cents as f64 / 100.0 != magnitude {
        return None;
    }
    let len = write_digits(cents / 100, to);
    let fraction = (cents % 100) as u8;
    let (tenth, hundredth) = (fraction / 10, fraction % 10);
    to[len..len + 3].copy_from_slice(&[b'.', b'0' + tenth, b'0' + hundredth]);
    Some(len + 2 + usize::from(hundredth != 0))
}

/// Doubles that Ryu writes without an exponent, and so as ECMAScript does unless they are integral.
const RYU_PLAIN: std::ops::Range<f64> = 1e-5..EXACT;
/// Room that it asks for.
const RYU_ROOM: usize = 24;

/// Writes the shortest digits that read as this double, in ECMAScript's layout. `number` is finite and above zero, and
/// integral only from [`EXACT`] on. (json_of_array fractions: 2.59 µs where Ryu's text is copied, 2.46 so)
#[inline(never)]
fn write_shortest(number: f64, to: &mut [u8]) -> usize {
    if RYU_PLAIN.contains(&number) {
        assert!(to.len() >= RYU_ROOM);
        // SAFETY: the number is finite, and there is as much room as Ryu asks for.
        return unsafe { ryu::raw::format64(number, to.as_mut_ptr()) };
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(number).as_bytes();
    let (digits, count, exponent) = read_ryu(text);
    let digits = &digits[..count];
    // The value is 0.DIGITS times ten to the `point`.
    let point = count as i32 + exponent;
    let mut len = 0;
    let mut push = |bytes: &[u8]| {
        to[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    };
    const NO_DIGITS: &[u8; 21] = b"000000000000000000000";
    if count as i32 <= point && point <= 21 {
        // `123000`
        push(digits);
        push(&NO_DIGITS[..point as usize - count]);
    } else if 0 < point && point <= 21 {
        // `1.23`
        let (whole, fraction) = digits.split_at(point as usize);
        push(whole);
        push(b".");
        push(fraction);
    } else if -6 < point && point <= 0 {
        // `0.00123`
        push(b"0.");
        push(&NO_DIGITS[..-point as usize]);
        push(digits);
    } else {
        // `1.23e-7`
        let (first, rest) = digits.split_at(1);
        push(first);
        if !rest.is_empty() {
            push(b".");
            push(rest);
        }
        push(if point > 0 { b"e+" } else { b"e-" });
        push(itoa::Buffer::new().format((point - 1).unsigned_abs()).as_bytes());
    }
    len
}

/// Ryu's text, `12.5`, `1.25e-7` or `1e21`, as digits without zeros at either end, their number, and the power of
/// ten to scale them by.
fn read_ryu(text: &[u8]) -> ([u8; MAX_DOUBLE_DIGITS], usize, i32) {
    let (mut digits, mut len, mut exponent) = ([0; MAX_DOUBLE_DIGITS], 0, 0);
    let (mut zeros, mut after_point) = (0, false);
    let mut rest = text.iter();
    for &byte in rest.by_ref() {
        match byte {
            b'.' => after_point = true,
            b'e' => break,
            _ => {
                exponent -= i32::from(after_point);
                if byte == b'0' {
                    // Kept back until a digit follows: trailing zeros are not digits, nor are leading ones.
                    zeros += usize::from(len > 0);
                } else {
                    digits[len..len + zeros].fill(b'0');
                    len += zeros;
                    digits[len] = byte;
                    len += 1;
                    zeros = 0;
                }
            }
        }
    }
    let (mut scale, mut sign) = (0, 1);
    for &byte in rest {
        if byte == b'-' {
            sign = -1;
        } else {
            scale = scale * 10 + i32::from(byte - b'0');
        }
    }
    (digits, len, exponent + zeros as i32 + sign * scale)
}

/// Words of 2^1024, which is above all doubles, and one for a sign.
const HUGE_WORDS: usize = 1024 / 64 + 1;

/// The magnitude of an integral double beyond an `i64`: its 53 bits, shifted, the lowest word first.
#[must_use]
pub fn huge_words(number: f64) -> [u64; HUGE_WORDS] {
    const MANTISSA_BITS: u64 = f64::MANTISSA_DIGITS as u64 - 1;
    let bits = number.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS;
    let exponent = (bits >> MANTISSA_BITS & 0x7ff).saturating_sub(1023 + MANTISSA_BITS);
    let (word, shift) = ((exponent / 64) as usize, exponent % 64);
    let shifted = u128::from(mantissa) << shift;
    let mut words = [0; HUGE_WORDS];
    // Only infinities and NaN, which are not integral, would be beyond them.
    if let Some(room) = words[word.min(HUGE_WORDS - 2)..].first_chunk_mut() {
        *room = [shifted as u64, (shifted >> 64) as u64];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{DOUBLE_ROOM, INTEGER_ROOM, write_f64, write_i64, write_u64};

    fn text<const N: usize>(write: impl FnOnce(&mut [u8; N]) -> usize) -> String {
        let mut text = [b'?'; N];
        let len = write(&mut text);
        String::from_utf8(text[..len].to_vec()).unwrap()
    }

    fn double(number: f64) -> String {
        text::<DOUBLE_ROOM>(|to| write_f64(number, to).unwrap())
    }

    #[test]
    fn integers_around_every_power_of_ten_and_two() {
        let powers = (0..20).map(|power| 10_u64.pow(power)).chain((0..64).map(|power| 1 << power));
        for power in powers {
            for number in [power.wrapping_sub(1), power, power.wrapping_add(1), u64::MAX - power] {
                assert_eq!(text::<INTEGER_ROOM>(|to| write_u64(number, to)), number.to_string());
                for number in [number as i64, (number as i64).wrapping_neg()] {
                    assert_eq!(text::<INTEGER_ROOM>(|to| write_i64(number, to)), number.to_string());
                }
            }
        }
        assert_eq!(text(|to| write_i64(i64::MIN, to)), "-9223372036854775808");
        for number in (0..100_000_000).step_by(if cfg!(miri) { 999_983 } else { 997 }) {
            assert_eq!(text(|to| write_i64(number, to)), number.to_string());
        }
    }

    #[test]
    fn doubles_in_ecmascript_layout() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (19.99, "19.99"),
            (100.5, "100.5"),
            (0.07, "0.07"),
            (1e-6, "0.000001"),
            (1.5e-6, "0.0000015"),
            (1.234_567_890_123_456_7e-6, "0.0000012345678901234567"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (1e20, "100000000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (-1e300, "-1e+300"),
            (0.00001, "0.00001"),
            (0.000012345, "0.000012345"),
            (0.000009999999999999999, "0.000009999999999999999"),
            (9_007_199_254_740_994.0, "9007199254740994"),
            (9_999_999_999_999_998.0, "9999999999999998"),
            (1e16, "10000000000000000"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_007_199_254_740_994.0, "-9007199254740994"),
            (4_503_599_627_370_495.5, "4503599627370495.5"),
            (9_999_999_999_999.99, "9999999999999.99"),
            (0.005, "0.005"),
            (1.005, "1.005"),
        ] {
            assert_eq!(double(number), expected);
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(write_f64(number, &mut [0; DOUBLE_ROOM]), None);
        }
    }

    /// What is written reads as the number and has as few digits as Rust's own; of two that are as near,
    /// ECMAScript takes the even one and Rust does not.
    #[test]
    fn doubles_come_back_with_the_shortest_digits() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let rounds = if cfg!(miri) { 100 } else { 200_000 };
        for round in 0..rounds {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let number = match round % 4 {
                0 => f64::from_bits(state),
                1 => (state >> (state % 60)) as f64 / 100.0,
                2 => (state >> (state % 60)) as f64 / 1000.0,
                _ => (state >> 40) as f64 / 10.0,
            };
            if !number.is_finite() {
                continue;
            }
            let text = double(number);
            assert_eq!(text.parse::<f64>().unwrap().abs(), number.abs(), "{text}");
            let digits = |text: &str| {
                let mantissa = text.split(['e', 'E']).next().unwrap();
                mantissa.chars().filter(char::is_ascii_digit).collect::<String>().trim_matches('0').len()
            };
            assert_eq!(digits(&text), digits(&format!("{number:e}")), "{text}");
        }
    }

    #[test]
    fn words_of_huge_doubles() {
        for (number, expected) in [
            (9_223_372_036_854_775_808.0, &[1 << 63, 0, 0][..]),
            (-18_446_744_073_709_551_616.0, &[0, 1, 0]),
            (36_893_488_147_419_103_232.0, &[0, 2, 0]),
            (1_208_925_819_614_629_174_706_176.0, &[0, 1 << 16, 0]),
        ] {
            assert_eq!(super::huge_words(number)[..3], *expected);
        }
        let largest = super::huge_words(f64::MAX);
        assert_eq!(largest[14..], [0, u64::MAX << 11, 0]);
    }
}
