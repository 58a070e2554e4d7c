//! The formats of the MessagePack specification (<https://github.com/msgpack/msgpack/blob/master/spec.md>): their
//! numbers, once, and each value in the shortest format that keeps its type.

use super::TooLong;

/// The first byte of a value.
mod marker {
    pub const FIXMAP: u8 = 0x80;
    pub const FIXARRAY: u8 = 0x90;
    pub const FIXSTR: u8 = 0xa0;
    pub const NIL: u8 = 0xc0;
    pub const FALSE: u8 = 0xc2;
    pub const TRUE: u8 = 0xc3;
    pub const BIN8: u8 = 0xc4;
    pub const BIN16: u8 = 0xc5;
    pub const EXT8: u8 = 0xc7;
    pub const EXT16: u8 = 0xc8;
    pub const FLOAT64: u8 = 0xcb;
    pub const UINT8: u8 = 0xcc;
    pub const UINT16: u8 = 0xcd;
    pub const UINT32: u8 = 0xce;
    pub const UINT64: u8 = 0xcf;
    pub const INT8: u8 = 0xd0;
    pub const INT16: u8 = 0xd1;
    pub const INT32: u8 = 0xd2;
    pub const INT64: u8 = 0xd3;
    pub const FIXEXT1: u8 = 0xd4;
    pub const FIXEXT2: u8 = 0xd5;
    pub const FIXEXT4: u8 = 0xd6;
    pub const FIXEXT8: u8 = 0xd7;
    pub const FIXEXT16: u8 = 0xd8;
    pub const STR8: u8 = 0xd9;
    pub const STR16: u8 = 0xda;
    pub const ARRAY16: u8 = 0xdc;
    pub const ARRAY32: u8 = 0xdd;
    pub const MAP16: u8 = 0xde;
}

/// The extension type of a timestamp, the only one that the specification itself defines.
const TIMESTAMP: i8 = -1;

/// Bytes of an array's header whose length is written later.
pub const OPEN_ARRAY: usize = 5;

/// A length of 16 or of 32 bits: the marker of the latter is the one after the former's.
#[inline(never)]
fn push_wide(marker16: u8, len: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    if let Ok(len) = u16::try_from(len) {
        out.push(marker16);
        out.extend_from_slice(&len.to_be_bytes());
    } else {
        let len = u32::try_from(len).map_err(|_| TooLong)?;
        out.push(marker16 + 1);
        out.extend_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

/// What stands before a text of `len` bytes.
#[inline]
pub fn push_str_header(len: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match len {
        0..=31 => out.push(marker::FIXSTR | len as u8),
        32..=0xff => out.extend_from_slice(&[marker::STR8, len as u8]),
        _ => push_wide(marker::STR16, len, out)?,
    }
    Ok(())
}

/// A text, which must be well-formed.
#[inline]
pub fn push_str(text: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    push_str_header(text.len(), out)?;
    out.extend_from_slice(text);
    Ok(())
}

/// Bytes.
pub fn push_bin(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    match bytes.len() {
        len @ 0..=0xff => out.extend_from_slice(&[marker::BIN8, len as u8]),
        len => push_wide(marker::BIN16, len, out)?,
    }
    out.extend_from_slice(bytes);
    Ok(())
}

/// What stands before the `len` bytes of an extension type.
pub fn push_ext_header(ext_type: i8, len: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match len {
        1 => out.push(marker::FIXEXT1),
        2 => out.push(marker::FIXEXT2),
        4 => out.push(marker::FIXEXT4),
        8 => out.push(marker::FIXEXT8),
        16 => out.push(marker::FIXEXT16),
        0..=0xff => out.extend_from_slice(&[marker::EXT8, len as u8]),
        _ => push_wide(marker::EXT16, len, out)?,
    }
    out.push(ext_type as u8);
    Ok(())
}

/// What stands before the values of an array of `len`.
pub fn push_array_header(len: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match len {
        0..=15 => out.push(marker::FIXARRAY | len as u8),
        _ => push_wide(marker::ARRAY16, len, out)?,
    }
    Ok(())
}

/// What stands before the names and values of a map of `len` of them.
pub fn push_map_header(len: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match len {
        0..=15 => out.push(marker::FIXMAP | len as u8),
        _ => push_wide(marker::MAP16, len, out)?,
    }
    Ok(())
}

/// An array whose length [`close_array`] writes.
pub fn open_array(out: &mut Vec<u8>) {
    out.push(marker::ARRAY32);
    out.extend_from_slice(&[0; OPEN_ARRAY - 1]);
}

/// Writes the length of the array that was opened at `at`.
pub fn close_array(at: usize, len: u32, out: &mut [u8]) {
    out[at + 1..at + OPEN_ARRAY].copy_from_slice(&len.to_be_bytes());
}

/// Nil.
#[inline(always)]
pub fn push_nil(out: &mut Vec<u8>) {
    out.push(marker::NIL);
}

/// A boolean.
pub fn push_bool(boolean: bool, out: &mut Vec<u8>) {
    out.push(if boolean { marker::TRUE } else { marker::FALSE });
}

/// A marker and eight bytes.
#[inline(always)]
fn push_eight(marker: u8, bytes: [u8; 8], out: &mut Vec<u8>) {
    let mut value = [marker; 9];
    value[1..].copy_from_slice(&bytes);
    out.extend_from_slice(&value);
}

/// An integer of 64 bits, whatever its size: libraries tell it by its format from those that fit a double.
#[inline(always)]
pub fn push_int64(number: i64, out: &mut Vec<u8>) {
    push_eight(marker::INT64, number.to_be_bytes(), out);
}

/// The same without a sign.
pub fn push_uint64(number: u64, out: &mut Vec<u8>) {
    push_eight(marker::UINT64, number.to_be_bytes(), out);
}

/// A double.
#[inline(always)]
pub fn push_float64(number: f64, out: &mut Vec<u8>) {
    push_eight(marker::FLOAT64, number.to_bits().to_be_bytes(), out);
}

/// A number as JavaScript has it: an integer of at most 32 bits in its shortest format, any other as a double.
pub fn push_number(number: f64, out: &mut Vec<u8>) {
    // The casts saturate. -0 is no integer: it would lose its sign.
    if number as u32 as f64 == number && number.is_sign_positive() {
        push_unsigned(number as u32, out);
    } else if number as i32 as f64 == number && number != 0.0 {
        push_negative(number as i32, out);
    } else {
        push_float64(number, out);
    }
}

fn push_unsigned(number: u32, out: &mut Vec<u8>) {
    match number {
        0..=0x7f => out.push(number as u8),
        0x80..=0xff => out.extend_from_slice(&[marker::UINT8, number as u8]),
        0x100..=0xffff => {
            out.push(marker::UINT16);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        _ => {
            out.push(marker::UINT32);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

fn push_negative(number: i32, out: &mut Vec<u8>) {
    match number {
        -0x20.. => out.push(number as u8),
        -0x80..-0x20 => out.extend_from_slice(&[marker::INT8, number as u8]),
        -0x8000..-0x80 => {
            out.push(marker::INT16);
            out.extend_from_slice(&(number as i16).to_be_bytes());
        }
        _ => {
            out.push(marker::INT32);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// A point in time, in milliseconds from the epoch: the specification's timestamp 32, 64 or 96.
pub fn push_timestamp(milliseconds: i64, out: &mut Vec<u8>) -> Result<(), TooLong> {
    let seconds = milliseconds.div_euclid(1000);
    let nanoseconds = milliseconds.rem_euclid(1000) as u32 * 1_000_000;
    if let (Ok(seconds), 0) = (u32::try_from(seconds), nanoseconds) {
        push_ext_header(TIMESTAMP, 4, out)?;
        out.extend_from_slice(&seconds.to_be_bytes());
    } else if (0..1 << 34).contains(&seconds) {
        push_ext_header(TIMESTAMP, 8, out)?;
        out.extend_from_slice(&(u64::from(nanoseconds) << 34 | seconds as u64).to_be_bytes());
    } else {
        push_ext_header(TIMESTAMP, 12, out)?;
        out.extend_from_slice(&nanoseconds.to_be_bytes());
        out.extend_from_slice(&seconds.to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(push: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        push(&mut out);
        out
    }

    #[test]
    fn numbers_in_their_shortest_format() {
        for (number, bytes) in [
            (0.0, &[0x00][..]),
            (127.0, &[0x7f]),
            (128.0, &[0xcc, 0x80]),
            (255.0, &[0xcc, 0xff]),
            (256.0, &[0xcd, 1, 0]),
            (65535.0, &[0xcd, 0xff, 0xff]),
            (65536.0, &[0xce, 0, 1, 0, 0]),
            (4_294_967_295.0, &[0xce, 0xff, 0xff, 0xff, 0xff]),
            (4_294_967_296.0, &[0xcb, 0x41, 0xf0, 0, 0, 0, 0, 0, 0]),
            (-1.0, &[0xff]),
            (-32.0, &[0xe0]),
            (-33.0, &[0xd0, 0xdf]),
            (-128.0, &[0xd0, 0x80]),
            (-129.0, &[0xd1, 0xff, 0x7f]),
            (-32768.0, &[0xd1, 0x80, 0]),
            (-32769.0, &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (-2_147_483_648.0, &[0xd2, 0x80, 0, 0, 0]),
            (-2_147_483_649.0, &[0xcb, 0xc1, 0xe0, 0, 0, 0, 0x20, 0, 0]),
            (-0.0, &[0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            (0.5, &[0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]),
            (f64::INFINITY, &[0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(written(|out| push_number(number, out)), bytes, "{number}");
        }
        assert_eq!(written(|out| push_number(f64::NAN, out))[..3], [0xcb, 0x7f, 0xf8]);
    }

    #[test]
    fn integers_of_64_bits_stay_so() {
        assert_eq!(written(|out| push_int64(1, out)), [0xd3, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(written(|out| push_int64(-2, out))[..3], [0xd3, 0xff, 0xff]);
        assert_eq!(written(|out| push_uint64(1 << 63, out)), [0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn lengths_in_their_shortest_format() {
        type Push = fn(usize, &mut Vec<u8>) -> Result<(), TooLong>;
        let ext: Push = |len, out| push_ext_header(5, len, out);
        type Headers<'h> = &'h [(usize, &'h [u8])];
        let cases: [(Push, Headers<'_>); 4] = [
            (
                push_str_header,
                &[
                    (0, &[0xa0]),
                    (31, &[0xbf]),
                    (32, &[0xd9, 32]),
                    (255, &[0xd9, 255]),
                    (256, &[0xda, 1, 0]),
                    (65535, &[0xda, 255, 255]),
                    (65536, &[0xdb, 0, 1, 0, 0]),
                    (0xffff_ffff, &[0xdb, 255, 255, 255, 255]),
                ],
            ),
            (
                push_array_header,
                &[(0, &[0x90]), (15, &[0x9f]), (16, &[0xdc, 0, 16]), (65536, &[0xdd, 0, 1, 0, 0])],
            ),
            (
                push_map_header,
                &[(0, &[0x80]), (15, &[0x8f]), (16, &[0xde, 0, 16]), (65536, &[0xdf, 0, 1, 0, 0])],
            ),
            (
                ext,
                &[
                    (0, &[0xc7, 0, 5]),
                    (1, &[0xd4, 5]),
                    (2, &[0xd5, 5]),
                    (3, &[0xc7, 3, 5]),
                    (4, &[0xd6, 5]),
                    (8, &[0xd7, 5]),
                    (16, &[0xd8, 5]),
                    (17, &[0xc7, 17, 5]),
                    (256, &[0xc8, 1, 0, 5]),
                    (65536, &[0xc9, 0, 1, 0, 0, 5]),
                ],
            ),
        ];
        for (push, expected) in cases {
            for (len, bytes) in expected {
                assert_eq!(written(|out| push(*len, out).unwrap()), *bytes, "{len}");
            }
            #[cfg(target_pointer_width = "64")]
            assert_eq!(push(1 << 32, &mut Vec::new()), Err(TooLong));
        }
    }

    #[test]
    fn texts_and_bytes() {
        assert_eq!(written(|out| push_str(b"ab", out).unwrap()), b"\xa2ab");
        assert_eq!(written(|out| push_bin(b"", out).unwrap()), [0xc4, 0]);
        assert_eq!(written(|out| push_bin(b"ab", out).unwrap()), b"\xc4\x02ab");
        assert_eq!(written(|out| push_bin(&[7; 256], out).unwrap())[..4], [0xc5, 1, 0, 7]);
        assert_eq!(written(push_nil), [0xc0]);
        assert_eq!(written(|out| push_bool(false, out)), [0xc2]);
        assert_eq!(written(|out| push_bool(true, out)), [0xc3]);
        assert_eq!(written(|out| push_float64(1.0, out)), [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn arrays_whose_length_comes_later() {
        let mut out = vec![9];
        open_array(&mut out);
        push_nil(&mut out);
        close_array(1, 70_000, &mut out);
        assert_eq!(out, [9, 0xdd, 0, 1, 0x11, 0x70, 0xc0]);
    }

    #[test]
    fn timestamps_in_their_shortest_format() {
        for (milliseconds, bytes) in [
            (0, &[0xd6, 0xff, 0, 0, 0, 0][..]),
            (4_294_967_295_000, &[0xd6, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (4_294_967_296_000, &[0xd7, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]),
            (1500, &[0xd7, 0xff, 0x77, 0x35, 0x94, 0, 0, 0, 0, 1]),
            (-1, &[0xc7, 12, 0xff, 0x3b, 0x8b, 0x87, 0xc0, 255, 255, 255, 255, 255, 255, 255, 255]),
            (17_179_869_184_000, &[0xc7, 12, 0xff, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]),
        ] {
            assert_eq!(written(|out| push_timestamp(milliseconds, out).unwrap()), bytes, "{milliseconds}");
        }
    }
}
