//! Decoding equals the standard library's, lossy where that is.

use bsonrow::utf8;

/// # Panics
/// Where the property fails.
pub fn check(bytes: &[u8]) {
    let expected = String::from_utf8_lossy(bytes);
    let expected_utf16: Vec<u16> = expected.encode_utf16().collect();
    let is_valid = str::from_utf8(bytes).is_ok();
    assert_eq!(utf8::is_valid(bytes), is_valid);

    let mut lossy = b"before".to_vec();
    utf8::push_lossy(bytes, &mut lossy);
    assert_eq!(lossy, [b"before", expected.as_bytes()].concat());

    let mut utf16 = vec![7; 3];
    utf8::to_utf16(bytes, &mut utf16);
    assert_eq!(utf16, expected_utf16);

    let is_latin1 = is_valid && expected.chars().all(|character| character <= '\u{ff}');

    match utf8::transcode(bytes, &mut utf8::Scratch::new()) {
        utf8::Encoded::Ascii => assert!(bytes.is_ascii()),
        utf8::Encoded::Latin1(encoded) => {
            assert!(!bytes.is_ascii() && is_latin1);
            assert!(encoded.iter().map(|&byte| char::from(byte)).eq(expected.chars()));
        }
        utf8::Encoded::Utf16(encoded) => {
            assert!(!is_latin1);
            assert_eq!(encoded, expected_utf16);
        }
    }
}
