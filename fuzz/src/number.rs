//! Numbers to text, against the standard library's digits laid out by ECMA-262's own steps.

use bsonrow::number;

/// Each eight bytes are a double and an int64.
///
/// # Panics
/// Where the property fails.
pub fn check(bytes: &[u8]) {
    for bytes in bytes.chunks_exact(8) {
        let bits = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        check_double(f64::from_bits(bits));
        // A short decimal, which random bits seldom are.
        check_double((bits >> 32) as i32 as f64 / f64::from(10_u32.pow(bits as u32 % 9)));
        check_integer(bits);
    }
}

fn check_double(double: f64) {
    let mut room = [0; number::DOUBLE_ROOM];
    let Some(len) = number::write_f64(double, &mut room) else {
        assert!(!double.is_finite());
        return;
    };
    let text = str::from_utf8(&room[..len]).expect("ASCII");
    assert_eq!(text, to_ecmascript(double));
    assert_eq!(text.parse::<f64>().expect("a number"), double);
}

/// Number::toString (<https://tc39.es/ecma262/#sec-numeric-types-number-tostring>), step by step: `digits` has k
/// digits and stands for a number below one times 10^`n`.
fn to_ecmascript(double: f64) -> String {
    if double == 0.0 {
        return "0".into();
    }
    let (digits, exponent) = scientific(&format!("{:e}", double.abs()));
    let digits = even_of_two(digits, double.abs());
    let k = digits.len() as i32;
    let n = exponent + 1;
    let sign = if double < 0.0 { "-" } else { "" };
    let zeros = |count: i32| "0".repeat(count as usize);
    let text = if k <= n && n <= 21 {
        digits + &zeros(n - k)
    } else if 0 < n && n <= 21 {
        let (whole, fraction) = digits.split_at(n as usize);
        format!("{whole}.{fraction}")
    } else if -6 < n && n <= 0 {
        format!("0.{}{digits}", zeros(-n))
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{:+}", n - 1)
    };
    format!("{sign}{text}")
}

/// The digits and the exponent of `1.25e-7`.
fn scientific(text: &str) -> (String, i32) {
    let (mantissa, exponent) = text.split_once('e').expect("an exponent");
    (mantissa.replace('.', ""), exponent.parse().expect("an integer"))
}

/// Where a double stands in the middle between two decimals that both read as it, ECMAScript takes the one with
/// the even last digit, and the standard library the larger one.
fn even_of_two(digits: String, double: f64) -> String {
    const MORE: usize = 60;
    let Some(last @ (b'1' | b'3' | b'5' | b'7' | b'9')) = digits.bytes().last() else { return digits };
    let below = format!("{}{}", &digits[..digits.len() - 1], char::from(last - 1));
    let (exact, exponent) = scientific(&format!("{double:.*e}", digits.len() - 1 + MORE));
    let is_middle = exact == format!("{below}5{}", "0".repeat(MORE - 1));
    let reads_as = |digits: &str| {
        format!("{digits}e{}", exponent - (digits.len() as i32 - 1)).parse::<f64>().expect("a number")
    };
    if is_middle && reads_as(&below) == double { below } else { digits }
}

fn check_integer(bits: u64) {
    // Every length of number, not only the longest.
    for shift in [0, bits % 64] {
        let number = bits >> shift;
        check_digits(|to| number::write_u64(number, to), &number.to_string());
        let number = bits as i64 >> shift;
        check_digits(|to| number::write_i64(number, to), &number.to_string());
    }
}

fn check_digits(write: impl FnOnce(&mut [u8; number::INTEGER_ROOM]) -> usize, expected: &str) {
    let mut room = [0; number::INTEGER_ROOM];
    let len = write(&mut room);
    assert_eq!(&room[..len], expected.as_bytes());
}
