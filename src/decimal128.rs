//! Decimal128 to text: the layout of the BSON specification's `to-string`, with js-bson's answer where the
//! specification leaves one open (a coefficient of more than 34 digits).

use crate::spec;

const EXPONENT_BIAS: i32 = 6_176;
const EXPONENT_MASK: u32 = 0x3fff;
const MAX_DIGITS: usize = 34;
/// Bits of the coefficient that stand where they always do; above them come one or three more.
const LOW_BITS: u32 = 110;

/// Digits of the largest coefficient the bits can express: `0b1001 << 110` and 110 bits more.
const MAX_COEFFICIENT_DIGITS: usize = 35;

/// The longest text: sign, `0.`, five zeros, then the digits.
pub const MAX_TEXT: usize = 1 + 2 + 5 + MAX_COEFFICIENT_DIGITS;
const _: () = assert!(MAX_TEXT >= "-1.E-6176".len() + MAX_DIGITS - 1);

/// A text in an array: the first bytes of it.
struct Out {
    text: [u8; MAX_TEXT],
    len: usize,
}

impl Out {
    fn push(&mut self, bytes: &[u8]) {
        self.text[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_exponent(&mut self, exponent: i32) {
        self.push(if exponent > 0 { b"E+" } else { b"E" });
        self.push(itoa::Buffer::new().format(exponent).as_bytes());
    }
}

/// The text of a decimal128, in the first bytes of an array, and its length.
#[must_use]
pub fn format(bytes: &[u8; spec::DECIMAL128]) -> ([u8; MAX_TEXT], usize) {
    let bits = u128::from_le_bytes(*bytes);
    let high = (bits >> 96) as u32;
    let negative = bits >> 127 == 1;
    let mut out = Out { text: [0; MAX_TEXT], len: 0 };

    // The five bits behind the sign: 11110 infinity, 11111 not a number, 11xxx a coefficient that begins with
    // the bits 100, and else the exponent begins there.
    let (biased, top) = match high >> 26 & 0x1f {
        0b11111 => {
            out.push(b"NaN");
            return (out.text, out.len);
        }
        0b11110 => {
            out.push(if negative { b"-Infinity" } else { b"Infinity" });
            return (out.text, out.len);
        }
        combination if combination >> 3 == 3 => (high >> 15 & EXPONENT_MASK, 0b1000 | high >> 14 & 1),
        _ => (high >> 17 & EXPONENT_MASK, high >> 14 & 0b111),
    };
    let exponent = biased as i32 - EXPONENT_BIAS;
    let coefficient = u128::from(top) << LOW_BITS | bits & ((1 << LOW_BITS) - 1);

    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient).as_bytes();
    let scientific = digits.len() as i32 - 1 + exponent;
    if negative {
        out.push(b"-");
    }
    if scientific >= MAX_DIGITS as i32 || scientific <= -7 || exponent > 0 {
        if digits.len() > MAX_DIGITS {
            // `0E+3`: a coefficient out of range counts as zero.
            out.push(b"0");
            if exponent != 0 {
                out.push_exponent(exponent);
            }
        } else {
            // `1.23E-10`
            let (first, rest) = digits.split_at(1);
            out.push(first);
            if !rest.is_empty() {
                out.push(b".");
                out.push(rest);
            }
            out.push_exponent(scientific);
        }
    } else if exponent == 0 {
        // `123`
        out.push(digits);
    } else {
        let point = digits.len() as i32 + exponent;
        if point > 0 {
            // `12.3`
            let (whole, fraction) = digits.split_at(point as usize);
            out.push(whole);
            out.push(b".");
            out.push(fraction);
        } else {
            // `0.00123`
            out.push(b"0.");
            out.push(&b"000000"[..-point as usize]);
            out.push(digits);
        }
    }
    (out.text, out.len)
}

#[cfg(test)]
mod tests {
    use super::format;

    fn text(high: u64, low: u64) -> String {
        let (text, len) = format(&(u128::from(high) << 64 | u128::from(low)).to_le_bytes());
        String::from_utf8(text[..len].to_vec()).unwrap()
    }

    #[test]
    fn layouts() {
        for (high, low, expected) in [
            (0x3040_0000_0000_0000, 0, "0"),
            (0xb040_0000_0000_0000, 0, "-0"),
            (0x3046_0000_0000_0000, 0, "0E+3"),
            (0x303e_0000_0000_0000, 1, "0.1"),
            (0x3034_0000_0000_0000, 0x04d2, "0.001234"),
            (0x3034_0000_0000_0000, 0x0012_d687, "1.234567"),
            (0x3032_0000_0000_0000, 1, "1E-7"),
            (0x3040_0000_0000_0000, 9_999, "9999"),
            (0x5ffe_0000_0000_0000, 1, "1E+6111"),
            (0x0000_0000_0000_0000, 1, "1E-6176"),
            (0x5fff_ed09_bead_87c0, 0x378d_8e63_ffff_ffff, "9.999999999999999999999999999999999E+6144"),
            (0x3041_ed09_bead_87c0, 0x378d_8e63_ffff_ffff, "9999999999999999999999999999999999"),
            (0x7800_0000_0000_0000, 0, "Infinity"),
            (0xf800_0000_0000_0000, 0, "-Infinity"),
            (0x7c00_0000_0000_0000, 0, "NaN"),
            (0xfe00_0000_0000_0000, 0x12, "NaN"),
            // More than 34 digits: zero where an exponent is written, all digits where none is.
            (0x6c10_0000_0000_0000, 0, "0"),
            (0x6c11_0000_0000_0000, 0, "0E+2"),
            (0x6c0f_8000_0000_0000, 0, "1038459371706965525706099265844019.2"),
        ] {
            assert_eq!(text(high, low), expected, "{high:016x} {low:016x}");
        }
    }

    /// The `bson` crate prints canonical decimals the same way.
    #[test]
    fn canonical_decimals_as_the_bson_crate() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            let coefficient =
                u128::from(random()) * u128::from(random() >> (random() % 64)) % 10_u128.pow(34);
            let exponent = u128::from(random() % 12_288);
            let bits = u128::from(random() & 1) << 127 | exponent << 113 | coefficient;
            let bytes = bits.to_le_bytes();
            let (ours, len) = format(&bytes);
            let theirs = bson::Decimal128::from_bytes(bytes).to_string();
            assert_eq!(std::str::from_utf8(&ours[..len]).unwrap(), theirs);
        }
    }
}
