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

/// The two decimal digits of 0 to 99.
pub const PAIRS: [[u8; 2]; 100] = {
    let mut table = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        table[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    table
};

/// A number's text in an array: the first bytes of it.
#[derive(Clone, Copy)]
pub struct Digits<const N: usize> {
    /// The text, and bytes without a meaning behind it.
    pub text: [u8; N],
    /// Its length.
    pub len: usize,
}

impl<const N: usize> Digits<N> {
    const EMPTY: Self = Self { text: [0; N], len: 0 };

    /// The text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.len]
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.text[self.len] = byte;
        self.len += 1;
    }

    fn push_all(&mut self, bytes: &[u8]) {
        self.text[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_zeros(&mut self, count: usize) {
        self.push_all(&b"000000000000000000000"[..count]);
    }

    #[inline(always)]
    fn push_u32(&mut self, mut number: u32) {
        let first = self.len;
        self.len += number.checked_ilog10().unwrap_or(0) as usize + 1;
        let mut at = self.len;
        while at - first > 2 {
            at -= 2;
            self.text[at..at + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        if at - first == 2 {
            self.text[first..first + 2].copy_from_slice(&PAIRS[number as usize]);
        } else {
            self.text[first] = b'0' + number as u8;
        }
    }

    /// `number < 10^8`, with its leading zeros.
    fn push_eight(&mut self, mut number: u32) {
        for at in (0..4).rev() {
            self.text[self.len + 2 * at..][..2].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        self.len += 8;
    }

    #[inline(always)]
    fn push_u64(&mut self, number: u64) {
        const EIGHT: u64 = 100_000_000;
        if let Ok(number) = u32::try_from(number) {
            return self.push_u32(number);
        }
        let (high, low) = (number / EIGHT, (number % EIGHT) as u32);
        if let Ok(high) = u32::try_from(high) {
            self.push_u32(high);
        } else {
            self.push_u32((high / EIGHT) as u32);
            self.push_eight((high % EIGHT) as u32);
        }
        self.push_eight(low);
    }
}

/// The digits of an int32.
#[inline(always)]
#[must_use]
pub fn format_i32(number: i32) -> Digits<MAX_INTEGER_TEXT> {
    let mut digits = Digits::EMPTY;
    if number < 0 {
        digits.push(b'-');
    }
    digits.push_u32(number.unsigned_abs());
    digits
}

/// The digits of an int64.
#[inline(always)]
#[must_use]
pub fn format_i64(number: i64) -> Digits<MAX_INTEGER_TEXT> {
    let mut digits = Digits::EMPTY;
    if number < 0 {
        digits.push(b'-');
    }
    digits.push_u64(number.unsigned_abs());
    digits
}

/// The digits of an unsigned 64-bit integer.
#[inline(always)]
#[must_use]
pub fn format_u64(number: u64) -> Digits<MAX_INTEGER_TEXT> {
    let mut digits = Digits::EMPTY;
    digits.push_u64(number);
    digits
}

/// A finite double as Number::toString writes it; `None` for NaN and the infinities.
#[inline(always)]
#[must_use]
pub fn format_f64(number: f64) -> Option<Digits<MAX_DOUBLE_TEXT>> {
    let mut digits = Digits::EMPTY;
    let magnitude = number.abs();
    if magnitude < EXACT {
        // -0 is written as 0: it is not below zero.
        if number < 0.0 {
            digits.push(b'-');
        }
        let integer = magnitude as u64;
        if integer as f64 == magnitude {
            digits.push_u64(integer);
            return Some(digits);
        }
        if push_cents(&mut digits, magnitude) {
            return Some(digits);
        }
        push_shortest(&mut digits, magnitude);
        return Some(digits);
    }
    if !number.is_finite() {
        return None;
    }
    if number < 0.0 {
        digits.push(b'-');
    }
    push_shortest(&mut digits, magnitude);
    Some(digits)
}

/// Doubles of one or two decimals, as prices and percentages are, without the general algorithm.
///
/// Where dividing an integer of at most 15 digits by 100 gives the double back, that decimal reads as the double;
/// and no other decimal of at most 15 digits does, so none is shorter.
#[inline(always)]
fn push_cents(digits: &mut Digits<MAX_DOUBLE_TEXT>, magnitude: f64) -> bool {
    let cents = (magnitude * 100.0 + 0.5) as u64;
    if cents >= EXACT_DECIMAL || cents as f64 / 100.0 != magnitude {
        return false;
    }
    digits.push_u64(cents / 100);
    let [tenth, hundredth] = PAIRS[(cents % 100) as usize];
    digits.push(b'.');
    digits.push(tenth);
    if hundredth != b'0' {
        digits.push(hundredth);
    }
    true
}

/// The shortest digits that read as this double, in ECMAScript's layout. `number` is finite and above zero.
#[inline(never)]
fn push_shortest(out: &mut Digits<MAX_DOUBLE_TEXT>, number: f64) {
    let mut buffer = ryu::Buffer::new();
    let (digits, len, exponent) = read_ryu(buffer.format_finite(number).as_bytes());
    let digits = &digits[..len];
    let count = len as i32;
    // The value is 0.DIGITS times ten to the `point`.
    let point = count + exponent;
    if count <= point && point <= 21 {
        // `123000`
        out.push_all(digits);
        out.push_zeros((point - count) as usize);
    } else if 0 < point && point <= 21 {
        // `1.23`
        let (whole, fraction) = digits.split_at(point as usize);
        out.push_all(whole);
        out.push(b'.');
        out.push_all(fraction);
    } else if -6 < point && point <= 0 {
        // `0.00123`
        out.push_all(b"0.");
        out.push_zeros(-point as usize);
        out.push_all(digits);
    } else {
        // `1.23e-7`
        let (first, rest) = digits.split_at(1);
        out.push_all(first);
        if !rest.is_empty() {
            out.push(b'.');
            out.push_all(rest);
        }
        out.push_all(if point > 0 { b"e+" } else { b"e-" });
        out.push_u32((point - 1).unsigned_abs());
    }
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

#[cfg(test)]
mod tests {
    use super::{format_f64, format_i32, format_i64, format_u64};

    fn double(number: f64) -> String {
        String::from_utf8(format_f64(number).unwrap().as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn integers_around_every_power_of_ten_and_two() {
        let powers = (0..20).map(|power| 10_u64.pow(power)).chain((0..64).map(|power| 1 << power));
        for power in powers {
            for number in [power.wrapping_sub(1), power, power.wrapping_add(1), u64::MAX - power] {
                assert_eq!(format_u64(number).as_bytes(), number.to_string().as_bytes());
                for number in [number as i64, (number as i64).wrapping_neg()] {
                    assert_eq!(format_i64(number).as_bytes(), number.to_string().as_bytes());
                    assert_eq!(format_i32(number as i32).as_bytes(), (number as i32).to_string().as_bytes());
                }
            }
        }
        assert_eq!(format_i64(i64::MIN).as_bytes(), b"-9223372036854775808");
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
            assert!(format_f64(number).is_none());
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
}
